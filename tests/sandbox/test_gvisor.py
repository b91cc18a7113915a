"""Containers on gVisor: code meets another kernel than the host's. The contract suite runs there
with `make test-everywhere`.
"""

import json
import os
from collections.abc import AsyncIterator, Callable

import pytest

from selfeng.core.errors import ConfigurationError, SandboxUnavailable
from selfeng.core.settings import load_settings
from selfeng.core.verdict import Killed, Returned, SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.backend import SHARED_KERNEL
from selfeng.sandboxes.docker import OWN_KERNEL
from selfeng.sandboxes.pool import PoolSize
from tests.sandbox.backends import Behind

ONE = PoolSize(least=0, ready=1, most=1)


@pytest.fixture
def gvisor(behind: Callable[[str], Behind]) -> Behind:
    return behind("runsc")


@pytest.fixture
async def sandbox(gvisor: Behind) -> AsyncIterator[SecureSandbox]:
    """A sandbox with a single executor."""
    sandbox = SecureSandbox(
        timeout=20, verifiers=ONE, comparers=ONE, executors=ONE, **gvisor.options
    )
    yield sandbox
    await sandbox.aclose()
    assert gvisor.containers(sandbox.id) == set()


async def run(sandbox: SecureSandbox, code: str) -> object:
    outcome = await sandbox.execute(SandboxJob("tool", code), {})
    assert isinstance(outcome, Returned), outcome
    return json.loads(outcome.data or "null")


PROBE = """
import os, resource, socket
def attempt(action):
    try: return action()
    except OSError as error: return error.errno
def write(path, size=1):
    with open(path, "wb") as file:
        for _ in range(size): file.write(bytes(2**20))
def status():
    with open("/proc/self/status") as file:
        return dict(line.strip().split(":\\t", 1) for line in file if ":\\t" in line)
def tool():
    now = status()
    return {
        "ids": [now["Uid"].split(), now["Gid"].split()],
        "capabilities": [now[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd")],
        "interfaces": os.listdir("/sys/class/net") if os.path.exists("/sys/class/net") else [],
        "connect": attempt(lambda: socket.create_connection(("192.0.2.1", 80), timeout=2)),
        "written": [attempt(lambda: write(path)) for path in ("/x", "/etc/passwd", "/opt/sandbox/x", "/usr/local/x", "/dev/shm/x")],
        "tmp": [attempt(lambda: write("/tmp/files/x")), attempt(lambda: write("/tmp/files/x", 40))],
        "limits": [resource.getrlimit(limit) for limit in (resource.RLIMIT_CORE, resource.RLIMIT_NOFILE)],
        "memory of the judge": attempt(lambda: open("/proc/1/mem", "rb").read()),
        "signals": [attempt(lambda: os.kill(pid, 9)) for pid in (1, os.getppid())],
    }
"""


@pytest.mark.runsc
async def test_code_meets_a_kernel_of_its_own_and_the_limits_hold(sandbox: SecureSandbox) -> None:
    assert (
        await run(sandbox, "import os\ndef tool(): return os.uname().release") != os.uname().release
    )
    seen = await run(sandbox, PROBE)
    assert seen == {
        "ids": [["65534"] * 4] * 2,
        "capabilities": ["0" * 16] * 4,
        "interfaces": ["lo"],
        "connect": 101,
        "written": [13, 13, 13, 13, 13],
        "tmp": [None, 28],
        "limits": [[0, 0], [128, 128]],
        "memory of the judge": 13,
        "signals": [1, 1],
    }


@pytest.mark.runsc
async def test_its_status_names_the_runtime_and_what_is_not_guaranteed(
    sandbox: SecureSandbox,
) -> None:
    status = await sandbox.status()
    assert (status.available, status.backend, status.not_guaranteed) == (
        True,
        "docker",
        {"limits": OWN_KERNEL},
    )
    assert status.detail.endswith(", runtime runsc")


@pytest.mark.runsc
async def test_processes_that_fork_without_end_end_with_the_container(
    sandbox: SecureSandbox, gvisor: Behind
) -> None:
    """gVisor counts no processes, so that memory ends them, or the time."""
    outcome = await sandbox.execute(
        SandboxJob("tool", "import os\ndef tool():\n    while True: os.fork()"), {}
    )
    assert isinstance(outcome, Killed)
    assert outcome.reason.startswith(
        ("It needed more memory", "It used", "It did not end", "The sandbox was ended from inside")
    )
    assert await run(sandbox, "def tool(): return 1") == 1


@pytest.mark.runsc
async def test_nothing_of_a_call_is_left_to_the_next(sandbox: SecureSandbox) -> None:
    """Whichever process is its parent: older gVisor gives orphans to process 1 only."""
    await run(sandbox, "import os, signal\ndef tool():\n    if os.fork() == 0: signal.pause()")
    await sandbox.settle()
    await run(
        sandbox,
        "import os, signal\ndef tool():\n    if os.fork() == 0:\n        if os.fork() == 0: "
        "signal.pause()\n        os._exit(0)",
    )
    await sandbox.settle()
    assert (
        await run(
            sandbox,
            "import os\ndef tool(): return len([p for p in os.listdir('/proc') if p.isdigit()])",
        )
        == 3
    )


@pytest.mark.docker
async def test_a_runtime_that_the_engine_lacks_is_named_with_those_it_has(
    behind: Callable[[str], Behind],
) -> None:
    sandbox = SecureSandbox(timeout=5, **behind("docker").options, runtime="nothing-like-this")
    message = r"the Docker engine has no runtime nothing-like-this; it has .*\brunc\b"
    with pytest.raises(SandboxUnavailable, match=message) as raised:
        await sandbox.execute(SandboxJob("tool", "def tool(): return 1"), {})
    assert "SANDBOX_RUNTIME" in raised.value.remedy
    status = await sandbox.status()
    assert (status.available, "has no runtime nothing-like-this" in status.detail) == (False, True)
    await sandbox.aclose()


@pytest.mark.docker
async def test_a_runtime_that_the_engine_has_is_used(behind: Callable[[str], Behind]) -> None:
    sandbox = SecureSandbox(
        timeout=20,
        **behind("docker").options,
        runtime="runc",
        verifiers=ONE,
        comparers=ONE,
        executors=ONE,
    )
    assert await run(sandbox, "def tool(): return 1") == 1
    status = await sandbox.status()
    assert (status.detail.endswith(", runtime runc"), status.not_guaranteed) == (
        True,
        {"kernel": SHARED_KERNEL},
    )
    await sandbox.aclose()


async def test_who_asks_for_a_runtime_never_gets_less(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Docker nothing runs, though bubblewrap might."""
    monkeypatch.setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
    monkeypatch.setenv("SANDBOX_RUNTIME", "runsc")
    assert load_settings(None).sandbox_runtime == "runsc"
    sandbox = SecureSandbox(image="any", timeout=5)
    with pytest.raises(SandboxUnavailable, match="no Docker engine answers"):
        await sandbox.execute(SandboxJob("tool", "def tool(): return 1"), {})
    await sandbox.aclose()
    with pytest.raises(ConfigurationError, match="SANDBOX_RUNTIME='runsc' needs Docker"):
        SecureSandbox(image="any", timeout=5, backend="bubblewrap")
