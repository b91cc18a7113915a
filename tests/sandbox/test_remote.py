"""A remote engine works as the local one does, by TCP and by TLS; jobs need nothing of its machine
but the attached stream.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from selfeng.core.errors import SandboxUnavailable
from selfeng.core.verdict import Killed, Returned, SandboxJob, TestResult, Version
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.pool import PoolSize
from tests.sandbox.private_engine import PrivateEngine

pytestmark = pytest.mark.docker

CODE = "def solution(n=1): return n"
SUITE = (
    "from solution import solution\ndef test_a(): assert solution(1) == 1\ndef test_b(): "
    "assert solution(2) == 2"
)
HANGING = SUITE + "\ndef test_c():\n    import time\n    time.sleep(1000)"
FEW = PoolSize(least=1, ready=1, most=2)

Names = Callable[[], list[str]]


@pytest.fixture(scope="module", params=[pytest.param("tcp", marks=pytest.mark.everywhere), "tls"])
def remote(
    request: pytest.FixtureRequest, private_engine: PrivateEngine
) -> Iterator[PrivateEngine]:
    private_engine.stop()
    private_engine.start(tls=request.param == "tls")
    yield private_engine
    private_engine.stop()
    private_engine.start(tls=False)


@pytest.fixture
async def sandbox(
    image: str, remote: PrivateEngine, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[SecureSandbox]:
    """A sandbox that finds its engine by the environment; settings that are meant for the web
    mislead it nowhere.
    """
    for name, value in remote.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", __file__)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    sandbox = SecureSandbox(
        image=image, timeout=20, backend="docker", verifiers=FEW, comparers=FEW, executors=FEW
    )
    sandbox.start()
    await sandbox.settle()
    yield sandbox
    await sandbox.aclose()
    assert remote.containers() == []


async def test_it_verifies_and_tells_of_each_test_as_it_ends(sandbox: SecureSandbox) -> None:
    """The second test ends only after the first one's result has been heard of here."""
    heard: list[str] = []

    def on_test(result: TestResult) -> None:
        heard.append(result.test)
        if len(heard) == 2:
            running.cancel()

    running = asyncio.create_task(sandbox.verify(SandboxJob("solution", CODE, HANGING), on_test))
    with pytest.raises(asyncio.CancelledError):
        await running
    assert heard == ["test_a", "test_b"]
    verdict = await sandbox.verify(SandboxJob("solution", CODE, SUITE), lambda result: None)
    assert (verdict.passed, [t.test for t in verdict.tests]) == (True, ["test_a", "test_b"])


async def test_it_executes_and_carries_much_in_both_directions(sandbox: SecureSandbox) -> None:
    text = "x" * 1_000_000
    outcome = await sandbox.execute(
        SandboxJob("solution", "def solution(n): return [len(n), n[:20_000]]"), {"n": text}
    )
    assert isinstance(outcome, Returned), outcome
    assert outcome.data == f'[1000000,"{"x" * 20_000}"]'
    for number in range(20):
        outcome = await sandbox.execute(SandboxJob("solution", CODE), {"n": number})
        assert (isinstance(outcome, Returned), outcome.data) == (True, str(number))


@pytest.mark.everywhere
async def test_versions_of_a_tool_take_turns(sandbox: SecureSandbox) -> None:
    versions = [Version(code=code) for code in (CODE, "def solution(n): return 3", CODE)]
    verdicts = await sandbox.verify_versions(SandboxJob("solution", tests=SUITE), versions)
    assert [verdict.passed for verdict in verdicts] == [True, False, True]


@pytest.mark.everywhere
async def test_what_runs_too_long_is_ended(sandbox: SecureSandbox) -> None:
    sandbox.timeout = 1
    outcome = await sandbox.execute(
        SandboxJob("solution", "def solution():\n    while True: pass"), {}
    )
    assert isinstance(outcome, Killed)
    assert outcome.reason == "It used 1 s of processor time."


async def test_a_cancelled_job_takes_its_container_with_it(
    sandbox: SecureSandbox, remote: PrivateEngine
) -> None:
    before = set(remote.containers())
    running = asyncio.Event()
    job = asyncio.create_task(
        sandbox.verify(SandboxJob("solution", CODE, HANGING), lambda result: running.set())
    )
    await running.wait()
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert len(before - set(remote.containers())) == 1


async def test_certificates_of_somebody_else_are_refused(
    image: str, remote: PrivateEngine, sandbox: SecureSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine without TLS and a client with it, or the other way round, or with another's
    certificates.
    """
    monkeypatch.setenv("DOCKER_TLS_VERIFY", "1")
    monkeypatch.setenv("DOCKER_CERT_PATH", str(remote.stranger))
    stranger = SecureSandbox(image=image, timeout=5, backend="docker")
    status = await stranger.status()
    assert status.available is False
    assert "no Docker engine answers: " in status.detail
    with pytest.raises(SandboxUnavailable, match=r"no Docker engine answers: .*SSL"):
        await stranger.execute(SandboxJob("solution", CODE), {})
    await stranger.aclose()
