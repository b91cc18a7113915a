"""Containers come and go: none is left after a job, a cancelled job or a dead server, and the image
follows its sources.
"""

import asyncio
import gc
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Any

import pytest
from docker.client import DockerClient

from selfeng.core.errors import SandboxFailed, SandboxUnavailable
from selfeng.core.process import name_of
from selfeng.core.verdict import (
    Returned,
    SandboxJob,
    SandboxStatus,
    TestResult,
    Verdict,
    Version,
)
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes import docker_engine as ownership
from selfeng.sandboxes.backend import SHARED_KERNEL, Container
from selfeng.sandboxes.docker_image import DIGEST
from selfeng.sandboxes.limits import ContainerLimits, container_options
from selfeng.sandboxes.pool import PoolSize
from tests.sandbox.backends import Behind
from tests.sandbox.conftest import Containers

CODE = "def solution(n): return n"
SUITE = "from solution import solution\ndef test_a(): assert solution(1) == 1"
HANGING = SUITE + "\ndef test_b():\n    import time\n    time.sleep(1000)"
SLOW = SUITE + "\ndef test_b():\n    import time\n    time.sleep(1)"
SLEEPING = "import time\ndef solution(n): time.sleep(1); return n"
WORKING = """
def test_b():
    import time
    began = time.process_time()
    while time.process_time() < began + 0.2: pass
"""

COLD = PoolSize(least=0, ready=0, most=8)


@pytest.fixture
async def sandbox(backend: Behind, containers: Containers) -> AsyncIterator[SecureSandbox]:
    """A sandbox that has no containers but those that run a job."""
    sandbox = SecureSandbox(
        timeout=20, patience=4, verifiers=COLD, comparers=COLD, executors=COLD, **backend.options
    )
    yield sandbox
    await sandbox.aclose()
    assert containers(sandbox) == set()


@pytest.fixture
async def on_docker(image: str) -> AsyncIterator[SecureSandbox]:
    sandbox = SecureSandbox(
        image=image, timeout=20, backend="docker", verifiers=COLD, comparers=COLD, executors=COLD
    )
    yield sandbox
    await sandbox.aclose()


@pytest.fixture
def own_containers(sandbox: SecureSandbox, containers: Containers) -> Callable[[], list[str]]:
    return lambda: list(containers(sandbox))


async def test_cancelling_a_job_removes_its_container(
    sandbox: SecureSandbox,
    own_containers: Callable[[], list[str]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    running = asyncio.Event()
    job = asyncio.create_task(
        sandbox.verify(SandboxJob("solution", CODE, HANGING), lambda result: running.set())
    )
    await running.wait()
    assert len(await asyncio.to_thread(own_containers)) == 1
    job.cancel()
    with pytest.raises(asyncio.CancelledError):
        await job
    assert await asyncio.to_thread(own_containers) == []
    gc.collect()
    assert caplog.records == []


async def test_cancelling_again_does_not_hurry_the_removal(
    sandbox: SecureSandbox, own_containers: Callable[[], list[str]]
) -> None:
    running = asyncio.Event()
    job = asyncio.create_task(
        sandbox.verify(SandboxJob("solution", CODE, HANGING), lambda result: running.set())
    )
    await running.wait()
    for _ in range(5):
        job.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await job

    def gone() -> None:
        while own_containers():  # on a busy machine it is gone a moment later
            time.sleep(0.01)

    await asyncio.to_thread(gone)


@pytest.mark.extended
async def test_jobs_run_side_by_side_and_waiting_ones_can_be_cancelled(
    sandbox: SecureSandbox,
) -> None:
    jobs = [
        asyncio.create_task(
            sandbox.verify(SandboxJob("solution", CODE, SUITE), lambda result: None)
        )
        for _ in range(10)
    ]
    await asyncio.sleep(0)
    jobs[9].cancel()
    outcomes = await asyncio.gather(*jobs, return_exceptions=True)
    assert [o.passed for o in outcomes[:9] if isinstance(o, Verdict)] == [True] * 9
    assert isinstance(outcomes[9], asyncio.CancelledError)


async def end_working(sandbox: SecureSandbox, backend: Behind, former: set[Container]) -> None:
    """Remove the container that does a job, once it does; it joins the `former` ones."""

    def working() -> set[Container]:
        return {c for pool in sandbox._pools for c in pool._working} - former

    while not working():
        await asyncio.to_thread(time.sleep, 0.01)
    former |= working()
    [container_id] = await asyncio.to_thread(backend.containers, sandbox.id)
    await asyncio.to_thread(backend.remove, container_id)


JOBS: dict[str, Callable[[SecureSandbox], Coroutine[Any, Any, Any]]] = {
    "verification": lambda sandbox: sandbox.verify(
        SandboxJob("solution", CODE, SLOW), lambda result: None
    ),
    "comparison": lambda sandbox: sandbox.verify_versions(
        SandboxJob("solution", tests=SLOW), [Version(code=CODE, whole=True, apart=False)]
    ),
    "call": lambda sandbox: sandbox.execute(SandboxJob("solution", SLEEPING), {"n": 1}),
}


@pytest.mark.parametrize("kind", JOBS)
async def test_a_job_whose_container_is_lost_is_done_in_another_one(
    sandbox: SecureSandbox, backend: Behind, kind: str
) -> None:
    job = asyncio.create_task(JOBS[kind](sandbox))
    await end_working(sandbox, backend, set())
    match await job:
        case Verdict(passed=True, problem=None) | (Verdict(passed=True, problem=None),):
            pass
        case Returned(text="1"):
            pass
        case outcome:
            pytest.fail(str(outcome))


@pytest.mark.parametrize("kind", JOBS)
async def test_a_job_that_loses_two_containers_fails_with_what_to_do(
    sandbox: SecureSandbox, backend: Behind, kind: str
) -> None:
    former = set[Container]()
    job = asyncio.create_task(JOBS[kind](sandbox))
    await end_working(sandbox, backend, former)
    await end_working(sandbox, backend, former)
    with pytest.raises(SandboxFailed, match="in the middle of its job") as raised:
        await job
    assert raised.value.remedy.startswith("see that")


async def test_a_suite_that_a_busy_machine_held_up_is_tried_again_before_anyone_is_blamed(
    sandbox: SecureSandbox, backend: Behind, own_containers: Callable[[], list[str]]
) -> None:
    sandbox.timeout = 0.5
    working = SUITE + WORKING
    running = asyncio.Event()
    told: list[str] = []

    def on_test(result: TestResult) -> None:
        told.append(result.test)
        running.set()

    job = asyncio.create_task(sandbox.verify(SandboxJob("solution", CODE, working), on_test))
    await running.wait()
    [container] = await asyncio.to_thread(own_containers)
    await asyncio.to_thread(backend.hold_up, container)
    verdict = await job
    assert (verdict.passed, verdict.problem, told) == (True, None, ["test_a", "test_b"])


@pytest.mark.docker
async def test_containers_of_dead_servers_are_reaped(
    on_docker: SecureSandbox, engine: DockerClient, image: str
) -> None:
    dead = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)  # noqa: ASYNC220 - nobody waits for it
    labels = {
        "live": ownership.labels(600),
        "late": ownership.labels(-1),
        "dead": ownership.labels(600) | {ownership.OWNER: name_of(dead.pid)},
    }
    dead.communicate()
    labels["elsewhere"] = ownership.labels(600) | {ownership.OWNER: "another-machine:boot:1:1"}
    made = {
        name: engine.containers.create(image, labels=own, **container_options(ContainerLimits()))
        for name, own in labels.items()
    }
    try:
        assert await on_docker.reap() >= 2
        left = {
            c.id
            for c in await asyncio.to_thread(engine.containers.list, all=True, ignore_removed=True)
        }
        assert {name for name, container in made.items() if container.id in left} == {
            "live",
            "elsewhere",
        }
    finally:
        for container in engine.containers.list(all=True, ignore_removed=True):
            if container.id in {m.id for m in made.values()}:
                container.remove(force=True)


@pytest.mark.docker
async def test_status_names_engine_and_image(
    on_docker: SecureSandbox, image: str, engine: DockerClient
) -> None:
    version = engine.version()["Version"]
    assert await on_docker.status() == SandboxStatus(
        available=True,
        backend="docker",
        detail=f"Docker {version}, image {image}",
        not_guaranteed={"kernel": SHARED_KERNEL},
    )


@pytest.mark.docker
async def test_a_missing_image_is_said_with_what_to_do() -> None:
    sandbox = SecureSandbox(image="self-eng-sandbox-that-is-not", timeout=5, backend="docker")
    with pytest.raises(
        SandboxUnavailable, match="there is no image self-eng-sandbox-that-is-not to run code in"
    ) as raised:
        await sandbox.verify(SandboxJob("solution", CODE, SUITE), lambda result: None)
    assert "SecureSandbox().build_image()" in raised.value.remedy
    assert (await sandbox.status()).available is False
    await sandbox.aclose()


@pytest.mark.docker
async def test_an_image_from_other_sources_is_not_used(engine: DockerClient, image: str) -> None:
    name = "self-eng-sandbox-of-other-sources"
    container = engine.containers.create(image)
    try:
        container.commit(name, changes=f"LABEL {DIGEST}=other")
        sandbox = SecureSandbox(image=name, timeout=5, backend="docker")
        assert sandbox.image_is_current() is False
        with pytest.raises(SandboxUnavailable, match="was not built from the current sources"):
            await sandbox.execute(SandboxJob("tool", "def tool(): pass"), {})
        await sandbox.aclose()
    finally:
        container.remove()
        engine.images.remove(name)


@pytest.mark.docker
async def test_a_second_build_changes_nothing(
    on_docker: SecureSandbox, engine: DockerClient, image: str
) -> None:
    before = engine.images.get(image).id
    await asyncio.to_thread(on_docker.build_image)
    assert (engine.images.get(image).id, on_docker.image_is_current()) == (before, True)


@pytest.mark.docker
def test_a_base_that_cannot_be_had_is_named(image: str) -> None:
    sandbox = SecureSandbox(
        image="self-eng-sandbox-unbuilt",
        timeout=5,
        base_image="localhost:1/no/such:image",
        backend="docker",
    )
    lines: list[str] = []
    with pytest.raises(
        SandboxUnavailable,
        match="the base image localhost:1/no/such:image is not on this machine and can't be pulled",
    ) as raised:
        sandbox.build_image(lines.append)
    assert "BASE_IMAGE" in raised.value.remedy
    assert raised.value.__notes__ == [f"What to do: {raised.value.remedy}"]
    assert lines == ["pulling localhost:1/no/such:image"]
    asyncio.run(sandbox.aclose())


@pytest.fixture(params=["no socket", "silent"])
def no_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An address where no engine answers: nothing listens, or what listens says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        monkeypatch.setenv(
            "DOCKER_HOST",
            "unix:///nonexistent/docker.sock"
            if request.param == "no socket"
            else f"tcp://127.0.0.1:{port}",
        )
        yield


async def test_without_an_engine_code_is_refused_with_what_to_do(no_engine: None) -> None:
    sandbox = SecureSandbox(image="any", timeout=5, backend="docker")
    status = await sandbox.status()
    assert (status.available, status.backend) == (False, "docker")
    assert status.detail.startswith("Code can't run: no Docker engine answers")
    assert "apt install docker.io" in status.detail
    assert "DOCKER_HOST" in status.detail
    with pytest.raises(SandboxUnavailable, match="no Docker engine answers"):
        await sandbox.verify(SandboxJob("solution", CODE, SUITE), lambda result: None)
    await sandbox.aclose()


def test_settings_fill_in_what_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_IMAGE_NAME", "from-the-settings")
    monkeypatch.setenv("DOCKER_TIMEOUT", "7")
    sandbox = SecureSandbox()
    assert (sandbox._backend._backends[0].image.name, sandbox.timeout) == (
        "from-the-settings",
        7.0,
    )
    assert SecureSandbox(image="other", timeout=3).timeout == 3
