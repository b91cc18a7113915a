"""An engine that dies in the middle of a job: the job runs again when the engine is back, else it
ends with a clear error, never with a verdict, and the next one works.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from selfeng.core.errors import SandboxError, SandboxFailed, SandboxUnavailable
from selfeng.core.events import StageEntered, TurnFailed, TurnFinished
from selfeng.core.settings import Settings
from selfeng.core.verdict import Execution, Returned, SandboxJob, Verdict, Version
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.docker_engine import AGAIN
from selfeng.sandboxes.pool import PoolSize
from tests.engine.watched import watched
from tests.home import Home
from tests.sandbox.private_engine import PrivateEngine

pytestmark = pytest.mark.docker

CODE = "def solution(n=1): return n"
SUITE = "from solution import solution\ndef test_a(): assert solution(1) == 1"
HANGING = SUITE + "\ndef test_b():\n    import time\n    time.sleep(1000)"
SLOW = SUITE + "\ndef test_b():\n    import time\n    time.sleep(4)"
SLOW_CALL = "import time\ndef solution(): time.sleep(4); return 1"
SLEEPING = "import time\ndef solution(): print('running', flush=True); time.sleep(1000)"
TWO = PoolSize(least=1, ready=2, most=2)


@pytest.fixture
async def sandbox(
    image: str, private_engine: PrivateEngine, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[SecureSandbox]:
    for name, value in private_engine.environment.items():
        monkeypatch.setenv(name, value)
    sandbox = SecureSandbox(
        image=image, timeout=100, backend="docker", verifiers=TWO, comparers=TWO, executors=TWO
    )
    sandbox.start()
    await sandbox.settle()
    yield sandbox
    await sandbox.aclose()
    assert private_engine.containers() == []


async def outcomes_of_jobs(
    sandbox: SecureSandbox, trouble: Callable[[], None], suite: str = HANGING, call: str = SLEEPING
) -> list[Verdict | Execution | BaseException]:
    """The outcomes of a verification and a call when there is trouble in the middle of them."""
    running = asyncio.Event()
    jobs = [
        asyncio.create_task(
            sandbox.verify(SandboxJob("solution", CODE, suite), lambda result: running.set())
        ),
        asyncio.create_task(sandbox.execute(SandboxJob("solution", call), {})),
    ]
    await running.wait()
    trouble()
    return await asyncio.gather(*jobs, return_exceptions=True)


async def errors_of_jobs(sandbox: SecureSandbox, trouble: Callable[[], None]) -> list[SandboxError]:
    """The same, where the engine stays away."""
    sandbox.outage = 1
    outcomes = await outcomes_of_jobs(sandbox, trouble)
    errors = [outcome for outcome in outcomes if isinstance(outcome, SandboxError)]
    assert len(errors) == 2, outcomes
    return errors


async def assert_jobs_end_right(sandbox: SecureSandbox, trouble: Callable[[], None]) -> None:
    verdict, returned = await outcomes_of_jobs(sandbox, trouble, SLOW, SLOW_CALL)
    assert isinstance(verdict, Verdict), verdict
    assert (verdict.passed, verdict.problem) == (True, None)
    assert isinstance(returned, Returned), returned


async def assert_it_works(sandbox: SecureSandbox) -> None:
    for _ in range(3):
        verdict = await sandbox.verify(SandboxJob("solution", CODE, SUITE), lambda result: None)
        assert (verdict.passed, verdict.problem) == (True, None)
        assert isinstance(await sandbox.execute(SandboxJob("solution", CODE), {}), Returned)


@pytest.mark.parametrize("end", ["kill", pytest.param("stop", marks=pytest.mark.everywhere)])
async def test_an_engine_that_ends_is_named_and_the_next_job_finds_it_again(
    sandbox: SecureSandbox, private_engine: PrivateEngine, end: str
) -> None:
    for error in await errors_of_jobs(sandbox, getattr(private_engine, end)):
        assert error.message.startswith(
            (
                "the Docker engine went away in the middle of the job: ",
                "the container was ended from outside",
            )
        )
        assert error.remedy == AGAIN
    with pytest.raises(SandboxUnavailable, match="no Docker engine answers") as raised:
        await sandbox.execute(SandboxJob("solution", CODE), {})
    assert "start its engine" in raised.value.remedy
    assert (await sandbox.status()).available is False
    private_engine.start()
    await assert_it_works(sandbox)


@pytest.mark.parametrize("end", ["kill", pytest.param("stop", marks=pytest.mark.everywhere)])
async def test_jobs_run_again_when_their_engine_is_back(
    sandbox: SecureSandbox, private_engine: PrivateEngine, end: str
) -> None:
    def restart() -> None:
        getattr(private_engine, end)()
        # in this thread, which it must not outlive
        asyncio.get_running_loop().call_later(2, private_engine.start)

    await assert_jobs_end_right(sandbox, restart)
    await assert_it_works(sandbox)


async def test_jobs_whose_containers_are_killed_run_again(
    sandbox: SecureSandbox, private_engine: PrivateEngine
) -> None:
    def kill() -> None:
        for pid in private_engine.shims():
            os.kill(pid, signal.SIGKILL)

    await assert_jobs_end_right(sandbox, kill)
    await assert_it_works(sandbox)


@pytest.mark.everywhere
async def test_without_containerd_jobs_go_on_and_none_begins(
    sandbox: SecureSandbox, private_engine: PrivateEngine
) -> None:
    job = asyncio.create_task(
        sandbox.execute(
            SandboxJob("solution", "def solution(n): return sum(range(10**7))"), {"n": 1}
        )
    )
    await asyncio.sleep(0)
    private_engine.kill_containerd()
    try:
        assert isinstance(await job, Returned)
        with pytest.raises(
            SandboxFailed, match=r"the Docker engine refused running a container: .*unavailable"
        ):
            await sandbox.verify_versions(
                SandboxJob("solution", tests=SUITE), [Version(code=CODE)] * 4
            )  # in two containers, of which one is ready
    finally:
        # it would take a quarter of a minute to stop without containerd, and longer to find it
        # again
        private_engine.kill()
        private_engine.start()
    await assert_it_works(sandbox)


@pytest.mark.everywhere
async def test_an_engine_that_is_held_up_is_not_a_job_that_takes_too_long(
    sandbox: SecureSandbox, private_engine: PrivateEngine
) -> None:
    sandbox.timeout = 1
    try:
        for error in await errors_of_jobs(sandbox, private_engine.hold_up):
            assert isinstance(error, SandboxUnavailable)
            assert error.message.startswith(
                "the Docker engine was held up in the middle of the job: "
            )
    finally:
        private_engine.go_on()
    await assert_it_works(sandbox)


async def test_a_job_is_cancelled_at_once_while_its_engine_is_held_up(
    sandbox: SecureSandbox, private_engine: PrivateEngine
) -> None:
    running = asyncio.Event()
    job = asyncio.create_task(
        sandbox.verify(SandboxJob("solution", CODE, HANGING), lambda result: running.set())
    )
    await running.wait()
    private_engine.hold_up()
    try:
        job.cancel()
        async with asyncio.timeout(5):  # an engine that hangs is waited for much longer
            await asyncio.wait([job])
        assert job.cancelled()
    finally:
        private_engine.go_on()
    await assert_it_works(sandbox)


async def test_a_turn_whose_engine_ends_says_what_to_do_and_the_next_one_works(
    image: str, private_engine: PrivateEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker = {"SANDBOX": "docker", "DOCKER_IMAGE_NAME": image, **private_engine.environment}
    home = Home(tmp_path / "home")
    (home.folder / "data" / "embedder").unlink()  # words find enough here
    for name, value in home.environment(**docker).items():
        monkeypatch.setenv(name, value)
    async with watched(Settings(_env_file=None)) as life:
        life.engine.sandbox.outage = 0
        asked = await life.engine.ask("me", None, "Reverse the string 'hello world'")
        await life.until(asked.turn_id, lambda e: isinstance(e, StageEntered) and e.node == "test")
        private_engine.kill()
        last = (await life.ended(asked.turn_id))[-1]
        assert isinstance(last, TurnFailed), last
        assert last.kind == "sandbox"
        assert last.remedy
        assert await life.engine.library.tools() == ()
        private_engine.start()
        asked = await life.engine.ask("me", None, "Reverse the string 'hello world'")
        last = (await life.ended(asked.turn_id))[-1]
        assert isinstance(last, TurnFinished), last
        assert last.tool == "reverse_string"
    assert private_engine.containers() == []
