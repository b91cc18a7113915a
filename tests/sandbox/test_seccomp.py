"""System calls that the sandbox refuses its processes, and what honest tools need all the same."""

import json
import os
import subprocess
import sys

import pytest

from sandbox_worker.bpf import NUMBERS
from selfeng.core.verdict import Returned, SandboxJob
from selfeng.sandbox import SecureSandbox

CALL = """
import ctypes, errno, os
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *(ctypes.c_long(a) for a in arguments))
    return errno.errorcode.get(ctypes.get_errno(), str(ctypes.get_errno())) if result == -1 else "done"
"""
REFUSED = """
ptrace process_vm_readv process_vm_writev process_madvise pidfd_open pidfd_getfd pidfd_send_signal kcmp io_uring_setup io_uring_enter
io_uring_register bpf perf_event_open userfaultfd keyctl add_key request_key mount umount2 pivot_root chroot setns unshare fsopen
open_tree move_mount open_by_handle_at name_to_handle_at seccomp shmget msgget semget mq_open vmsplice memfd_secret kexec_load
init_module finit_module reboot syslog personality fanotify_init
"""
REACHING = f"""
{CALL}
def tool(numbers):
    def attempt(action, *arguments):
        try:
            return str(action(*arguments))
        except OSError as error:
            return errno.errorcode[error.errno]
    parent = os.getppid()
    with open("/dev/null") as file:
        owner = [call(numbers["fcntl"], file.fileno(), command, 1) for command in (8, 15, 1024, 1026)]
    pid = 1
    return {{
        "signals": sorted({{attempt(os.kill, target, 0) for target in (1, parent, -1, 0 - os.getpgid(1))}}),
        "threads": [call(numbers["tkill"], pid, 0), call(numbers["tgkill"], pid, pid, 0)],
        "queued": [call(numbers["rt_sigqueueinfo"], pid, 0, 0), call(numbers["rt_tgsigqueueinfo"], pid, pid, 0, 0)],
        "owner": owner,
        "limits": call(numbers["prlimit64"], parent, 7, 0, 0),
        "priority": [attempt(os.setpriority, which, parent, 19) for which in (0, 1, 2)],
        "affinity": attempt(os.sched_setaffinity, parent, {{0}}),
        "class": call(numbers["ioprio_set"], 1, parent, 0x6000),
        "group": attempt(os.setpgid, 0, os.getpgid(1)),
        "attributes": [call(numbers["prctl"], option, 1, 0, 0, 0) for option in (4, 36, 22)],
        "own": [attempt(os.kill, target, 0) for target in (0, os.getpid(), 0 - os.getpid())],
        "parent": call(numbers["clone"], 0x8000 | 17, 0, 0, 0, 0),
    }}
"""
HONEST = """
import asyncio, concurrent.futures, ctypes, multiprocessing, os, signal, socket, subprocess, sys, tempfile, threading, time

async def talk():
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "print(input())", stdin=-1, stdout=-1)
    out, _ = await process.communicate(b"x\\n")
    return out.decode().strip(), await asyncio.to_thread(lambda: 1)

def slow():
    try:
        subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"], timeout=0.2)
    except subprocess.TimeoutExpired:
        return "ended"

def group():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    os.killpg(process.pid, signal.SIGKILL)
    return process.wait()

def fork():
    process = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
    process.start()
    process.terminate()
    process.join()
    return process.exitcode

def alarm():
    caught = []
    before = signal.signal(signal.SIGUSR1, lambda *a: caught.append(1))
    os.kill(os.getpid(), signal.SIGUSR1); signal.raise_signal(signal.SIGUSR1)
    signal.signal(signal.SIGUSR1, before)
    return len(caught)

def pair():
    one, two = socket.socketpair()
    one.sendall(b"x")
    return two.recv(1).decode()

def tool():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        threads = sum(pool.map(lambda n: n, range(10)))
    with tempfile.NamedTemporaryFile() as file:
        written = file.write(b"abc")
    os.nice(1); os.sched_setaffinity(0, os.sched_getaffinity(0))
    return [asyncio.run(talk()), slow(), group(), fork(), alarm(), pair(), threads, written]
"""


@pytest.mark.asyncio(loop_scope="session")
async def test_calls_deep_into_the_kernel_or_into_others_are_refused(
    sandbox: SecureSandbox,
) -> None:
    code = f"{CALL}\ndef tool(numbers): return {{name: call(number, 0, 0, 0, 0, 0) for name, number in numbers.items()}}"
    numbers = NUMBERS[os.uname().machine]
    outcome = await sandbox.execute(
        SandboxJob("tool", code),
        {
            "numbers": {name: numbers[name] for name in (*REFUSED.split(), "clone3")}
            | {"later": 500}
        },
    )
    assert isinstance(outcome, Returned), outcome
    assert json.loads(outcome.data or "") == dict.fromkeys(REFUSED.split(), "EPERM") | {
        "clone3": "ENOSYS",
        "later": "ENOSYS",
    }


@pytest.mark.asyncio(loop_scope="session")
async def test_no_family_of_sockets_can_be_had(sandbox: SecureSandbox) -> None:
    code = """
import errno, socket
def attempt(family, kind):
    try: socket.socket(family, kind).close()
    except OSError as error: return errno.errorcode[error.errno]
    return "made"
def tool():
    return sorted({(family, attempt(family, kind)) for family in range(46) for kind in (1, 2, 3, 5)})
"""
    outcome = await sandbox.execute(SandboxJob("tool", code), {})
    assert isinstance(outcome, Returned), outcome
    made = [tuple(pair) for pair in json.loads(outcome.data or "")]
    inet = [(family, error) for family in (2, 10) for error in ("ENETUNREACH", "EPERM")]
    assert made == sorted(
        [*((n, "EPERM") for n in range(46) if n not in (1, 2, 10)), (1, "ECONNREFUSED"), *inet]
    )


@pytest.mark.asyncio(loop_scope="session")
async def test_nothing_reaches_the_processes_that_were_there_before(sandbox: SecureSandbox) -> None:
    outcome = await sandbox.execute(
        SandboxJob("tool", REACHING), {"numbers": NUMBERS[os.uname().machine]}
    )
    assert isinstance(outcome, Returned), outcome
    assert json.loads(outcome.data or "") == {
        "signals": ["EPERM"],
        "threads": ["EPERM"] * 2,
        "queued": ["EPERM"] * 2,
        "owner": ["EPERM"] * 4,
        "limits": "EPERM",
        "priority": ["EPERM"] * 3,
        "affinity": "EPERM",
        "class": "EPERM",
        "group": "EPERM",
        "attributes": ["EPERM"] * 3,
        "own": ["None"] * 3,
        "parent": "EPERM",
    }


@pytest.mark.asyncio(loop_scope="session")
async def test_honest_tools_have_processes_threads_signals_and_loops(
    sandbox: SecureSandbox,
) -> None:
    outcome = await sandbox.execute(SandboxJob("tool", HONEST), {})
    assert isinstance(outcome, Returned), outcome
    assert json.loads(outcome.data or "") == [["x", 1], "ended", -9, -15, 2, "x", 45, 3]


@pytest.mark.skipif(
    sys.platform != "linux" or os.uname().machine not in NUMBERS, reason="filters are for Linux"
)
def test_a_fence_lets_a_process_signal_itself_and_what_comes_after_it() -> None:
    """Outside of any container, where the fence alone decides."""
    code = """
import os, signal
from sandbox_worker.seccomp import Fence, restrict
restrict()
fence, before = Fence(), os.getpid()
elder = os.fork()
if elder == 0: signal.pause()
own = os.fork()
if own == 0:
    fence.close()
    child, other = os.fork(), 0
    if child == 0:
        os.setpgid(0, 0); os.kill(os.getpid(), signal.SIGSTOP)
    os.waitpid(child, os.WUNTRACED)
    def allowed(pid):
        try: os.kill(pid, 0)
        except PermissionError: return False
        return True
    print([allowed(p) for p in (0, os.getpid(), child, -child, -os.getpid())], [allowed(p) for p in (1, before, elder, -1, -before)])
    os.kill(child, signal.SIGKILL)
    print(os.WTERMSIG(os.waitpid(child, 0)[1]), flush=True)
    os._exit(0)
os.waitpid(own, 0); os.kill(elder, signal.SIGKILL); os.waitpid(elder, 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert (done.stdout, done.stderr) == (f"{[True] * 5} {[False] * 5}\n9\n", "")
