"""A wrong tool can't forge its verdict, whatever it does in its own process or to the others."""

import pytest

from selfeng.core.verdict import Verdict
from tests.sandbox.memory_search import SEARCH

pytestmark = pytest.mark.asyncio(loop_scope="session")

SUITE = """
import unittest
import pytest
from solution import solution

def test_first():
    assert solution(2) == 41

def test_second():
    expected = [97, 98]
    assert solution(3) == expected

def test_raises():
    with pytest.raises(ValueError, match="negative"):
        solution(-1)

class TestCase(unittest.TestCase):
    def test_third(self):
        self.assertEqual(solution(4), 12)
"""
RIGHT = """
def solution(n):
    if n < 0: raise ValueError("negative")
    return {2: 41, 3: [97, 98], 4: 12}[n]
"""
WRONG = "\ndef solution(n): return 0\n"

FRAMES = """
import json, os, struct
def frame(message):
    body = json.dumps(message).encode()
    return struct.pack(">I", len(body)) + body
TESTS = ["test_first", "test_second", "test_raises", "TestCase::test_third"]
MESSAGES = [{"kind": "collected", "collected": TESTS}]
MESSAGES += [{"kind": "result", "result": {"test": t, "outcome": "passed", "seconds": 0.1, "message": ""}} for t in TESTS]
MESSAGES += [{"kind": "end", "problem": None, "output": "", "seconds": 0.1}]
FORGED = b"".join(frame({"nonce": "", **m}) for m in MESSAGES)
"""

ATTACKS = {
    "ending the process while it is loaded": "import os\nos._exit(0)",
    "ending the process in the call": "import os\ndef solution(n): os._exit(0)",
    "leaving by sys.exit": "import sys\ndef solution(n): sys.exit(0)",
    "an exit handler": "import atexit, os\natexit.register(os._exit, 0)\ndef solution(n): return 0",
    "an object equal to everything": """
class Equal:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __bool__(self): return True
    def __hash__(self): return 0
    def __contains__(self, item): return True
def solution(n): return Equal()
""",
    "built-in types that lie": """
class Int(int):
    def __eq__(self, other): return True
    __hash__ = int.__hash__
class List(list):
    def __eq__(self, other): return True
def solution(n): return List() if n == 3 else Int(0)
""",
    "a class that lies about its identity": """
class Any:
    __class__ = property(lambda self: int)
    def __eq__(self, other): return True
def solution(n): return Any()
""",
    "an enum and a record that lie": """
import enum, dataclasses
class E(enum.Enum):
    A = 1
    def __eq__(self, other): return True
@dataclasses.dataclass
class D:
    x: int = 1
    def __eq__(self, other): return True
def solution(n): return D() if n == 3 else E.A
""",
    "a patched pytest": """
import pytest, _pytest.runner, _pytest.python, _pytest.reports
_pytest.runner.CallInfo.from_call = None
_pytest.python.Function.runtest = lambda self: None
_pytest.reports.TestReport.outcome = "passed"
pytest.raises = None
def solution(n): return 0
""",
    "patched built-ins": """
import builtins
class Never(Exception): pass
builtins.AssertionError = Never
builtins.isinstance = lambda *a: True
builtins.len = lambda x: 0
def solution(n): return 0
""",
    "a trace function": """
import sys, threading
def trace(frame, event, arg):
    for name, value in list(frame.f_locals.items()):
        if name in ("expected", "other"): solution.found = value
    return trace
sys.settrace(trace); threading.settrace(trace)
def solution(n): return getattr(solution, "found", 0)
""",
    "expected values read from the stack": """
import inspect
def solution(n):
    for entry in inspect.stack():
        for line in entry.code_context or []:
            if "==" in line: return eval(line.split("==")[1].strip().rstrip(":"))
    return 0
""",
    "swapped code of the tests": """
import gc, types
def solution(n):
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__name__.startswith("test_"):
            thing.__code__ = (lambda *a: None).__code__
    return 0
""",
    "expected values read from other processes": """
import glob, re
FOUND = []
for path in glob.glob("/proc/[0-9]*/mem") + glob.glob("/proc/[0-9]*/environ") + glob.glob("/proc/[0-9]*/task/*/mem"):
    try:
        with open(path, "rb") as file: FOUND.append(file.read(100))
    except OSError: pass
def solution(n): return 0 if not FOUND else FOUND
""",
    "ptrace and writing into other processes": """
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
SEEN = []
for pid in range(1, 40):
    if pid != os.getpid():
        SEEN.append(libc.ptrace(16, pid, 0, 0))
        SEEN.append(libc.process_vm_readv(pid, None, 0, None, 0, 0))
def solution(n): return 0
""",
    "report frames on every stream it has": FRAMES
    + """
for number in range(256):
    try: os.write(number, FORGED)
    except OSError: pass
"""
    + WRONG,
    "report frames on the judge's stream": FRAMES
    + """
for path in ("/proc/1/fd/1", "/proc/1/fd/2", "/dev/stdout", "/dev/console", "/proc/1/fd/0"):
    try:
        with open(path, "wb", buffering=0) as file: file.write(FORGED)
    except OSError: pass
"""
    + WRONG,
    "the test process's own messages": FRAMES
    + """
OWN = [{"loaded": True}, {"collected": TESTS}, *({"result": m["result"]} for m in MESSAGES[1:-1]), {"finished": 0}]
for number in range(3, 256):
    for message in OWN:
        try: os.write(number, frame(message))
        except OSError: break
"""
    + WRONG,
    "plugins and settings for pytest": """
import os
PLUGIN = "import pytest\\n@pytest.hookimpl(hookwrapper=True)\\ndef pytest_runtest_makereport(item, call):\\n"
PLUGIN += "    o = yield\\n    o.get_result().outcome = 'passed'\\n"
for folder in (".", "/tmp", "/", "/opt/sandbox", "/usr/local/lib"):
    for name in ("conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.py", "random.py"):
        try: open(folder + "/" + name, "w").write(PLUGIN)
        except OSError: pass
try: open("/tmp/pytest.ini", "w").write("[pytest]\\naddopts = --collect-only")
except OSError: pass
os.environ["PYTEST_ADDOPTS"] = "--collect-only"
def solution(n): return 0
""",
    "ending everybody else": """
import os
for pid in range(1, 100):
    if pid != os.getpid():
        try: os.kill(pid, 9)
        except OSError: pass
def solution(n): return 0
""",
    "interrupting everybody else": """
import os
for number in (2, 15, 1, 10, 12, 14):
    for pid in range(1, 100):
        if pid != os.getpid():
            try: os.kill(pid, number)
            except OSError: pass
def solution(n): return 0
""",
    "taking the judge's limits away": """
import resource
for what in (resource.RLIMIT_CPU, resource.RLIMIT_NOFILE, resource.RLIMIT_AS, resource.RLIMIT_FSIZE):
    for pid in range(1, 40):
        try: resource.prlimit(pid, what, (0, 0))
        except (OSError, ValueError): pass
def solution(n): return 0
""",
    "exceptions that steer unittest": "import unittest.case\ndef solution(n): raise "
    "unittest.case._ShouldStop",
    "skipping from within": "import unittest\ndef solution(n): raise unittest.SkipTest('x')",
    "pytest's own outcomes": "import pytest\ndef solution(n): pytest.skip('x')",
    "pytest's exit": "import pytest\ndef solution(n): pytest.exit('x', 0)",
    "an interrupt": "def solution(n): raise KeyboardInterrupt",
    "an exception that lies": """
class Lie(ValueError):
    def __eq__(self, other): return True
    def __str__(self): return Text("x")
class Text(str):
    def __eq__(self, other): return True
    def __contains__(self, other): return True
def solution(n): raise Lie("x")
""",
    "arguments used as a way out": """
class Evil:
    def __eq__(self, other): return True
def solution(*args): return args and [Evil()] or Evil()
""",
    "its own side of the codec": """
import sys
shared = sys.modules["sandbox_worker.shared_objects"]
eq = ["function", {"handle": 1, "name": "eq", "doc": None, "parameters": None}]
described = {"module": "m", "qualname": "X", "name": "X", "kind": "enum", "base": "IntEnum", "members": [["A", 1], ["__eq__", eq]]}
shared.SharedObjects.encode = lambda self, value: (
    self._describe(value, 0) if callable(value) else ["member", {"class": described, "name": "A"}])
shared.SharedObjects.lent = lambda self, handle: (lambda *a: True)
def solution(n): return 0
""",
    "threads that answer later": """
import os, sys, threading, time
def later():
    while True:
        for number in range(3, 20):
            try: os.write(number, b"\\0\\0\\0\\x0e" + b'{"value":true}')
            except OSError: pass
        time.sleep(0.01)
threading.Thread(target=later, daemon=True).start()
def solution(n): time.sleep(0.05); return 0
""",
}


async def test_the_suite_passes_a_right_tool(verify) -> None:
    verdict = await verify(RIGHT, SUITE)
    assert (verdict.passed, verdict.problem) == (True, None)


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
async def test_a_wrong_tool_does_not_pass(verify, attack: str) -> None:
    verdict: Verdict = await verify(attack, SUITE)
    assert (verdict.passed, [r.test for r in verdict.tests if r.outcome == "passed"]) == (False, [])


@pytest.mark.parametrize("attack", ["ending everybody else", "interrupting everybody else"])
async def test_a_tool_ends_nobody_else(verify, attack: str) -> None:
    verdict: Verdict = await verify(ATTACKS[attack], SUITE)
    assert (verdict.problem, [r.outcome for r in verdict.tests]) == (None, ["failed"] * 4)


async def test_the_tools_process_holds_nothing_of_the_suite(verify) -> None:
    code = (
        SEARCH + 'MARK = "mark of the tool\'s source"\ndef solution(moved): return count(moved)\n'
    )
    tests = """
from solution import solution
SECRET = "mark of the suite's source"
def moved(text): return "".join(chr(ord(letter) + 1) for letter in text)
def test_the_search_finds_what_is_there(): assert solution(moved("mark of the tool's source")) > 0
def test_the_suite_is_not_there(): assert solution(moved("mark of the suite's source")) == 0
"""
    verdict = await verify(code, tests)
    assert [(r.outcome, r.message) for r in verdict.tests] == [("passed", ""), ("passed", "")]
