"""The sandbox on the real engine, with its image built once, and a look after each test at what it left behind."""

import asyncio
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from docker.client import DockerClient
from filelock import FileLock

from src.core.verdict import TestResult, Verdict
from src.sandbox import SecureSandbox
from src.sandboxes import ownership

IMAGE = "self-eng-sandbox"

Verify = Callable[..., "object"]


@pytest.fixture(scope="session")
def image() -> str:
    """The image's name; building it fails the test with what to do when no engine answers."""
    sandbox = SecureSandbox(image=IMAGE, timeout=20, base_image=os.environ.get("BASE_IMAGE") or None)
    with FileLock(Path(tempfile.gettempdir(), f"{IMAGE}.lock")):
        if not sandbox.image_is_current():
            sandbox.build_image()
    asyncio.run(sandbox.aclose())
    return IMAGE


@pytest.fixture
async def sandbox(image: str, nothing_left: None) -> AsyncIterator[SecureSandbox]:
    sandbox = SecureSandbox(image=image, timeout=20)
    yield sandbox
    await sandbox.aclose()


@pytest.fixture
async def hasty(image: str, nothing_left: None) -> AsyncIterator[SecureSandbox]:
    """A sandbox whose time is up after a second."""
    sandbox = SecureSandbox(image=image, timeout=1)
    yield sandbox
    await sandbox.aclose()


@pytest.fixture
def engine() -> Iterator[DockerClient]:
    client = DockerClient.from_env()
    yield client
    client.close()


@pytest.fixture
def own_containers(engine: DockerClient) -> Callable[[], list[str]]:
    """Lists the containers of this process, running or not."""
    owner = ownership.labels(lifetime=0)[ownership.OWNER]
    return lambda: [c["Id"] for c in engine.api.containers(all=True, filters={"label": f"{ownership.OWNER}={owner}"})]


@pytest.fixture
def nothing_left(own_containers: Callable[[], list[str]]) -> Iterator[None]:
    """No container stays after a test."""
    yield
    assert own_containers() == []


@pytest.fixture
def verify(sandbox: SecureSandbox) -> Callable[..., object]:
    """Verifies a tool called `solution`; what was streamed must be what the verdict holds."""

    async def run(code: str, tests: str) -> Verdict:
        streamed: list[TestResult] = []
        verdict = await sandbox.verify("solution", code, tests, streamed.append)
        assert tuple(streamed) == verdict.tests
        return verdict

    return run
