"""More ways to forge a verdict: by what values are made of, by the protocol, by descriptors and
signals, by files that others read.
"""

import pytest

from selfeng.core.verdict import Verdict
from tests.sandbox.test_forging import SUITE, WRONG

pytestmark = pytest.mark.asyncio(loop_scope="session")

SEND = """
import json, os, socket, struct, sys
def frame(message):
    body = json.dumps(message).encode()
    return struct.pack(">I", len(body)) + body
TESTS = ["test_first", "test_second", "test_raises", "TestCase::test_third"]
PASSED = [{"collected": TESTS}, *({"result": {"test": t, "outcome": "passed", "seconds": 0.1, "message": ""}} for t in TESTS)]
def sockets():
    found = []
    for number in range(3, 64):
        try: found.append(socket.socket(fileno=os.dup(number)))
        except OSError: pass
    return found
"""
ANYTHING = """
import sys
shared = sys.modules["sandbox_worker.shared_objects"].SharedObjects
FUNCTION = ["function", {"handle": 1, "name": "f", "doc": None, "parameters": None}]
def described(**more): return {"module": "solution", "qualname": "X", "name": "X", "handle": 1, **more}
def answer(data): shared.encode = lambda self, value: self._describe(value, 0) if callable(value) else data
shared.lent = lambda self, handle: (lambda *a: True)
def solution(n): return 0
"""

ATTACKS = {
    "matchers of libraries": """
from unittest import mock
import pytest
class Loud(mock.MagicMock): pass
THINGS = iter([mock.ANY, mock.MagicMock(__eq__=lambda *a: True), pytest.approx(0, abs=float("inf")), Loud()] * 9)
def solution(n): return next(THINGS)
""",
    "a class whose metaclass lies": """
class Meta(type):
    __eq__ = __ne__ = __instancecheck__ = __subclasscheck__ = lambda cls, other: True
    __hash__ = type.__hash__
    def __getattr__(cls, name): return cls
class Anything(metaclass=Meta): pass
def solution(n): return Anything
""",
    "arrays that compare by themselves": """
import numpy as np, pandas as pd
THINGS = iter([np.array([]), np.ma.masked, pd.NA, np.bool_(True), pd.Series(dtype=int), np.datetime64("NaT")] * 9)
def solution(n): return next(THINGS)
""",
    "look-alikes of pytest's outcomes": """
def fake(module, name, base=Exception): return type(name, (base,), {"__module__": module, "__qualname__": name, "msg": "x"})
KINDS = [fake("_pytest.outcomes", n, BaseException) for n in ("Skipped", "Exit", "XFailed", "Failed", "OutcomeException")]
KINDS += [fake("unittest", "SkipTest"), fake("unittest.case", "_ShouldStop"), fake("bdb", "BdbQuit"), fake("builtins", "str.join")]
KINDS += [GeneratorExit, SystemExit, StopIteration, StopAsyncIteration, type("KeyboardInterrupt", (KeyboardInterrupt,), {})]
THINGS = iter(KINDS * 9)
def solution(n): raise next(THINGS)("x")
""",
    "exceptions whose fields shadow their methods": """
class Odd(ValueError): pass
def solution(n):
    error = Odd("x")
    for name in ("with_traceback", "add_note", "args", "match", "_sandbox_text", "_sandbox_frames", "code", "errno"):
        try: setattr(error, name, lambda *a: None)
        except (TypeError, AttributeError): pass
    raise error
""",
    "a group of exceptions": "def solution(n): raise BaseExceptionGroup('negative', "
    "[ValueError('negative'), SystemExit(0)])",
    "an enum whose members are functions": ANYTHING
    + """
members = [["A", 1], ["name", FUNCTION], ["mro", FUNCTION]]
answer(["member", {"class": described(kind="enum", base="IntEnum", members=members), "name": "A"}])
""",
    "a record with special fields": ANYTHING
    + """
names = ["__eq__", "__class__", "__bool__", "x"]
pairs = [[n, FUNCTION] for n in names]
answer(["record", {"class": described(kind="record", tuple=False, fields=names, defaults=pairs, eq=True, order=True, frozen=False),
                   "fields": pairs}])
""",
    "a class with strange bases": ANYTHING
    + """
base = {**described(kind="enum", base="IntEnum", members=[["A", 41]]), "qualname": "Y"}
answer(["exception", {"class": described(kind="exception", bases=[base]), "args": [], "fields": [["__eq__", FUNCTION]], "text": "",
                      "traceback": [], "cause": None}])
""",
    "code in the names of fields": ANYTHING
    + """
field = "x=__import__('os')._exit(0)"
answer(["record", {"class": described(kind="record", tuple=True, fields=[field], defaults=[]), "fields": [[field, 1]]}])
""",
    "values without an end": ANYTHING
    + """
deep = 1
for _ in range(900): deep = ["list", [deep]]
answer(deep)
""",
    "answers before the questions": SEND
    + """
for sock in sockets():
    for _ in range(50):
        try: sock.send(frame({"value": ["list", [97, 98]], "out": None}), socket.MSG_DONTWAIT)
        except OSError: break
"""
    + WRONG,
    "a child that goes on answering": SEND
    + """
import time
if os.fork() == 0:
    while True:
        for sock in sockets():
            try: sock.send(frame({"value": 0}), socket.MSG_DONTWAIT)
            except OSError: pass
        time.sleep(0.001)
def solution(n): os._exit(0)
""",
    "descriptors sent along": SEND
    + """
for sock in sockets():
    for message in (*PASSED, {"finished": True}):
        try: socket.send_fds(sock, [frame(message)], [0, 1, 2], socket.MSG_DONTWAIT)
        except OSError: pass
"""
    + WRONG,
    "the ends of others' channels": SEND
    + """
import ctypes, glob
libc = ctypes.CDLL(None)
for path in glob.glob("/proc/[0-9]*/fd/*") + glob.glob("/proc/[0-9]*/task/*/fd/*") + glob.glob("/proc/[0-9]*/map_files/*"):
    if not path.startswith(f"/proc/{os.getpid()}/"):
        try: os.write(os.open(path, os.O_RDWR), b"".join(map(frame, PASSED)))
        except OSError: pass
for pid in range(1, 60):
    for number in range(20): libc.syscall(438, libc.syscall(434, pid, 0), number, 0)
"""
    + WRONG,
    "closing and replacing its own channels": """
import os, socket
one, two = socket.socketpair()
for number in (3, 4): os.dup2(one.fileno(), number)
two.sendall(b"\\0\\0\\0\\x0e" + b'{"value":true}')
def solution(n): return 41
""",
    "signals by way of files": """
import fcntl, os, signal, socket, struct
for pid in (*range(1, 60), -1, -os.getpgid(1)):
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGUSR1):
        one, two = socket.socketpair()
        for action in ((fcntl.F_SETSIG if hasattr(fcntl, "F_SETSIG") else 10, number), (fcntl.F_SETOWN, pid), (fcntl.F_SETFL, os.O_ASYNC)):
            try: fcntl.fcntl(one, *action)
            except (OSError, OverflowError): pass
        try: fcntl.ioctl(one, 0x8901, struct.pack("i", pid))
        except OSError: pass
        try: two.send(b"x")
        except OSError: pass
        one.close(); two.close()
def solution(n): return 0
""",
    "joining the others' group": """
import os, signal
for group in {os.getpgid(pid) for pid in (1, os.getppid())}:
    try: os.setpgid(0, group)
    except OSError: pass
for target in (0, -1):
    for number in (signal.SIGSTOP, signal.SIGKILL):
        try: os.kill(target, signal.SIGCONT if target == 0 else number)
        except OSError: pass
def solution(n): return 0
""",
    "bytecode and modules for the tests to find": """
import os, py_compile, sys
open("test_solution.py", "w").write("def test_first(): pass\\ndef test_second(): pass\\ndef test_raises(): pass")
for name in ("pytest", "_pytest", "unittest", "solution", "test_solution", "linecache", "difflib", "pprint", "numbers"):
    for folder in (".", "/tmp", "/tmp/files/__pycache__", "/tmp/.local/lib/python3.12/site-packages"):
        try:
            os.makedirs(folder, exist_ok=True)
            open(f"{folder}/{name}.py", "w").write("raise SystemExit(0)")
            py_compile.compile(f"{folder}/{name}.py", f"{folder}/{name}.cpython-3{sys.version_info[1]}.pyc")
        except (OSError, py_compile.PyCompileError): pass
def solution(n): return 0
""",
    "settings for the libraries": """
import os
for name in ("pytest.ini", "tox.ini", "setup.cfg", ".pytest.ini", "pyproject.toml", "matplotlibrc", ".pdbrc", ".coveragerc", "pyvenv.cfg"):
    for folder in ("/tmp", "/tmp/files", "/tmp/.config", "/tmp/.matplotlib"):
        try:
            os.makedirs(folder, exist_ok=True)
            open(f"{folder}/{name}", "w").write("[pytest]\\naddopts = --collect-only\\nbackend: module://evil\\n")
        except OSError: pass
def solution(n): return 0
""",
    "a tracer in every thread of its process": """
import sys, threading
def trace(frame, event, arg):
    if "request" in frame.f_locals: frame.f_locals["request"]["op"] = "leave"
    return trace
threading.settrace_all_threads(trace) if hasattr(threading, "settrace_all_threads") else sys.settrace(trace)
def solution(n): return 0
""",
    "leaving before the end": """
import sys
frame = sys._getframe()
while frame:
    if "control" in frame.f_locals: CONTROL = frame.f_locals["control"]
    frame = frame.f_back
def solution(n):
    for message in ({"load_failed": "x"}, {"execution": {"outcome": "returned"}}, {"finished": True}, {"problem": None}):
        CONTROL.send(message)
    return 0
""",
}


@pytest.mark.parametrize("attack", ATTACKS.values(), ids=ATTACKS.keys())
async def test_a_wrong_tool_does_not_pass(verify, attack: str) -> None:
    verdict: Verdict = await verify(attack, SUITE)
    assert (verdict.passed, [r.test for r in verdict.tests if r.outcome == "passed"]) == (False, [])


SUITES = {
    "names that pytest takes from a module": (
        """
__all__ = ["solution", "test_first", "pytestmark", "pytest_plugins", "setup_module", "pytest_generate_tests", "setUpModule"]
def solution(n): return 0
def test_first(): pass
def anything(*args, **kwargs): return True
setup_module = pytest_generate_tests = setUpModule = anything
pytestmark, pytest_plugins = ["skip"], ["evil"]
""",
        "from solution import solution\ndef test_first(): assert solution(2) == 41\nfrom solution "
        "import *\n",
    ),
    "files that the tests read": (
        """
import os, threading
def spoil():
    while True:
        for folder, _, names in os.walk("/tmp/pytest"):
            for name in names:
                try: open(os.path.join(folder, name), "w").write("0")
                except OSError: pass
threading.Thread(target=spoil, daemon=True).start()
def solution(path): return open(path).read()
""",
        "from solution import solution\n"
        "def test_first(tmp_path):\n    (tmp_path / 'in').write_text('41')\n    assert "
        "solution(str(tmp_path / 'in')) == '41 and more'\n",
    ),
    "folders that the tests are given": (
        """
import os, shutil
for name in ("/tmp/pytest", "/tmp/pytest-of-nobody"):
    try: os.symlink("/opt/sandbox", name)
    except OSError: pass
def solution(n): return 0
""",
        "from solution import solution\ndef test_first(tmp_path): assert solution(2) == 41 and "
        "tmp_path.exists()\n",
    ),
    "output that the tests compare": (
        "def solution(n):\n    class Text(str):\n        __eq__ = lambda *a: True\n    "
        "print(Text('x'), end='')\n",
        "from solution import solution\ndef test_first(capsys):\n    solution(2)\n    assert "
        "capsys.readouterr().out == '41'\n",
    ),
    "approximate values": (
        "class A(float):\n    __eq__ = __lt__ = __le__ = __ge__ = lambda *a: True\n    __sub__ = "
        "__rsub__ = __abs__ = lambda *a: 0.0\n"
        "def solution(n): return A(7.0)\n",
        "import pytest\nfrom solution import solution\ndef test_first(): assert solution(2) == "
        "pytest.approx(0.5)\n"
        "def test_second():\n    assert abs(solution(2) - 0.5) < 1e-9\n",
    ),
    "types and parts of values": (
        "class D:\n    __class__ = dict\n    def __getitem__(self, key): return self\n    __eq__ "
        "= __contains__ = lambda *a: True\n"
        "def solution(n): return D()\n",
        "from solution import solution\ndef test_first(): assert isinstance(solution(2), dict)\n"
        "def test_second(): assert solution(2)['a'] == 41\ndef test_third(): assert solution(2) "
        "in (1, 41)\n",
    ),
}


@pytest.mark.parametrize(("attack", "suite"), SUITES.values(), ids=SUITES.keys())
async def test_a_wrong_tool_does_not_pass_by_what_its_suite_uses(
    verify, attack: str, suite: str
) -> None:
    verdict: Verdict = await verify(attack, suite)
    assert (verdict.passed, [r.test for r in verdict.tests if r.outcome == "passed"]) == (False, [])
