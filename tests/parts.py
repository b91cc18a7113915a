"""Parts of a machine that a test may need: where one is missing the test is skipped, and the reason
says what to do.

The imports for a look at one happen only then.
"""

import shutil
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from selfeng.core.errors import SandboxError

if TYPE_CHECKING:
    from docker.client import DockerClient

    from tests.sandbox.backends import Behind
    from tests.sandbox.private_engine import PrivateEngine

PARTS = ("docker", "bubblewrap", "runsc", "browser", "postgres")
"""The marks of tests that need them."""
BY_FIXTURE = {
    "bench": "bubblewrap",
    "engine": "docker",
    "image": "docker",
    "private_engine": "private engine",
}


def pytest_runtest_setup(item: pytest.Item) -> None:
    needed = [part for part in PARTS if item.get_closest_marker(part)]
    needed += [
        part for fixture, part in BY_FIXTURE.items() if fixture in getattr(item, "fixturenames", ())
    ]
    for part in needed:
        if reason := missing(part):
            pytest.skip(reason)


@pytest.fixture(scope="session")
def behind() -> Iterator[Callable[[str], "Behind"]]:
    """Gives each backend of the sandbox, prepared when it is first asked for. In the end nothing of
    this process is left in any.

    So every sandbox that lives as long as a session takes this fixture, and is closed before it.
    """
    from tests.sandbox.backends import BACKENDS, prepared

    made = {}

    def get(name: str) -> "Behind":
        if name not in made:
            made[name] = prepared(BACKENDS[name]())
        return made[name]

    yield get
    left = {name: found for name, backend in made.items() if (found := backend.left())}
    for backend in made.values():
        backend.close()
    assert left == {}


@pytest.fixture(scope="session")
def image(behind: Callable[[str], "Behind"]) -> str:
    """The name of the image, for tests of Docker alone."""
    from tests.sandbox.backends import IMAGE

    behind("docker")
    return IMAGE


@pytest.fixture(scope="session")
def engine(behind: Callable[[str], "Behind"]) -> "DockerClient":
    """The engine, for tests of Docker alone."""
    from tests.sandbox.backends import DockerBehind

    docker = behind("docker")
    assert isinstance(docker, DockerBehind)
    return docker.engine


@pytest.fixture(scope="session")
def private_engine(image: str, engine: "DockerClient") -> Iterator["PrivateEngine"]:
    """An engine that tests may treat badly, as long as it runs without TLS again when they end."""
    from tests.sandbox.private_engine import RUNSC, PrivateEngine

    private = PrivateEngine(
        engine.info()["Driver"], {name: RUNSC for name in ("runsc",) if shutil.which(name)}
    )
    try:
        private.start()
        private.load(image, engine)
        yield private
    finally:
        private.close()


@cache
def missing(part: str) -> str:
    """Why there is no such part, and what to do; "" if it works."""
    match part:
        case "docker":
            return _docker()
        case "bubblewrap":
            return _bubblewrap()
        case "private engine":
            return missing("docker") or _private_engine()
        case "runsc":
            return missing("docker") or _private_engine("runsc")
        case "postgres":
            found = any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
            return "" if found else "there is no PostgreSQL; run: sudo apt install postgresql"
        case _:
            return (
                ""
                if shutil.which("chromium-headless-shell") or shutil.which("chromium")
                else "there is no Chromium; run: sudo apt install chromium"
            )


def _docker() -> str:
    from docker.errors import DockerException

    from selfeng.sandboxes.docker_engine import DockerEngine
    from tests.sandbox.backends import DockerBehind, prepared

    try:
        DockerEngine().version(patience=30)
        prepared(DockerBehind()).close()
    except (SandboxError, DockerException) as error:
        return _reason(error)
    return ""


def _private_engine(*programs: str) -> str:
    from tests.sandbox.private_engine import lacking_for_engines

    return lacking_for_engines(*programs)


def _bubblewrap() -> str:
    from selfeng.sandbox import SecureSandbox
    from tests.sandbox.backends import BubblewrapBehind, prepared

    behind = BubblewrapBehind()
    try:
        SecureSandbox(timeout=20, **behind.options)._backend.probe()
        prepared(behind)
    except SandboxError as error:
        return _reason(error)
    return ""


def _reason(error: Exception) -> str:
    remedy = error.remedy if isinstance(error, SandboxError) else ""
    return " ".join(str(error).split()) + (f"; {remedy}" if remedy else "")
