"""Verified or called: a tool finds the same around it, so that it can't behave under test only."""

import json

import pytest

from selfeng.core.signature import parse_signature
from selfeng.core.verdict import Returned, SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis.checks import module_problem

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
    called = await sandbox.execute(SandboxJob("solution", SURVEY), {})
    assert isinstance(called, Returned), called
    verdict = await sandbox.verify(SandboxJob("solution", SURVEY, SUITE), lambda result: None)
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
    called = await sandbox.execute(SandboxJob("solution", code), {})
    assert isinstance(called, Returned), called
    assert called.text == "[]"
    suite = "from solution import solution\ndef test_a(): assert solution() == []"
    assert (await sandbox.verify(SandboxJob("solution", code, suite), lambda result: None)).passed


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
    assert not (
        await sandbox.verify(SandboxJob("solution", code, suite), lambda result: None)
    ).passed
    called = await sandbox.execute(SandboxJob("solution", code), {"n": 1})
    assert isinstance(called, Returned), called
    assert called.text == "0"


REFUSED = {
    "variables of calling frames": "sorted(sys._getframe(3).f_locals)",
    "frames by inspect": "len(inspect.stack()[2].frame.f_locals)",
    "frames of an error": "caught().__traceback__.tb_frame.f_back.f_locals",
    "frames of a generator": "(x for x in n).gi_frame.f_back",
    "frames of threads": "len(sys._current_frames())",
    "what the collector knows": "sum('arguments' in o for o in gc.get_objects() if type(o) is dict)",
    "counts of references": "sys.getrefcount(None)",
    "counts of memory": "sys.getallocatedblocks()",
    "what the stream wraps": "str(vars(sys.stdout.buffer))",
    "the first streams": "sys.__stdout__.tell()",
    "another stream": "setattr(sys, 'stdout', io.StringIO())",
    "the number of the process": "os.getpid() < 4",
    "the number of the thread": "threading.main_thread().native_id < 4",
    "the time of the processor": "time.process_time() > 0.04",
    "the use of memory": "resource.getrusage(0).ru_minflt > 2000",
    "the state of the process": "open('/proc/self/stat').read()",
    "all processes": "os.listdir('/proc')",
    "memory": "ctypes.CDLL(None).getpid()",
    "loaded modules": "'pytest' in sys.modules",
    "the source": "inspect.getsource(tool)",
    "lines": "tool.__code__.co_firstlineno",
    "the module's globals": "'{0.__globals__}'.format(tool)",
    "computed names": "getattr(tool, '__co' + 'de__')",
    "text that is run": "eval('__import__(\"gc\").get_count()')",
    "imports by name": "__import__('gc').get_count()",
    "stacks as text": "traceback.format_stack()",
    "a trace": "sys.settrace(lambda *a: None)",
}
SAME = {
    "depth of the stack": "depth()",
    "types of the streams": "[str(type(s).__mro__) for s in (sys.stdin, sys.stdout, sys.stderr)]",
    "state of a wrapped stream": "state(logging.StreamHandler().stream)",
    "names of the streams": "[sys.stdout.errors, sys.stdout.encoding, sys.stdout.isatty()]",
    "standard input": "sys.stdin.read()",
    "arguments of the program": "[sys.argv, sys.path, sys.executable]",
    "environment": "dict(os.environ)",
    "current folder": "[os.getcwd(), os.listdir(), oct(os.stat('.').st_mode)]",
    "temporary files": "[os.listdir('/tmp'), os.stat('/tmp').st_mtime, tempfile.gettempdir()]",
    "threads": "[t.name for t in threading.enumerate()]",
    "handlers of signals": "[str(signal.getsignal(k)) for k in range(1, 32)]",
    "timers": "[signal.alarm(0), signal.getitimer(signal.ITIMER_REAL)]",
    "sizes of arguments": "[sys.getsizeof(v) for v in (n, *n)]",
    "identity of arguments": "[n[0] is n[1], type(n[2]).__name__, n[3] is n[3]]",
    "limits of Python": "[sys.getrecursionlimit(), sys.get_int_max_str_digits()]",
    "loggers": "[logging.root.level, str(logging.root.handlers), logging.raiseExceptions]",
    "filters of warnings": "str(warnings.filters)",
    "arithmetic": "str(decimal.getcontext())",
    "locale": "locale.setlocale(locale.LC_ALL)",
    "context": "[str(v) for v in contextvars.copy_context().values()]",
    "names of the module": "[__name__, sorted(globals())]",
    "descriptors": "[[k, os.isatty(k), os.get_blocking(k), os.fstat(k).st_mode] for k in range(5)]",
    "processors": "[os.cpu_count(), os.nice(0), sorted(os.sched_getaffinity(0))]",
    "people": "[os.getuid(), os.getgid(), os.path.expanduser('~')]",
    "calls before": "CALLS.append(1) or len(CALLS)",
}
_TOOL = """
import {modules}

CALLS = []


def depth(k=0):
    try:
        return depth(k + 1)
    except RecursionError:
        return k


def state(stream):
    print("x")
    kept = stream.buffer
    return [str(sorted(vars(kept).items())), kept.tell(), str(kept.getvalue())]


def caught():
    try:
        1 / 0
    except ZeroDivisionError as error:
        return error


def tool(n):
    return json.dumps({found}, default=str)
"""
_USED = "contextvars decimal io json locale logging os signal sys tempfile threading time warnings"
_MODULES = ", ".join(_USED.split())
_REFUSED_MODULES = {"ctypes", "gc", "inspect", "resource", "traceback"}


@pytest.mark.parametrize("way", REFUSED)
async def test_ways_to_tell_a_test_from_a_call_are_refused(way: str) -> None:
    needed = [name for name in _REFUSED_MODULES if f"{name}." in REFUSED[way]]
    code = _TOOL.format(modules=", ".join([_MODULES, *needed]), found=REFUSED[way])
    problem = module_problem(code, parse_signature(code, "tool"))
    assert problem
    assert "through which a tool can see how it is run" in problem


async def test_no_other_way_tells_a_test_from_a_call(sandbox: SecureSandbox) -> None:
    found = ", ".join(f"{way!r}: {SAME[way]}" for way in SAME)
    code = _TOOL.format(modules=_MODULES, found=f"{{{found}}}")
    assert module_problem(code, parse_signature(code, "tool")) is None
    arguments = ["a", 1, {"key": [1], "k": "v"}, [1, 2, 3]]
    called = await sandbox.execute(SandboxJob("tool", code), {"n": arguments})
    assert isinstance(called, Returned), called
    suite = f"from tool import tool\ndef test_a():\n    found = tool({arguments})\n    print(found)\n    assert found\n"
    verdict = await sandbox.verify(SandboxJob("tool", code, suite), lambda result: None)
    assert verdict.passed, verdict
    there = json.loads(verdict.output.splitlines()[-1])
    assert there == json.loads(json.loads(called.data or ""))
