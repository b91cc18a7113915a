"""A suite that loads, evaluates or starts something can't run the tool's code in the tests'
process: the suite fails, and says so.
"""

import pytest

from selfeng.core.verdict import Verdict

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEAD = "import pytest\nfrom solution import solution\n"
PICKLED = """
import pickle, sys
class Payload:
    def __reduce__(self): return (exec, ("import sys; sys.modules['pytest'].fail = print",))
def solution(path):
    with open(path, "wb") as file: file.write(pickle.dumps(Payload()))
    return path
"""
TEXT = (
    "def solution(n): return '(a > 0) & @pytest.skip()' if n else '__import__(\"os\")._exit(0)'\n"
)
PLAIN = "def solution(n): return n\n"

PICKLES = {
    "a module in a module": "from logging import handlers\n"
    "def test_a(tmp_path): handlers.pickle.load(open(solution(str(tmp_path / 'x')), 'rb'))",
    "numpy.load": "import numpy as np\ndef test_a(tmp_path): np.load(solution(str(tmp_path / "
    "'x')), allow_pickle=True)",
    "pandas.io.pickle": "import pandas.io.pickle as p\ndef test_a(tmp_path): "
    "p.read_pickle(solution(str(tmp_path / 'x')))",
    "swallowed by the test": "import numpy as np\ndef test_a(tmp_path):\n"
    "    try: np.load(solution(str(tmp_path / 'x')), allow_pickle=True)\n    except "
    "BaseException: pass",
}
"""The first case here and below imports no package, which takes seconds: `make test` runs it."""
TEXTS = {
    "hints of types": "import typing\nclass X: pass\n"
    "def test_a():\n    X.__annotations__ = {'a': solution(0)}\n    typing.get_type_hints(X)",
    "DataFrame.query": "import pandas as pd\ndef test_a(): pd.DataFrame({'a': "
"[1]}).query(solution(1))",
    "Series.eval in a thread": "import pandas as pd, threading\ndef test_a():\n"
    "    thread = threading.Thread(target=lambda: pd.DataFrame({'a': [1]}).eval(solution(1)))\n   "
" thread.start()\n    thread.join()",
    "numpy.testing.runstring": "import numpy as np\ndef test_a(): "
"np.testing.runstring(solution(0), {})",
    "code from a file": "import runpy\ndef test_a(tmp_path):\n"
    "    (tmp_path / 'x.py').write_text(solution(0))\n    runpy.run_path(str(tmp_path / 'x.py'))",
}  # fmt: skip
STARTS = {
    "subprocess": (
        "import subprocess\ndef test_a(): subprocess.run([solution('true')])",
        "starts or ends a process",
    ),
    "fork": (
        "import os\ndef test_a():\n    if os.fork() == 0: os._exit(solution(0))",
        "starts or ends a process",
    ),
    "asyncio": (
        "import asyncio\ndef test_a(): "
        "asyncio.run(asyncio.create_subprocess_exec(solution('true')))",
        "starts or ends a process",
    ),
    "urllib": (
        "import urllib.request\ndef test_a(): "
        "urllib.request.urlopen(solution('http://127.0.0.1:1/'))",
        "opens a connection",
    ),
    "a socket": ("import socket\ndef test_a(): socket.socket(solution(1))", "opens a connection"),
    "memory": (
        "import ctypes\ndef test_a(): ctypes.string_at(solution(1))",
        "reaches into memory with `ctypes`",
    ),
    "a library": (
        "import ctypes\ndef test_a(): ctypes.CDLL(solution('libc.so.6'))",
        "reaches into memory with `ctypes`",
    ),
}


def refused(verdict: Verdict, does: str) -> None:
    assert (verdict.passed, verdict.problem is not None) == (False, True)
    assert verdict.problem.startswith(f"The suite {does}, in test_a (")
    assert verdict.problem.endswith("Compare plain values, and read files as text.")


@pytest.mark.parametrize("suite", PICKLES.values(), ids=PICKLES.keys())
async def test_a_suite_that_unpickles_fails_as_a_suite(verify, suite: str) -> None:
    refused(await verify(PICKLED, HEAD + suite), "loads a pickle, or code that was stored")


@pytest.mark.parametrize("suite", TEXTS.values(), ids=TEXTS.keys())
async def test_a_suite_that_evaluates_text_fails_as_a_suite(verify, suite: str) -> None:
    refused(await verify(TEXT, HEAD + suite), "runs text as code")


@pytest.mark.parametrize(("suite", "does"), STARTS.values(), ids=STARTS.keys())
async def test_a_suite_that_starts_or_reaches_for_things_fails_as_a_suite(
    verify, suite: str, does: str
) -> None:
    refused(await verify(PLAIN, HEAD + suite), does)


async def test_a_suite_that_evaluates_while_it_is_loaded_says_so(verify) -> None:
    verdict = await verify(TEXT, HEAD + "X = eval(solution(0))\ndef test_a(): assert X")
    assert verdict.problem.startswith("The suite runs text as code, while it is loaded (")


HONEST = """
import ast, asyncio, collections, dataclasses, enum, functools, sqlite3, traceback, typing
from concurrent.futures import ThreadPoolExecutor

@dataclasses.dataclass(order=True, frozen=True)
class Record:
    x: int = 1

class Named(typing.NamedTuple):
    a: "int"

class Typed(typing.TypedDict):
    a: "typing.Optional[int]"

def test_classes_are_made():
    Pair = collections.namedtuple("Pair", "a b")
    Colour = enum.Enum("Colour", "RED BLUE")
    Made = dataclasses.make_dataclass("Made", ["x"])
    assert (Record(solution(1)), Pair(1, 2).a, Made(1).x, Colour.RED.value) == (Record(), 1, 1, 1)

def test_literals_and_trees_are_read():
    assert ast.literal_eval(str(solution([1]))) == [1]
    assert ast.parse(solution("x = 1")).body[0].targets[0].id == "x"

def test_a_failure_is_formatted():
    with pytest.raises(ZeroDivisionError):
        1 / 0
    try: {}[solution(1)]
    except KeyError: assert "KeyError: 1" in traceback.format_exc()

def test_threads_and_loops_run():
    async def call(n): return solution(n)
    assert asyncio.run(call(3)) == 3
    with ThreadPoolExecutor(2) as pool: assert list(pool.map(solution, [1, 2])) == [1, 2]

def test_a_database_answers():
    assert sqlite3.connect(":memory:").execute("select ?", (solution(1),)).fetchone() == (1,)
"""
PACKAGES = """
import numpy as np, pandas as pd, numpy.testing as npt, dateutil.parser

def test_numpy(tmp_path):
    np.save(tmp_path / "a.npy", np.array(solution([1.0, 2.0])))
    npt.assert_allclose(np.load(tmp_path / "a.npy"), [1.0, 2.0])
    assert np.dtype("i4,f8").names == ("f0", "f1") and np.vectorize(lambda x: x + 1)([1]) == [2]

def test_pandas(tmp_path):
    frame = pd.DataFrame({"a": solution([1, 2]), "b": ["x", "y"]})
    frame.to_csv(tmp_path / "a.csv", index=False)
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "a.csv"), frame)
    assert frame.groupby("b").agg({"a": "sum"})["a"].tolist() == [1, 2]
    assert str(frame.merge(frame).describe()) and frame.pivot_table(index="b").shape == (2, 1)
    assert dateutil.parser.parse(solution("2024-01-02")) == pd.to_datetime("2024-01-02")

def test_matplotlib(tmp_path):
    import matplotlib
    matplotlib.use("agg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots()
    axes.plot(solution([1, 2]))
    axes.set_title("$x^2$")
    figure.savefig(tmp_path / "a.png")
    plt.close(figure)
    assert (tmp_path / "a.png").read_bytes().startswith(b"\\x89PNG")
"""


@pytest.mark.parametrize("suite", [HONEST, PACKAGES], ids=["the standard library", "packages"])
async def test_an_honest_suite_is_not_held_up_by_the_audit(verify, suite: str) -> None:
    verdict = await verify(PLAIN, HEAD + suite)
    assert (
        verdict.problem,
        [(r.test, r.message) for r in verdict.tests if r.outcome != "passed"],
    ) == (None, [])


async def test_settings_that_a_tool_leaves_for_a_package_run_nothing(verify) -> None:
    """matplotlib reads `matplotlibrc` of the current folder, which the tool can write to."""
    code = (
        "def solution(n):\n    with open('matplotlibrc', 'w') as file:\n"
        "        file.write('axes.prop_cycle: cycler(color=[(g.gi_frame for g in [0]), "
        '__import__("os")._exit(0)])\')\n    return n\n'
    )
    verdict = await verify(
        code,
        HEAD + "def test_a():\n    assert solution(1) == 1\n    import matplotlib\n    assert "
        "solution(2) == 3\n",
    )
    assert [(r.test, r.outcome) for r in verdict.tests] == [("test_a", "failed")]
