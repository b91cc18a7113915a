"""Each limit of the container, seen from inside by the tool's process."""

import asyncio
import json

import pytest

from selfeng.core.verdict import Returned, SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.limits import ENVIRONMENT

pytestmark = pytest.mark.asyncio(loop_scope="session")

PROBE = '''
import os, resource, socket, subprocess

def attempt(action):
    """What became of it: the error's name, or what it returned."""
    try:
        return action()
    except Exception as error:
        return type(error).__name__ + (f" {error.errno}" if isinstance(error, OSError) else "")

def write(path):
    with open(path, "w") as file:
        file.write("x")
    return "written"

def fill(path, size):
    with open(path, "wb") as file:
        file.truncate(0)
        for _ in range(size):
            file.write(bytes(2**20))

def many_files():
    for number in range(10_000):
        open(f"/tmp/{number}", "w").close()

def status():
    with open("/proc/self/status") as file:
        return dict(line.strip().split(":\\t", 1) for line in file if ":\\t" in line)

def forks():
    children = []
    try:
        while len(children) < 200:
            pid = os.fork()
            if pid == 0:
                os.pause() if hasattr(os, "pause") else __import__("signal").pause()
            children.append(pid)
    except OSError:
        pass
    for pid in children:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    return len(children)

def first(path):
    for candidate in path:
        if os.path.exists(candidate):
            with open(candidate) as file:
                return file.read().split()[0]

def tool():
    wanted = ("Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp")
    now = status()
    return {
        "status": {name: now.get(name, "").split() for name in wanted},
        "interfaces": [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]],
        "connect": attempt(lambda: socket.create_connection(("192.0.2.1", 80), timeout=2)),
        "resolve": attempt(lambda: socket.gethostbyname("example.com")),
        "raw": attempt(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW)),
        "rootfs": [attempt(lambda: write(p)) for p in ("/x", "/etc/passwd", "/opt/sandbox/x", "/usr/local/x", "/var/tmp/x", "/dev/x")],
        "shared": attempt(lambda: write("/dev/shm/x")),
        "tmp": attempt(lambda: write("/tmp/x")),
        "tmp_mode": [oct(os.stat("/tmp").st_mode & 0o7777), os.stat("/tmp").st_uid, os.stat("/tmp").st_gid],
        "tmp_full": attempt(lambda: fill("/tmp/large", 40)),
        "removed": os.remove("/tmp/large"),
        "tmp_files": attempt(many_files),
        "run_from_tmp": attempt(lambda: (os.chmod("/tmp/1", 0o755), subprocess.run(["/tmp/1"]))[0]),
        "environment": sorted(os.environ),
        "core": resource.getrlimit(resource.RLIMIT_CORE),
        "files": resource.getrlimit(resource.RLIMIT_NOFILE),
        "memory": first(["/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory.max"]),
        "processes": forks(),
        "judge": [attempt(lambda: open(f"/proc/1/{name}", "rb").read()) for name in ("environ", "mem", "fd/0", "fd/1", "maps")],
        "kill_judge": attempt(lambda: os.kill(1, 9)),
        "root": attempt(lambda: os.setuid(0)),
        "descriptors": sorted({attempt(lambda: os.readlink(f"/proc/self/fd/{n}")).split(":")[0] for n in range(128)}),
        "cwd": os.getcwd(),
    }
'''


async def test_every_limit_holds_from_inside(sandbox: SecureSandbox) -> None:
    outcome = await sandbox.execute(SandboxJob("tool", PROBE), {})
    assert isinstance(outcome, Returned), outcome
    seen = json.loads(outcome.data or "")
    assert 50 <= seen.pop("processes") < 64
    assert seen.pop("root") in {
        "PermissionError 1",
        "OSError 22",
    }  # which is no user there, where its namespace knows only one
    assert {*seen.pop("environment")} - {"LD_LIBRARY_PATH"} == {*ENVIRONMENT, "HOSTNAME", "PATH"}
    assert set(seen.pop("rootfs")) <= {"OSError 30", "PermissionError 13", "FileNotFoundError 2"}
    assert seen == {
        "status": {
            "Uid": ["65534"] * 4,
            "Gid": ["65534"] * 4,
            "Groups": ["65534"],
            **{name: ["0" * 16] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")},
            "NoNewPrivs": ["1"],
            "Seccomp": ["2"],
        },
        "interfaces": ["lo"],
        "connect": "OSError 101",
        "resolve": "gaierror -2",
        "raw": "PermissionError 1",
        "shared": "FileNotFoundError 2",
        "tmp": "written",
        "tmp_mode": ["0o700", 65534, 65534],
        "tmp_full": "OSError 28",
        "removed": None,
        "tmp_files": "OSError 28",
        "run_from_tmp": "PermissionError 13",
        "core": [0, 0],
        "files": [128, 128],
        "memory": str(256 * 1024 * 1024),
        "judge": ["PermissionError 13"] * 5,
        "kill_judge": "PermissionError 1",
        "descriptors": ["/dev/null", "FileNotFoundError 2", "pipe", "socket"],
        "cwd": "/tmp/files",
    }


async def test_nothing_stays_for_the_next_job(sandbox: SecureSandbox) -> None:
    write = (
        "def tool():\n    open('/tmp/left', 'w').close()\n    import os\n    return "
        "os.listdir('/tmp')"
    )
    outcomes = [await sandbox.execute(SandboxJob("tool", write), {}) for _ in range(2)]
    assert [sorted(json.loads(o.data or "")) for o in outcomes if isinstance(o, Returned)] == [
        [".matplotlib", "files", "left"]
    ] * 2


HOARD = """
import socket, time
def tool():
    ends, sent = socket.socketpair(), 0
    try:
        while True:
            socket.send_fds(ends[0], [b"x"], [0] * 100)
            sent += 100
            if sent > 10_000: break
    except OSError:
        pass
    time.sleep(3)
    return sent
"""


async def test_descriptors_under_way_in_one_container_keep_no_other_from_its_jobs(
    sandbox: SecureSandbox,
) -> None:
    """The kernel counts them per user, whatever the container."""
    hoarding = asyncio.create_task(sandbox.execute(SandboxJob("tool", HOARD), {}))
    await asyncio.sleep(1)
    for _ in range(4):
        outcome = await sandbox.execute(SandboxJob("tool", "def tool():\n    return 1"), {})
        assert isinstance(outcome, Returned), outcome
    assert isinstance(await hoarding, Returned)
