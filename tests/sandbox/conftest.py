"""The sandbox on real backends.

A test that takes `backend`, or a fixture that does, runs on every backend: the contract suite. Most
tests share one sandbox for each backend, and so run on the session's event loop; those that look at
containers make their own.
"""

from collections.abc import AsyncIterator, Callable
from functools import cache
from pathlib import Path

import pytest
import pytest_asyncio

from selfeng.core.verdict import SandboxJob, TestResult, Verdict
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.pool import PoolSize
from tests.sandbox.backends import Behind, expectation, parameters
from tests.sandbox.extended import is_extended, shared_out

FOLDER = Path(__file__).parent
Verify = Callable[..., "object"]
Containers = Callable[[SecureSandbox], set[str]]

_SMALL = {
    "verifiers": PoolSize(1, 1, 2),
    "comparers": PoolSize(1, 1, 2),
    "executors": PoolSize(1, 1, 2),
}
LIMITS = {
    "patient": {"timeout": 20},
    "hasty": {"timeout": 1, "patience": 20, **_SMALL},
    "impatient": {"timeout": 0.3, "patience": 10, **_SMALL},
}
"""The sandboxes that tests share."""


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared(
    behind: Callable[[str], Behind],
) -> AsyncIterator[Callable[[Behind, str], SecureSandbox]]:
    """Gives the sandbox of that name that tests share on a backend."""

    @cache
    def get(backend: Behind, name: str) -> SecureSandbox:
        limits = LIMITS[name]
        if backend.name == "runsc" and name == "impatient":  # where loading a module takes longer
            limits = {**limits, "timeout": 1}
        sandbox = SecureSandbox(**limits, **backend.options)
        made.append(sandbox)
        return sandbox

    made: list[SecureSandbox] = []
    yield get
    for sandbox in made:
        await sandbox.aclose()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "backend" in metafunc.fixturenames:
        module = metafunc.module.__name__.rpartition(".")[2]
        everywhere = metafunc.config.getoption("everywhere")
        metafunc.parametrize("backend", parameters(module, everywhere), indirect=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    own = [item for item in items if item.path.parent == FOLDER]
    for item in own:
        if mark := expectation(item.nodeid):
            item.add_marker(mark)
        if item.get_closest_marker("runsc") is not None:
            item.add_marker("everywhere")
        if is_extended(item):
            item.add_marker("extended")
    extended, elsewhere = shared_out(own)
    for item in extended:
        item.add_marker("extended")
    for item in elsewhere:
        item.add_marker("everywhere")


@pytest.fixture
def backend(request: pytest.FixtureRequest, behind: Callable[[str], Behind]) -> Behind:
    """Each backend in turn."""
    return behind(request.param)


@pytest.fixture
def sandbox(backend: Behind, shared: Callable[[Behind, str], SecureSandbox]) -> SecureSandbox:
    return shared(backend, "patient")


@pytest.fixture
def hasty(backend: Behind, shared: Callable[[Behind, str], SecureSandbox]) -> SecureSandbox:
    """A sandbox for what works, whose processor time is up after a second."""
    return shared(backend, "hasty")


@pytest.fixture
def impatient(backend: Behind, shared: Callable[[Behind, str], SecureSandbox]) -> SecureSandbox:
    """A sandbox for what waits, which ends it after twice three seconds."""
    return shared(backend, "impatient")


@pytest.fixture
def containers(backend: Behind) -> Containers:
    """Lists the containers of a sandbox, running or not."""
    return lambda sandbox: backend.containers(sandbox.id)


@pytest.fixture
def verify(sandbox: SecureSandbox) -> Verify:
    """Verifies a tool called `solution`; what was streamed must be what the verdict holds."""

    async def run(code: str, tests: str) -> Verdict:
        streamed: list[TestResult] = []
        verdict = await sandbox.verify(SandboxJob("solution", code, tests), streamed.append)
        assert tuple(streamed) == verdict.tests
        return verdict

    return run
