"""The sandbox on the real engine, with its image built once; at its end a sandbox must have left nothing behind.

Most tests share one sandbox, and so run on the session's event loop; those that look at containers make their own.
"""

import asyncio
import os
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from docker.client import DockerClient
from filelock import FileLock

from src.core.verdict import TestResult, Verdict
from src.sandbox import SecureSandbox
from src.sandboxes import ownership
from src.sandboxes.pool import PoolSize

IMAGE = os.environ.get("DOCKER_IMAGE_NAME", "self-eng-sandbox")

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


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sandbox(image: str, nothing_left: None) -> AsyncIterator[SecureSandbox]:
    sandbox = SecureSandbox(image=image, timeout=20)
    yield sandbox
    await sandbox.aclose()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def hasty(image: str, nothing_left: None) -> AsyncIterator[SecureSandbox]:
    """A sandbox whose time is up after a second."""
    sandbox = SecureSandbox(image=image, timeout=1, verifiers=PoolSize(1, 1, 2), executors=PoolSize(1, 1, 2))
    yield sandbox
    await sandbox.aclose()


@pytest.fixture(scope="session")
def engine() -> Iterator[DockerClient]:
    client = DockerClient.from_env()
    yield client
    client.close()


Containers = Callable[[SecureSandbox], set[str]]


@pytest.fixture(scope="session")
def containers(engine: DockerClient) -> Containers:
    """Lists the containers of a sandbox, running or not."""
    return lambda sandbox: {c["Id"] for c in engine.api.containers(all=True, filters={"label": f"{ownership.GROUP}={sandbox.id}"})}


@pytest.fixture(scope="session")
def nothing_left(engine: DockerClient) -> Iterator[None]:
    """In the end no container of this process is there, and no thread."""
    yield
    owner = ownership.labels(lifetime=0)[ownership.OWNER]
    assert engine.api.containers(all=True, filters={"label": f"{ownership.OWNER}={owner}"}) == []
    assert [t.name for t in threading.enumerate() if t.name.startswith("sandbox")] == []


@pytest.fixture
def verify(sandbox: SecureSandbox) -> Callable[..., object]:
    """Verifies a tool called `solution`; what was streamed must be what the verdict holds."""

    async def run(code: str, tests: str) -> Verdict:
        streamed: list[TestResult] = []
        verdict = await sandbox.verify("solution", code, tests, streamed.append)
        assert tuple(streamed) == verdict.tests
        return verdict

    return run
