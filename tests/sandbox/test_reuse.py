"""Calls that share an executor, and suites that share a comparer: nothing of one can be felt by the
next, and what can't be undone ends the container.
"""

import json
from collections.abc import AsyncIterator

import pytest

from selfeng.core.verdict import Killed, Returned, SandboxJob, Verdict, Version
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.pool import PoolSize
from tests.sandbox.backends import Behind
from tests.sandbox.conftest import Containers
from tests.sandbox.memory_search import SEARCH, moved


@pytest.fixture
async def sandbox(backend: Behind) -> AsyncIterator[SecureSandbox]:
    """A sandbox with a single container for each mode."""
    one = PoolSize(least=0, ready=1, most=1)
    sandbox = SecureSandbox(
        timeout=2, executors=one, verifiers=one, comparers=one, **backend.options
    )
    yield sandbox
    await sandbox.aclose()


async def run(sandbox: SecureSandbox, code: str) -> object:
    outcome = await sandbox.execute(SandboxJob("tool", code), {})
    assert isinstance(outcome, Returned), outcome
    return json.loads(outcome.data or "null")


async def compare(sandbox: SecureSandbox, code: str, suite: str) -> Verdict:
    [verdict] = await sandbox.verify_versions(
        SandboxJob("tool", tests=suite), [Version(code=code, apart=False)]
    )
    return verdict


SURVEY = """
import builtins, os, resource, stat, sys
def tool():
    here = os.stat("/tmp")
    others = len([p for p in os.listdir("/proc") if p.isdigit()])
    return {
        "processes": others,
        "files": os.listdir("/tmp"),
        "tmp": [oct(here.st_mode), here.st_mtime, os.listxattr("/tmp") if hasattr(os, "listxattr") else []],
        "environment": dict(sorted(os.environ.items())),
        "modules": sorted(sys.modules),
        "builtins": sorted(vars(builtins)),
        "umask": os.umask(0o22),
        "cwd": os.getcwd(),
        "limits": [resource.getrlimit(n) for n in range(16)],
        "parents": [open(f"/proc/{p}/limits").read() for p in (1, os.getppid()) if os.path.exists("/proc/1/limits")],
        "nice": [os.getpriority(os.PRIO_PROCESS, p) for p in (0, 1, os.getppid())],
        "cpus": sorted(os.sched_getaffinity(os.getppid())),
        "shared": [len(open(f"/proc/sysvipc/{n}").readlines()) for n in ("shm", "msg", "sem") if os.path.exists("/proc/sysvipc")],
        "descriptors": len(os.listdir("/proc/self/fd")),
    }
"""

LEAVING = {
    "files": """
import os
def tool():
    os.makedirs("/tmp/a/b/c"); open("/tmp/a/b/x", "w").write("x" * 10_000); os.symlink("/etc", "/tmp/a/link"); open("/tmp/.x", "w").close()
""",
    "an unreadable folder": "import os\ndef tool(): os.makedirs('/tmp/a/b'); os.chmod('/tmp/a', 0)",
    "another mode and date of the folder": "import os\ndef tool(): os.utime('/tmp', (1, 1)); "
    "os.chmod('/tmp', 0o500)",
    "environment and interpreter": """
import builtins, json, os, resource, sys
def tool():
    os.environ["LEFT"] = "1"; sys.left = builtins.left = 1; os.umask(0); os.chdir("/"); json.loads = None
    resource.setrlimit(resource.RLIMIT_NOFILE, (50, 50)); os.nice(5); sys.modules["left"] = sys
""",
    "processes": """
import os, signal, time
def tool():
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)
            while True: time.sleep(0.01); open("/tmp/still-here", "w").close()
        os._exit(0)
""",
    "a fork bomb": """
import os
def tool():
    if os.fork() == 0:
        while True:
            try: os.fork()
            except OSError: pass
""",
    "limits of its parents": """
import os, resource
def tool():
    for pid in (1, os.getppid()):
        for limit in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC):
            try: resource.prlimit(pid, limit, (20, 20))
            except OSError: pass
""",
    "priority of its parents": """
import os
def tool():
    for pid in (1, os.getppid()):
        try: os.setpriority(os.PRIO_PROCESS, pid, 19)
        except OSError: pass
        try: os.sched_setaffinity(pid, {0})
        except OSError: pass
""",
    "signals to everybody": """
import os
def tool():
    for number in (19, 9):
        for pid in (-1, 1, os.getppid(), 0 - os.getpgid(1)):
            try: os.kill(pid, number)
            except PermissionError: pass
""",
    "shared memory": """
import ctypes
def tool():
    libc = ctypes.CDLL(None)
    return [libc.shmget(7, 4096, 0o1600), libc.msgget(7, 0o1600), libc.semget(7, 1, 0o1600)]
""",
}


@pytest.mark.parametrize("code", LEAVING.values(), ids=LEAVING.keys())
async def test_nothing_of_a_call_is_left_for_the_next(sandbox: SecureSandbox, code: str) -> None:
    before = await run(sandbox, SURVEY)
    await run(sandbox, code)
    assert await run(sandbox, SURVEY) == before


PRINTED = "import json\nfrom tool import tool\ndef test_a(): print(json.dumps(tool()))"


@pytest.mark.parametrize("code", LEAVING.values(), ids=LEAVING.keys())
async def test_nothing_of_a_suite_is_left_for_the_next(sandbox: SecureSandbox, code: str) -> None:
    before = await compare(sandbox, SURVEY, PRINTED)
    assert before.passed, before
    await compare(sandbox, code, "from tool import tool\ndef test_a(): tool()")
    after = await compare(sandbox, SURVEY, PRINTED)
    assert after.output == before.output


async def test_nothing_that_the_tests_leave_reaches_the_next_suite(sandbox: SecureSandbox) -> None:
    before = await compare(sandbox, SURVEY, PRINTED)
    for name in ("files", "environment and interpreter"):
        leaving = LEAVING[name].replace("def tool()", "def test_a(tmp_path)")
        await compare(sandbox, "def tool(): pass", leaving)
    assert (await compare(sandbox, SURVEY, PRINTED)).output == before.output


async def test_suites_share_a_container_as_long_as_nothing_breaks(
    sandbox: SecureSandbox, containers: Containers
) -> None:
    suite = "from tool import tool\ndef test_a(): assert tool() == 1"
    seen = []
    for code in ("def tool(): return 1", "def tool(): return 2", "def tool(:", "x = 1"):
        await compare(sandbox, code, suite)
        seen.append(containers(sandbox))
    assert all(found == seen[0] for found in seen)
    await compare(sandbox, "import os\ndef tool(): os._exit(0)", suite)
    assert (await compare(sandbox, "def tool(): return 1", suite)).passed
    assert not seen[0] & containers(sandbox)


async def test_calls_share_a_container_as_long_as_they_behave(
    sandbox: SecureSandbox, containers: Containers
) -> None:
    seen = set()
    code = "import os\ndef tool(): open('/tmp/x', 'w').close(); return sorted(os.listdir('/tmp'))"
    for _ in range(5):
        assert await run(sandbox, code) == [".matplotlib", "files", "x"]
        await sandbox.settle()
        seen |= containers(sandbox)
    assert len(seen) == 1


@pytest.mark.parametrize(
    "code",
    [
        "import os\ndef tool(): os._exit(3)",
        "def tool():\n    while True: pass",
        "def tool(): return bytearray(10**9)",
    ],
    ids=["ended", "too slow", "too large"],
)
async def test_an_executor_whose_tool_was_killed_is_replaced(
    sandbox: SecureSandbox, containers: Containers, code: str
) -> None:
    await run(sandbox, "def tool(): pass")
    before = containers(sandbox)
    assert isinstance(await sandbox.execute(SandboxJob("tool", code), {}), Killed)
    await run(sandbox, "def tool(): pass")
    assert not before & containers(sandbox)


async def test_memory_of_a_call_holds_nothing_of_an_earlier_one(sandbox: SecureSandbox) -> None:
    search = SEARCH + "def tool(moved): return count(moved)\n"
    secret = "password of an earlier call"
    first = await sandbox.execute(
        SandboxJob("tool", search + f"KEPT = '{secret}'\n"), {"moved": moved(secret)}
    )
    assert isinstance(first, Returned)
    assert int(first.text) > 0
    second = await sandbox.execute(SandboxJob("tool", search), {"moved": moved(secret)})
    assert isinstance(second, Returned)
    assert second.text == "0"


async def test_no_message_queue_can_be_made(sandbox: SecureSandbox) -> None:
    code = (
        "import ctypes\ndef tool(): return ctypes.CDLL(None).mq_open(b'/left', 0o102, 0o600, None)"
    )
    assert await run(sandbox, code) == -1


async def test_a_tool_cannot_see_what_its_container_is_for(sandbox: SecureSandbox) -> None:
    code = (
        "import sys\ndef tool(): return [sys.argv[1:], open('/proc/1/cmdline').read(), "
        "open('/proc/self/cmdline').read()]"
    )
    command = "python\0-I\0-m\0sandbox_worker\0"
    assert await run(sandbox, code) == [[], command, command]
