"""Verified or called: a tool finds the same around it, so that it can't behave under test only."""

import json

import pytest

from selfeng.core.verdict import Returned
from selfeng.sandbox import SecureSandbox

pytestmark = pytest.mark.asyncio(loop_scope="session")

SURVEY = '''
import builtins, ctypes, gc, json, os, resource, signal, stat, sys, threading

def kind(number):
    """What a descriptor is, without the numbers that name it."""
    found = os.fstat(number)
    return [stat.S_IFMT(found.st_mode), os.get_inheritable(number), os.readlink(f"/proc/self/fd/{number}").split(":")[0]]

def line(path):
    with open(path) as file:
        return file.read()

def fields(path, *names):
    return {n: v for n, _, v in (row.partition(":") for row in line(path).splitlines()) if n in names}

def others():
    numbers = [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]
    return [[line(f"/proc/{n}/{of}") for of in ("cmdline", "comm")] + [fields(f"/proc/{n}/status", "PPid", "Threads", "Seccomp")]
            for n in sorted(numbers)]

def frames():
    found, frame = [], sys._getframe()
    while frame:
        found.append([frame.f_code.co_filename.rpartition("/")[2], frame.f_code.co_name, frame.f_lineno])
        frame = frame.f_back
    return found

def survey():
    return {
        "modules": sorted(sys.modules),
        "builtins": sorted(vars(builtins)),
        "arguments": [sys.argv, sys.orig_argv, sys.flags[:], sys.path, sys.executable],
        "environment": dict(os.environ),
        "folder": [os.getcwd(), sorted(os.listdir()), sorted(os.listdir("/tmp")), os.stat("/tmp").st_mtime],
        "parent": [os.getppid(), line("/proc/1/cmdline"), line("/proc/self/cmdline"), line("/proc/self/comm")],
        "processes": others(),
        "group": [os.getpgid(0) == os.getpid(), os.getsid(0)],
        "descriptors": {n: kind(n) for n in range(64) if os.path.exists(f"/proc/self/fd/{n}")},
        "peers": [__import__("socket").socket(fileno=os.dup(n)).getpeername() for n in (3, 4)],
        "streams": [[type(s).__name__, s.encoding, s.errors, s.line_buffering, s.fileno(), s.isatty(), type(s.buffer).__name__]
                    for s in (sys.stdin, sys.stdout, sys.stderr)],
        "frames": frames(),
        "threads": [t.name for t in threading.enumerate()],
        "signals": [str(signal.getsignal(n)) for n in range(1, 32)],
        "limits": [resource.getrlimit(n) for n in range(16)],
        "status": fields("/proc/self/status", "Uid", "Gid", "Groups", "NoNewPrivs", "Seccomp", "Seccomp_filters", "Threads", "CapEff"),
        "masks": fields("/proc/self/status", "SigIgn", "SigCgt", "SigBlk", "CoreDumping", "THP_enabled"),
        "score": line("/proc/self/oom_score_adj"),
        "digits": sys.get_int_max_str_digits(),
        "tracing": [str(sys.gettrace()), str(sys.getprofile()), sys.getrecursionlimit(), sys.getswitchinterval(), gc.isenabled()],
        "dumpable": ctypes.CDLL(None).prctl(3, 0, 0, 0, 0),
        "umask": os.umask(0o22),
    }

WHEN_LOADED = survey()

def solution():
    return json.dumps([WHEN_LOADED, survey()])
'''
SUITE = """
from solution import solution
def test_a():
    found = solution()
    print(found)
    assert found
"""


async def test_a_tool_finds_the_same_around_it(sandbox: SecureSandbox) -> None:
    called = await sandbox.execute("solution", SURVEY, {})
    assert isinstance(called, Returned), called
    verdict = await sandbox.verify("solution", SURVEY, SUITE, lambda result: None)
    assert verdict.passed, verdict
    for there, here in zip(
        json.loads(verdict.output), json.loads(json.loads(called.data or "")), strict=True
    ):
        for what, found in there.items():
            assert (what, found) == (what, here[what])


async def test_neither_has_pytest(sandbox: SecureSandbox) -> None:
    code = (
        "import sys\ndef solution(): return sorted(n for n in sys.modules if 'pytest' in n or "
        "'pluggy' in n or 'unittest' in n)"
    )
    called = await sandbox.execute("solution", code, {})
    assert isinstance(called, Returned), called
    assert called.text == "[]"
    suite = "from solution import solution\ndef test_a(): assert solution() == []"
    assert (await sandbox.verify("solution", code, suite, lambda result: None)).passed


@pytest.mark.parametrize(
    "tell",
    [
        "'pytest' in sys.modules",
        "any('pytest' in (f.filename + f.function) for f in inspect.stack())",
        "'PYTEST_CURRENT_TEST' in os.environ",
        "os.getcwd() != '/tmp/files'",
        "os.getppid() != 1",
        "len([p for p in os.listdir('/proc') if p.isdigit()]) != 3",
        "len(os.listdir('/proc/self/fd')) != 6",
        "any('pytest' in open(f'/proc/{p}/cmdline').read() for p in os.listdir('/proc') if "
        "p.isdigit())",
        "'_serve' not in [f.function for f in inspect.stack()]",
        "sys.get_int_max_str_digits() == 4300",
        "not hasattr(sys.stdout, 'buffer') or sys.stdout.fileno() != 1",
        "any(n.startswith('pytest') for n in os.listdir('/tmp'))",
    ],
)
async def test_a_tool_that_looks_for_a_test_finds_none(sandbox: SecureSandbox, tell: str) -> None:
    """It is right under test and wrong when called, if it can tell."""
    code = f"import inspect, os, sys\ndef solution(n): return n + 1 if {tell} else 0"
    suite = "from solution import solution\ndef test_a(): assert solution(1) == 2"
    assert not (await sandbox.verify("solution", code, suite, lambda result: None)).passed
    called = await sandbox.execute("solution", code, {"n": 1})
    assert isinstance(called, Returned), called
    assert called.text == "0"
