"""The properties that only bubblewrap's containers have: their view and permitted calls, the
enforcement of their limits, and their end.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from selfeng.core.process import name_of
from selfeng.core.verdict import Killed, Raised, Returned, SandboxJob, SandboxStatus
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes import interpreter
from selfeng.sandboxes.backend import SHARED_KERNEL
from selfeng.sandboxes.bubblewrap import BubblewrapBackend
from selfeng.sandboxes.bwrap_command import OWNER
from selfeng.sandboxes.bwrap_container import running
from selfeng.sandboxes.control_groups import ControlGroups
from selfeng.sandboxes.limits import ENVIRONMENT, ContainerLimits
from selfeng.sandboxes.pool import PoolSize
from tests.sandbox.backends import FOLDER, ROOT, Behind

pytestmark = pytest.mark.bubblewrap

ONE = PoolSize(least=0, ready=0, most=1)


@pytest.fixture
async def sandbox(behind: Callable[[str], Behind]) -> AsyncIterator[SecureSandbox]:
    sandbox = SecureSandbox(
        timeout=20, verifiers=ONE, comparers=ONE, executors=ONE, **behind("bubblewrap").options
    )
    yield sandbox
    await sandbox.aclose()


@pytest.fixture
def bubblewrap(behind: Callable[[str], Behind]) -> Iterator[BubblewrapBackend]:
    behind("bubblewrap")
    bubblewrap = BubblewrapBackend(FOLDER, ContainerLimits())
    yield bubblewrap
    bubblewrap.close()


@pytest.fixture
def unlimited(sandbox: SecureSandbox, tmp_path: Path) -> SecureSandbox:
    """A sandbox on a machine whose control groups are not for this user."""
    sandbox._backend._groups = ControlGroups(process=tmp_path)
    return sandbox


async def run(sandbox: SecureSandbox, code: str) -> object:
    outcome = await sandbox.execute(SandboxJob("tool", code), {})
    assert isinstance(outcome, Returned), outcome
    return json.loads(outcome.data or "null")


async def test_no_more_of_the_machine_is_seen_than_runs_the_code(sandbox: SecureSandbox) -> None:
    code = f"""
import os
def tool():
    return [sorted(os.listdir(folder)) for folder in ("/dev", "/etc", "/sys/fs", "/opt")] + [os.path.exists(p) for p in {GONE!r}]
"""
    seen = await run(sandbox, code)
    assert isinstance(seen, list)
    devices, settings, kernel, ours = seen[:4]
    assert devices == [
        "fd",
        "full",
        "null",
        "random",
        "stderr",
        "stdin",
        "stdout",
        "urandom",
        "zero",
    ]
    assert set(settings) == {"group", "ld.so.cache", "passwd"}
    assert (kernel, set(ours)) == (
        ["cgroup"],
        {"matplotlib", "sandbox", *([interpreter.PLACE.name] if foreign() else [])},
    )
    assert not any(seen[4:])


def foreign() -> bool:
    """Whether Python is not the system's."""
    return interpreter.program_inside() != interpreter.program()


async def test_of_the_interpreter_there_is_program_library_and_what_they_are_linked_to(
    sandbox: SecureSandbox,
) -> None:
    code = """
import os, sys
def tool():
    prefix = sys.base_prefix
    version = "python%d.%d" % sys.version_info[:2]
    found = [os.path.join(folder, name) for folder in (prefix, prefix + "/bin", prefix + "/lib") for name in os.listdir(folder)]
    library = os.path.join(prefix, "lib", version)
    packages = os.path.join(library, "site-packages")
    return [prefix, sorted(found), os.listdir(packages) if os.path.isdir(packages) else [], version]
"""
    if not foreign():
        pytest.skip("Python is the system's")
    prefix, found, packages, version = await run(sandbox, code)  # type: ignore[misc]
    place = str(interpreter.PLACE)
    linked = [f"{place}/lib/{path.name}" for path in interpreter.libraries()]
    program = f"{place}/bin/{interpreter.program().name}"
    assert (prefix, packages) == (place, [])
    assert found == sorted(
        [f"{place}/bin", f"{place}/lib", f"{place}/lib/{version}", program, *linked]
    )


@pytest.mark.parametrize(
    "told",
    [
        "[sys.prefix, sys.base_prefix, sys.exec_prefix, sys.executable, sys._base_executable, "
        "*sys.path]",
        "[*sysconfig.get_config_vars().values(), *sysconfig.get_paths().values()]",
        "[frame.filename for frame in failed()]",
        "[m.__file__ for m in list(sys.modules.values()) if getattr(m, '__file__', None)]",
        "[os.path.realpath('/proc/self/exe'), open('/proc/self/maps').read(), "
        "*os.environ.values()]",
        "[open(f'{f}/{n}').read() for f, _, ns in os.walk(sys.base_prefix) for n in ns if "
        "n.startswith('_sysconf') and n.endswith('.py')]",
    ],
    ids=["paths", "how it was built", "a traceback", "modules", "the process", "files"],
)
async def test_a_python_in_a_home_folder_does_not_tell_of_it(
    sandbox: SecureSandbox, told: str
) -> None:
    code = f"""
import json, os, sys, sysconfig, traceback
def failed():
    try:
        json.loads("{{")
    except ValueError as error:
        return traceback.extract_tb(error.__traceback__)
def tool(): return [len({told}), [str(t)[:300] for t in {told} if {str(Path(sys.base_prefix))!r} in str(t)]]
"""
    count, found = await run(sandbox, code)  # type: ignore[misc]
    assert count
    assert found == [] or not foreign()


@pytest.mark.skipif(
    "overlay" not in Path("/proc/filesystems").read_text(),
    reason="this kernel has no file system that hides names",
)
@pytest.mark.parametrize(
    "name", ["self/mountinfo", "self/mounts", "1/mountinfo", "thread-self/mountinfo"]
)
async def test_the_list_of_mounts_names_no_folder_of_the_machine(
    sandbox: SecureSandbox, name: str
) -> None:
    seen = await run(sandbox, f"def tool(): return open('/proc/{name}').read()")
    assert isinstance(seen, str)
    named = [
        line
        for line in seen.splitlines()
        if any(str(f) in line for f in (ROOT, FOLDER, sys.base_prefix, Path.home()))
    ]
    assert named == [] or not foreign()
    assert str(interpreter.PLACE) in seen or not foreign()


async def test_programs_that_a_tool_starts_find_what_python_is_linked_to(
    sandbox: SecureSandbox,
) -> None:
    code = """
import subprocess, sys
def tool(): return subprocess.run([sys.executable, "-c", "import ssl, sqlite3, ctypes; print(6)"], stdout=-1, text=True).stdout
"""
    assert await run(sandbox, code) == "6\n"


GONE = (
    "/home",
    "/var",
    "/run",
    "/boot",
    "/mnt",
    "/root/.ssh",
    "/usr/local/etc",
    "/etc/shadow",
    "/etc/hostname",
    str(ROOT / "README.md"),
)


def test_nothing_of_the_servers_environment_is_in_a_container(
    bubblewrap: BubblewrapBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-server")
    container = bubblewrap.container("execute", "a sandbox")
    container.start()
    try:
        environment = Path(f"/proc/{container.pid}/environ").read_bytes().decode()
    finally:
        container.discard()
    names = {entry.partition("=")[0] for entry in environment.split("\0") if entry}
    assert names - {"LD_LIBRARY_PATH"} == {*ENVIRONMENT, "HOSTNAME", "PATH", "PWD"}


CALLS = """
import ctypes, errno, json, os, platform
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *arguments):
    ctypes.set_errno(0)
    return errno.errorcode.get(ctypes.get_errno(), "done") if libc.syscall(number, *arguments) == -1 else "done"
"""


@pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="the numbers are those of another machine"
)
def test_the_filter_holds_for_every_process_of_a_container(bubblewrap: BubblewrapBackend) -> None:
    """Process 1 itself, before the worker's own filters: what would be done, or refused for another
    reason, without this one.
    """
    asked = {
        "unshare a user namespace": (272, 0x10000000),
        "clone into a user namespace": (56, 0x10000011, 0, 0, 0, 0),
        "clone3": (435, 0, 0),
        "setns": (308, -1, 0),
        "ptrace": (101, 0, 0, 0, 0),
        "bpf": (321, 0, 0, 0),
        "keyctl": (250, 0, -3, 0, 0, 0),
        "add_key": (248, 0, 0, 0, 0, 0),
        "io_uring_setup": (425, 1, 0),
        "userfaultfd": (323, 1),
        "perf_event_open": (298, 0, 0, -1, -1, 0),
        "open_by_handle_at": (304, -1, 0, 0),
        "open_tree": (428, -1, 0, 0),
        "personality": (135, 8),
        "the personality as it is": (135, 0xFFFFFFFF),
        "a packet socket": (41, 17, 3, 0),
        "a vsock": (41, 40, 1, 0),
        "a socket to the kernel's ciphers": (41, 38, 5, 0),
        "a netlink socket of the packet filter": (41, 16, 3, 12),
        "typing into a terminal": (16, 0, 0x5412, 0),
        "a call that is newer than the filter": (800,),
        "a call of the x32 machine": (0x40000000 + 39,),
    }
    done = bubblewrap._run(
        bubblewrap._environment.parts(),
        "python",
        "-I",
        "-c",
        CALLS + f"print(json.dumps({{n: call(*a) for n, a in {asked!r}.items()}}))",
    )
    unknown = {"clone3", "a call that is newer than the filter", "a call of the x32 machine"}
    expected = {name: "ENOSYS" if name in unknown else "EPERM" for name in asked} | {
        "the personality as it is": "done"
    }
    assert json.loads(done) == expected


async def test_without_control_groups_a_process_is_limited_and_all_are_watched(
    unlimited: SecureSandbox,
) -> None:
    outcome = await unlimited.execute(SandboxJob("tool", "def tool(): return 'x' * 10**9"), {})
    assert isinstance(outcome, Raised)
    assert outcome.type_name == "MemoryError"
    for greedy in (MANY, SHARING):
        assert await unlimited.execute(SandboxJob("tool", greedy), {}) == KILLED.model_copy(
            update={"seconds": pytest.approx(0, abs=15)}
        )
    verdict = await unlimited.verify(
        SandboxJob("tool", MANY, "from tool import tool\ndef test_a(): tool()"), lambda result: None
    )
    assert verdict.problem == KILLED.reason


KILLED = Killed(reason="It needed more memory than the 256 MB that the sandbox gives.")
MANY = """
import os, time
def tool():
    for _ in range(5):
        if os.fork() == 0:
            memory = bytearray(100 * 2**20)
            for place in range(0, len(memory), 4096): memory[place] = 1
            time.sleep(1000)
    time.sleep(1000)
"""
SHARING = """
import mmap, time
def tool():
    shared = [mmap.mmap(-1, 100 * 2**20) for _ in range(5)]
    for memory in shared:
        for place in range(0, len(memory), 4096): memory[place] = 1
    time.sleep(1000)
"""


async def test_without_control_groups_what_processes_share_counts_once(
    unlimited: SecureSandbox,
) -> None:
    code = """
import os, time
def tool():
    memory = bytearray(120 * 2**20)
    for place in range(0, len(memory), 4096): memory[place] = 1
    for _ in range(6):
        if os.fork() == 0: time.sleep(1000)
    time.sleep(0.5)
    return len(memory)
"""
    assert await run(unlimited, code) == 120 * 2**20


async def test_without_control_groups_processes_are_counted_by_their_namespace(
    unlimited: SecureSandbox,
) -> None:
    code = """
import os, signal
def tool():
    count = 0
    try:
        while count < 200:
            if os.fork() == 0: signal.pause()
            count += 1
    except OSError:
        return count
"""
    count = await run(unlimited, code)
    assert isinstance(count, int)
    assert 50 <= count < 64


async def test_without_control_groups_no_memory_hides_in_nameless_files(
    unlimited: SecureSandbox,
) -> None:
    code = """
import os
def tool():
    try: os.memfd_create("x")
    except OSError as error: return error.errno
"""
    assert await run(unlimited, code) == 1


async def test_the_status_tells_what_is_not_guaranteed(
    sandbox: SecureSandbox, tmp_path: Path
) -> None:
    status = await sandbox.status()
    assert (status.available, status.backend, status.not_guaranteed["kernel"]) == (
        True,
        "bubblewrap",
        SHARED_KERNEL,
    )
    assert status.detail.startswith("bubblewrap 0.")
    sandbox._backend._groups = ControlGroups(process=tmp_path)
    assert tuple((await sandbox.status()).not_guaranteed.values()) == (
        SHARED_KERNEL,
        "Code can read the programs and libraries of this machine below /usr, and where its own "
        "folders lie.",
        *(
            ()
            if os.geteuid() == 0
            else ("A way out of a container would lead to the rights of this server's user.",)
        ),
        "256 MB are a hard limit for each process only; all together are looked at ten times a "
        "second.",
        "Code may use more than one CPU until its time is up.",
    )


async def test_without_its_python_environment_it_says_how_to_get_it(tmp_path: Path) -> None:
    sandbox = SecureSandbox(timeout=5, backend="bubblewrap", folder=tmp_path)
    assert sandbox.image_is_current() is False
    status = await sandbox.status()
    assert status == SandboxStatus(
        available=False,
        backend="bubblewrap",
        detail=f"Code can't run: there is no Python environment to run code in below {tmp_path}; "
        "set it up with `selfeng setup sandbox`.",
    )
    await sandbox.aclose()


def test_a_container_does_not_end_with_the_thread_that_started_it(
    bubblewrap: BubblewrapBackend,
) -> None:
    container = bubblewrap.container("execute", "a sandbox")
    thread = threading.Thread(target=container.start)
    thread.start()
    thread.join()
    try:
        assert container.stream.alive
    finally:
        container.discard()


def test_what_a_dead_server_was_starting_is_ended_at_the_next_start(
    bubblewrap: BubblewrapBackend,
) -> None:
    server = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    owners = [name_of(server.pid), name_of(os.getpid())]
    server.communicate()
    command = [sys.executable, "-c", "print(flush=True); input()", OWNER]
    elsewhere = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
    left = [
        subprocess.Popen([*around, *command, owner], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for around, owner in (([], owners[0]), ([], owners[1]), (elsewhere, owners[0]))
    ]
    for process in left:
        assert process.stdout
        process.stdout.readline()  # only now is its command line certain to be there
    try:
        (inside,) = Path(f"/proc/{left[2].pid}/task/{left[2].pid}/children").read_text().split()
        found = [pid for pid, owner in running() if owner == owners[0]]
        assert left[0].pid in found
        assert int(inside) not in found
        bubblewrap.reap()
        assert left[0].wait(5) == -9
        assert left[1].poll() is None
    finally:
        for process in left:
            process.kill()
            process.communicate()


def _pinned(*names: str) -> str:
    """The lines of the sandbox's list that pin these packages."""
    lines = Path(ROOT, "docker", "requirements.txt").read_text().replace("\\\n", "").splitlines()
    return "\n".join(line for line in lines if line.partition("==")[0] in names)


OTHER_USER = 12345
SCRIPT = """
import asyncio, json, os, sys
from pathlib import Path
sys.path[:0] = {path!r}
from selfeng.core.verdict import SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.python_environment import PythonEnvironment

async def main():
    sandbox = SecureSandbox(image="any", timeout=20, base_image="any", backend="bubblewrap", folder=Path("sandbox"))
    sandbox._backend._environment = PythonEnvironment(Path("sandbox").absolute(), Path("requirements.txt").absolute())
    await asyncio.to_thread(sandbox.build_image)
    verdict = await sandbox.verify(SandboxJob("tool", CODE, TESTS), lambda result: None)
    outcome = await sandbox.execute(SandboxJob("tool", CODE), {{}})
    print(json.dumps([os.getuid(), verdict.passed, verdict.problem, getattr(outcome, "data", str(outcome))]))
    await sandbox.aclose()

CODE = "def tool(): return [line.split()[1:] for line in open('/proc/self/status') if line.startswith(('Uid', 'CapBnd'))]"
TESTS = "from tool import tool\\ndef test_a(): assert len(tool()) == 2"
asyncio.run(main())
"""


def test_a_user_without_rights_has_containers_too() -> None:
    """By the system's own interpreter, as the one that runs the tests may lie where others can't
    look; so may the checkout, which is mounted where they can.
    """
    interpreter = f"/usr/bin/python3.{sys.version_info.minor}"
    parts = [str(ROOT), *(path for path in sys.path if path.endswith("site-packages"))]
    if os.geteuid() != 0 or not os.path.exists(interpreter):
        pytest.skip("takes root, and a Python of the system's like this one")
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, OTHER_USER, OTHER_USER)
        Path(folder, "requirements.txt").write_text(
            _pinned("pytest", "iniconfig", "packaging", "pluggy", "pygments")
        )
        shown = [Path(folder, f"part-{number}") for number in range(len(parts))]
        for place in shown:
            place.mkdir()
        path = [str(shown[0] / "src"), *map(str, shown[1:])]
        Path(folder, "script.py").write_text(SCRIPT.format(path=path))
        user = ["--reuid", str(OTHER_USER), "--regid", str(OTHER_USER), "--clear-groups"]
        steps = [
            *(["mount", "--bind", part, str(at)] for part, at in zip(parts, shown, strict=True)),
            ["exec", "setpriv", *user, interpreter, "script.py"],
        ]
        command = ["unshare", "--mount", "sh", "-ec", "\n".join(map(shlex.join, steps))]
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, "HOME": folder},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [
        OTHER_USER,
        True,
        None,
        json.dumps([["65534"] * 4, ["0" * 16]], separators=(",", ":")),
    ]
