"""Several Docker engines: containers start where there is the least to do, and an engine that dies
costs no job.
"""

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from docker.client import DockerClient

from selfeng.core.errors import ConfigurationError, SandboxUnavailable
from selfeng.core.settings import load_settings
from selfeng.core.verdict import Returned, SandboxJob, TestResult, Version
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.docker import DockerBackend
from selfeng.sandboxes.docker_hosts import DockerHosts
from selfeng.sandboxes.pool import PoolSize
from tests.sandbox.backends import Behind
from tests.sandbox.private_engine import PrivateEngine

pytestmark = pytest.mark.docker

CODE = "def solution(n=1): return n"
SUITE = "from solution import solution\ndef test_a(): assert solution(1) == 1"
SLOW = SUITE + "\ndef test_b():\n    import time\n    time.sleep(4)"
SLEEPING = "import time\ndef solution(n): time.sleep(4); return n"
FOUR = PoolSize(least=2, ready=4, most=4)


def hosts(sandbox: SecureSandbox) -> DockerHosts:
    assert isinstance(sandbox._backend, DockerHosts)
    return sandbox._backend


async def until(sandbox: SecureSandbox, used: int) -> None:
    """Wait until so many hosts are used."""
    while f"on {used} of 2 hosts" not in (await sandbox.status()).detail:
        pass


@pytest.fixture
async def sandbox(
    image: str,
    engine: DockerClient,
    private_engine: PrivateEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> AsyncIterator[SecureSandbox]:
    """On two engines; what other tests run on the first does not count."""
    monkeypatch.setattr(DockerBackend, "load", lambda backend: (2, 0))
    own = "unix:///var/run/docker.sock"
    addresses = (own, private_engine.environment["DOCKER_HOST"])
    sizes = {"verifiers": FOUR, "comparers": FOUR, "executors": FOUR}
    sandbox = SecureSandbox(image=image, timeout=100, docker_hosts=addresses, **sizes)
    sandbox.start()
    await sandbox.settle()
    yield sandbox
    private_engine.start()
    await until(sandbox, 2)
    await sandbox.aclose()
    assert private_engine.containers() == []


async def jobs_in_trouble(
    sandbox: SecureSandbox, trouble: Callable[[], None]
) -> tuple[list[object], int]:
    """The outcomes of jobs on both hosts, with trouble in the middle, and on how many of the second
    host.
    """
    begun: asyncio.Queue[TestResult] = asyncio.Queue()
    jobs = [
        asyncio.create_task(sandbox.verify(SandboxJob("solution", CODE, SLOW), begun.put_nowait))
        for _ in range(4)
    ]
    jobs += [
        asyncio.create_task(sandbox.execute(SandboxJob("solution", SLEEPING), {"n": n}))
        for n in range(4)
    ]
    for _ in range(4):
        await begun.get()
    there = len(hosts(sandbox).hosts[1].containers)
    trouble()
    return await asyncio.gather(*jobs), there


def assert_right(outcomes: list[object]) -> None:
    verdicts, returned = outcomes[:4], outcomes[4:]
    assert [(v.passed, v.problem, len(v.tests)) for v in verdicts] == [(True, None, 2)] * 4
    assert [r.text for r in returned if isinstance(r, Returned)] == ["0", "1", "2", "3"]


async def test_containers_are_shared_out_among_the_hosts(sandbox: SecureSandbox) -> None:
    first, second = (len(host.containers) for host in hosts(sandbox).hosts)
    assert (min(first, second) > 0, abs(first - second) <= 1) == (True, True)
    status = await sandbox.status()
    assert (status.available, status.detail.endswith("on 2 of 2 hosts")) == (True, True)


@pytest.mark.parametrize("end", ["kill", pytest.param("stop", marks=pytest.mark.everywhere)])
async def test_jobs_of_an_engine_that_ends_run_again_elsewhere(
    sandbox: SecureSandbox, private_engine: PrivateEngine, end: str
) -> None:
    outcomes, there = await jobs_in_trouble(sandbox, getattr(private_engine, end))
    assert there > 0
    assert_right(outcomes)
    await until(sandbox, 1)
    detail = (await sandbox.status()).detail
    assert f"left out: {private_engine.environment['DOCKER_HOST']}" in detail


@pytest.mark.extended
async def test_jobs_of_an_engine_that_hangs_run_again_elsewhere(
    sandbox: SecureSandbox, private_engine: PrivateEngine
) -> None:
    try:
        outcomes, _ = await jobs_in_trouble(sandbox, private_engine.hold_up)
        assert_right(outcomes)
    finally:
        private_engine.go_on()


@pytest.mark.extended
async def test_versions_of_a_lost_container_are_run_again(
    sandbox: SecureSandbox, private_engine: PrivateEngine
) -> None:
    first, second = hosts(sandbox).hosts
    first.leave_out(SandboxUnavailable("it is not to be used for a moment"))
    versions = [Version(code=CODE, whole=True, apart=False) for _ in range(3)]
    running = asyncio.create_task(
        sandbox.verify_versions(SandboxJob("solution", tests=SLOW), versions)
    )
    while not sandbox._comparers._working:
        await sandbox.status()
        assert not running.done(), (running, first.problem)
    assert sandbox._comparers._working <= second.containers
    await until(sandbox, 2)
    private_engine.kill()
    assert [verdict.passed for verdict in await running] == [True] * 3


@pytest.mark.extended
async def test_an_engine_that_is_back_is_used_again(
    sandbox: SecureSandbox, private_engine: PrivateEngine
) -> None:
    private_engine.kill()
    await until(sandbox, 1)
    assert isinstance(await sandbox.execute(SandboxJob("solution", CODE), {}), Returned)
    private_engine.start()
    await until(sandbox, 2)
    outcomes, there = await jobs_in_trouble(sandbox, lambda: None)
    assert there > 0
    assert_right(outcomes)


async def test_a_host_that_is_left_out_when_the_sandbox_is_closed_keeps_no_container(
    behind: Callable[[str], Behind],
) -> None:
    docker = behind("docker")
    options = {**docker.options, "docker_hosts": ("unix:///var/run/docker.sock",)}
    sandbox = SecureSandbox(timeout=100, **options)
    assert isinstance(await sandbox.execute(SandboxJob("solution", CODE), {}), Returned)
    [host] = hosts(sandbox).hosts
    host.leave_out(SandboxUnavailable("it is busy for a moment"))
    await sandbox.aclose()
    assert docker.containers(sandbox.id) == set()


async def test_without_any_engine_the_error_names_them_all(image: str) -> None:
    addresses = ("unix:///nowhere/a.sock", "unix:///nowhere/b.sock")
    sandbox = SecureSandbox(image=image, docker_hosts=addresses)
    with pytest.raises(SandboxUnavailable) as raised:
        await sandbox.execute(SandboxJob("solution", CODE), {})
    assert all(address in raised.value.message for address in addresses)
    assert "DOCKER_HOSTS" in raised.value.remedy
    assert (await sandbox.status()).available is False
    await sandbox.aclose()


def test_the_setting_names_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOSTS", "tcp://a:2376, ssh://me@b ,unix:///run/c.sock")
    engines = ("tcp://a:2376", "ssh://me@b", "unix:///run/c.sock")
    assert load_settings(None).docker_hosts == engines
    for wrong in ("a:2376", "http://a", "tcp://a,tcp://a"):
        monkeypatch.setenv("DOCKER_HOSTS", wrong)
        with pytest.raises(ConfigurationError, match="DOCKER_HOSTS"):
            load_settings(None)


def test_hosts_need_docker() -> None:
    with pytest.raises(ConfigurationError, match="DOCKER_HOSTS needs Docker"):
        SecureSandbox(backend="bubblewrap", docker_hosts=("tcp://a:2376",))
