"""The policy for suites: every evasion is told with the test and the reason, and honest suites are
let through.
"""

import textwrap

import pytest

from selfeng.synthesis.checks import suite_problem

HEAD = "import pytest\nfrom f import f\n\n"
GOOD = "def test_good():\n    assert f(1) == 2\n"


def problem(tests: str) -> str | None:
    return suite_problem(HEAD + textwrap.dedent(tests), "f")


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        ("import _pytest.runner", "the suite imports _pytest; only the standard library"),
        ("import pluggy", "the suite imports pluggy"),
        ("from pluggy import HookimplMarker", "the suite imports pluggy"),
        ("import conftest", "the suite imports conftest"),
        (
            "@pytest.hookimpl(wrapper=True)\ndef hook(): yield",
            "uses pytest's hookimpl; every test must run, and nothing may change how",
        ),
        (
            "def pytest_runtest_makereport(item, call): ...",
            "defines `pytest_runtest_makereport`, which pytest takes for a hook",
        ),
        ("pytest_plugins = ['x']", "the suite sets `pytest_plugins`, which steers pytest"),
        ("pytestmark = pytest.mark.skip", "the suite uses pytest's skip"),
        (
            "pytestmark = [pytest.mark.usefixtures('x')]",
            "the suite sets `pytestmark`, which steers pytest",
        ),
        ("collect_ignore = ['x']", "the suite sets `collect_ignore`"),
        ("def pytest_generate_tests(metafunc): ...", "defines `pytest_generate_tests`"),
        ("__test__ = False", "the suite sets `__test__`"),
        ("__name__ = '__main__'", "the suite sets `__name__`"),
        (
            "pytest.raises = None",
            "the suite changes `pytest.raises`; nothing that is imported may be patched",
        ),
        ("import math\nmath.floor = round", "the suite changes `math.floor`"),
        ("import f as module\nmodule.f = abs", "the suite changes `module.f`"),
        ("f.__code__ = (lambda n: n + 1).__code__", "the suite reaches for `__code__`"),
        ("f.calls = 0", "the suite changes `f.calls`"),
        ("del pytest.raises", "the suite changes `pytest.raises`"),
        ("setattr(pytest, 'raises', None)", "the suite uses `setattr`"),
        ("setattr(f, 'x', 1)", "the suite uses `setattr`"),
        ("patch = setattr", "the suite uses `setattr`"),
        ("p = pytest\np.skip('x')", "hands `pytest` around"),
        ("getattr(pytest, 'sk' + 'ip')('x')", "uses `getattr` with a name that is hidden"),
        ("getattr(pytest, 'skip')('x')", "hands `pytest` around"),
        ("pytest.__dict__['skip']('x')", "reaches for `__dict__`"),
        ("mark = pytest.mark\nx = getattr(mark, 'skip')", "hands `pytest.mark` around"),
        ("from pytest import skip as later", "the suite uses pytest's skip"),
        ("from pytest import *", "the suite imports everything from pytest"),
        (
            "from pytest import mark\n@mark.xfail\ndef test_a(): assert f(1)",
            "test_a uses pytest's xfail",
        ),
        ("import pytest as p\np.exit('x')", "the suite uses pytest's exit"),
        (
            "def test_a():\n    pytest.importorskip('x')\n    assert f(1)",
            "test_a uses pytest's importorskip",
        ),
        (
            "@pytest.mark.slow\ndef test_a(): assert f(1)",
            "test_a uses the mark slow, which means nothing here",
        ),
        ("@pytest.mark.tryfirst\ndef test_a(): assert f(1)", "test_a uses the mark tryfirst"),
        (
            "import unittest\n@unittest.skip('x')\ndef test_a(): assert f(1)",
            "test_a uses unittest's skip",
        ),
        (
            "import unittest\ndef test_a():\n    raise unittest.SkipTest('x')",
            "test_a uses unittest's SkipTest",
        ),
        ("from unittest import SkipTest", "the suite uses unittest's SkipTest"),
        (
            "import unittest\nclass TestA(unittest.TestCase):\n    def test_a(self): "
            "self.skipTest('x')",
            "TestA::test_a uses unittest's skipTest",
        ),
        (
            "import unittest.mock",
            "the suite uses unittest's mock; every test must run, and nothing may change how",
        ),
        (
            "from unittest.mock import patch",
            "the suite uses unittest's mock; every test must run, and nothing may change how",
        ),
        (
            "from unittest import mock",
            "the suite uses unittest's mock; every test must run, and nothing may change how",
        ),
        (
            "def test_a(monkeypatch):\n    assert f(1)",
            "test_a asks for monkeypatch, but the tool runs in another process",
        ),
        ("@pytest.fixture\ndef x(monkeypatch): ...", "asks for monkeypatch"),
        (
            "def test_a(request):\n    request.node.add_marker('skip')\n    assert f(1)",
            "test_a steers pytest through `request`",
        ),
        (
            "def test_a(number):\n    assert f(number)",
            "test_a asks for `number`, which is neither parametrized nor a fixture of the suite",
        ),
    ],
)
def test_the_framework_is_not_steered(tests, words):
    assert words in problem(tests + "\n" + GOOD)


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        ("import sys\nsys.modules['f'] = None", "uses sys.modules; test with plain calls"),
        ("import sys as s\nx = s.modules", "uses sys.modules"),
        ("from sys import modules", "uses sys.modules"),
        ("import sys\nsys.settrace(None)", "uses sys.settrace"),
        ("import sys\nsys.setprofile(None)", "uses sys.setprofile"),
        ("import sys\nx = sys._getframe()", "uses sys._getframe"),
        ("import sys\ndef test_a():\n    sys.exit(0)", "test_a uses sys.exit"),
        ("import os\ndef test_a():\n    os._exit(0)", "test_a uses os._exit"),
        ("from os import _exit", "uses os._exit"),
        ("import os\nos.kill(1, 9)", "uses os.kill"),
        ("def test_a():\n    raise SystemExit", "test_a raises SystemExit, which ends the run"),
        ("def test_a():\n    raise KeyboardInterrupt()", "test_a raises KeyboardInterrupt()"),
        (
            "import gc\nx = gc.get_objects()",
            "imports gc, which no suite needs; test with plain calls, values and `pytest.raises`",
        ),
        ("import inspect\nx = inspect.currentframe()", "imports inspect"),
        ("import ctypes", "imports ctypes"),
        ("import importlib\nimportlib.reload(pytest)", "imports importlib"),
        ("import builtins\nbuiltins.len = abs", "imports builtins"),
        ("import _thread", "imports _thread, which no suite needs"),
        ("import signal", "imports signal"),
        ("import pickle", "imports pickle, which no suite needs"),
        ("import subprocess", "imports subprocess, which no suite needs"),
        ("exec('x = 1')", "uses `exec`; write the test out in plain code"),
        ("run = eval\nx = run('1')", "uses `eval`"),
        ("globals()['f'] = abs", "uses `globals`"),
        ("x = __import__('sys')", "uses `__import__`"),
        (
            "import logging\nlogging.sys.modules.clear()",
            "uses logging.sys; test with plain calls, values",
        ),
        ("from random import _os", "uses random._os"),
        ("import logging\nx = getattr(logging, 'sys')", "hands `logging` around"),
        ("import logging\nmatch logging:\n    case object(sys=s): ...", "hands `logging` around"),
        ("import functools\nx = functools.reduce(getattr, ['a'], f)", "hands `getattr` around"),
        ("x = vars(f)", "uses `vars`"),
        ("import timeit\nx = timeit.timeit('import os')", "imports timeit, which no suite needs"),
        ("import logging.config", "uses logging.config; test with plain calls"),
        ("x = __builtins__", "uses `__builtins__`"),
        ("x = ().__class__.__bases__", "reaches for `__bases__`"),
        ("x = object.__subclasses__()", "reaches for `__subclasses__`"),
        ("x = f.__globals__", "reaches for `__globals__`"),
        ("x = getattr(f, '__glo' + 'bals__')", "uses `getattr` with a name that is hidden"),
        ("import operator\nx = operator.attrgetter('__globals__')(f)", "uses operator.attrgetter"),
        (
            "def test_a():\n    try:\n        f(1)\n    except ValueError as e:\n        assert "
            "e.__traceback__.tb_frame",
            "reaches for `",
        ),
        ("Any = type('Any', (), {'__eq__': lambda s, o: True})", "makes a class with `type`"),
    ],
)
def test_the_interpreter_is_left_alone(tests, words):
    assert words in problem(tests + "\n" + GOOD)


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (
            "import numpy as np\nx = np.load('x', allow_pickle=True)",
            "uses numpy.load; test with plain calls",
        ),
        ("from numpy import load", "uses numpy.load"),
        ("import numpy\nx = numpy.lib.npyio.load('x')", "uses numpy.lib"),
        ("from numpy.lib import npyio", "uses numpy.lib"),
        ("import numpy as np\nx = np.ma.core.np.load('x')", "uses numpy.ma.core"),
        ("import numpy as np\nnp.testing.runstring('x', {})", "uses numpy.testing.runstring"),
        ("from numpy.testing import rundocs", "uses numpy.testing.rundocs"),
        ("import numpy as np\nx = np.bmat('a, b')", "uses numpy.bmat"),
        ("import numpy.ctypeslib as c", "uses numpy.ctypeslib"),
        ("import numpy as np\nx = np.memmap('x')", "uses numpy.memmap"),
        ("import pandas as pd\nx = pd.read_pickle('x')", "uses pandas.read_pickle"),
        ("import pandas.io.pickle as p", "uses pandas.io"),
        ("from pandas.io import pickle", "uses pandas.io"),
        ("import pandas as pd\nx = pd.eval('1')", "uses pandas.eval"),
        (
            "import pandas as pd\nx = pd.DataFrame().query('a')",
            "uses `query` of pandas, which runs text as code",
        ),
        ("import pandas as pd\ndef run(df):\n    return df.eval('a')", "uses `eval` of pandas"),
        ("import pandas as pd\nx = pd.DataFrame.eval", "uses `eval` of pandas"),
        ("import pandas as pd\nx = pd.Series([1]).agg('eval')", "uses `eval` of pandas"),
        ("import pandas as pd\nx = pd.DataFrame().pipe('query')", "uses `query` of pandas"),
        (
            "import pandas as pd\nx = getattr(pd.DataFrame(), 'query')",
            "uses `getattr` with a name that is hidden",
        ),
        ("import matplotlib.style", "uses matplotlib.style"),
        ("import matplotlib\nmatplotlib.rc_file('x')", "uses matplotlib.rc_file"),
        ("from logging import handlers", "uses logging.handlers"),
        ("import logging.handlers\nlogging.handlers.pickle.loads(b'')", "uses logging.handlers"),
        ("from asyncio import create_subprocess_exec", "uses asyncio.create_subprocess_exec"),
        ("import asyncio\nx = asyncio.open_connection", "uses asyncio.open_connection"),
        (
            "from concurrent.futures import ProcessPoolExecutor",
            "uses concurrent.futures.ProcessPoolExecutor",
        ),
        ("import concurrent.futures.process", "uses concurrent.futures.process"),
        ("import urllib.request", "uses urllib.request"),
        ("from http import server", "uses http.server"),
        ("import typing\nx = typing.get_type_hints(f)", "uses typing.get_type_hints"),
        ("from typing import ForwardRef", "uses typing.ForwardRef"),
        ("from types import FunctionType", "uses types.FunctionType"),
        ("import threading\nthreading.settrace(print)", "uses threading.settrace"),
        ("import calendar\nx = calendar.sys.modules", "uses calendar.sys"),
        ("import statistics\nx = statistics.random", "uses statistics.random"),
        ("import shelve", "imports shelve, which no suite needs"),
        ("import runpy", "imports runpy, which no suite needs"),
        ("import webbrowser", "imports webbrowser, which no suite needs"),
        ("import polars", "the suite imports polars; only the standard library"),
    ],
)
def test_what_runs_text_or_pickles_or_starts_things_is_on_no_list(tests, words):
    assert words in (problem(tests + "\n" + GOOD) or "let through")


@pytest.mark.parametrize(
    "tests",
    [
        "def test_a():\n    with pytest.raises(ValueError, match='negative'):\n        f(-1)",
        "def test_a():\n    with pytest.raises(ValueError) as caught:\n        f(-1)\n    assert "
"'negative' in str(caught.value)",
        "def test_a():\n    pytest.raises(ValueError, f, -1)",
        "def test_a():\n    data = [3, 1]\n    f(data)\n    assert data == [3, 1]",
        "def test_a(capsys):\n    f(1)\n    assert capsys.readouterr().out == ''",
        "def test_a(tmp_path):\n    path = tmp_path / 'x'\n    f(str(path))\n    assert "
"path.read_text() == 'x'",
        "def check(got, wanted):\n    assert got == wanted\ndef test_a():\n    check(f(1), 2)",
        "def check(given, wanted):\n    assert f(given) == wanted\ndef test_a():\n    check(1, 2)",
        "def check(candidate):\n    assert candidate(1) == 2\ndef test_a():\n    check(f)",
        "def check(f):\n    assert f(1) == 2\ndef test_a():\n    check(f)",
        "RESULT = f(1)\ndef test_a():\n    assert RESULT == 2",
        "@pytest.fixture\ndef result():\n    return f(1)\ndef test_a(result):\n    assert result "
"== 2",
        "@pytest.fixture(params=[(1, 2)])\ndef case(request):\n    return request.param\ndef "
"test_a(case):\n"
        "    assert f(case[0]) == case[1]",
        "CASES = [(1, 2), (2, 3)]\n@pytest.mark.parametrize(('n', 'm'), CASES)\ndef test_a(n, "
"m):\n    assert f(n) == m",
        "each = pytest.mark.parametrize('n', [1, 2])\n@each\ndef test_a(n):\n    assert f(n) > n",
        "@pytest.mark.parametrize('input, expected', [(1, 2)])\ndef test_a(input, expected):\n    "
"assert f(input) == expected",
        "@pytest.mark.parametrize('call', [f])\ndef test_a(call):\n    assert call(1) == 2",
        "class TestF:\n    def setup_method(self):\n        self.result = f(1)\n    def "
"test_a(self):\n        assert self.result == 2",
        "class TestF:\n    @pytest.mark.parametrize('n', [1])\n    def test_a(self, n):\n        "
"assert f(n) == 2",
        "import unittest\nclass F(unittest.TestCase):\n    def test_a(self):\n        "
"self.assertEqual(f(1), 2)\n"
        "        with self.assertRaises(ValueError):\n            f(-1)",
        "def test_a():\n    assert all(f(n) == n + 1 for n in range(5))",
        "def test_a():\n    for n, m in [(1, 2), (2, 3)]:\n        assert f(n) == m",
        "def test_a():\n    assert list(map(f, [1, 2])) == [2, 3]",
        "def test_a():\n    results = []\n    for n in (1, 2):\n        results.append(f(n))\n    "
"assert results == [2, 3]",
        "def test_a():\n    by_number = {}\n    by_number[1] = f(1)\n    assert by_number == {1: "
"2}",
        "def test_a():\n    assert f(a=1, b=2) == f(a=2, b=1)",
        "def test_a():\n    assert f(f(1)) == f(1)",
        "def test_a():\n    assert f(1) == pytest.approx(2.0)",
        "def test_a():\n    try:\n        f(-1)\n        assert False\n    except ValueError:\n   "
"     pass",
        "def test_a():\n    try:\n        f(-1)\n    except ValueError:\n        pass\n    "
"else:\n        pytest.fail('no error')",
        "def test_a():\n    try:\n        f(-1)\n    except Exception as error:\n"
        "        assert isinstance(error, ValueError)\n    else:\n        raise AssertionError",
        "def test_a():\n    if f(1) != 2:\n        pytest.fail('wrong')",
        "import random\ndef test_a():\n    rng = random.Random(1)\n    n = rng.randint(1, 9)\n    "
"assert f(n) == n + 1",
        "import random\nrandom.seed(42)\ndef test_a():\n    n = random.randint(1, 9)\n    assert "
"f(n) == n + 1",
        "import datetime\ndef test_a():\n    assert f(datetime.date(2024, 1, 1)) == "
"datetime.date(2024, 1, 2)",
        "import sys\ndef test_a():\n    assert f(sys.maxsize) == sys.maxsize + 1",
        "import io, contextlib\ndef test_a():\n    out = io.StringIO()\n    with "
"contextlib.redirect_stdout(out):\n"
        "        f(1)\n    assert f(1) == 2",
        "import copy, json, math, itertools, collections, decimal, re, string, functools\ndef "
"test_a():\n    assert math.isclose(f(1), 2)",
        "def own(n):\n    return n + 1\ndef test_a():\n    assert f(1) == own(1)",
        "def test_a():\n    result = f(1)\n    assert isinstance(result, int)\n    assert result "
"== 2",
        "def test_a():\n    assert f(1) == 2\n    assert True",
        "def test_a():\n    with pytest.warns(UserWarning):\n        f(1)",
        "def test_a():\n    assert f(2) == 4\ndef test_b():\n    assert f(2) == 4.0\ndef "
"test_c():\n"
        "    assert f(3) == True\n    assert f(3) == 1",
        "def test_a():\n    it = f(3)\n    assert next(it) == 1\n    assert next(it) == 2",
        "if __name__ == '__main__':\n    import sys\n    sys.exit(pytest.main([__file__]))\ndef "
"test_a():\n    assert f(1) == 2",
        "sum = 3\ndef test_a():\n    assert f(1) == sum",
        "def test_a():\n    match f(1):\n        case [x, y]:\n            assert x == 2",
        "def test_a():\n    assert (result := f(1)) == 2\n    assert result",
        "def test_a():\n    from f import f\n    assert f(1) == 2",
        "class Point:\n    def __init__(self, x): self.x = x\ndef test_a():\n    p = Point(1)\n   "
" p.x = 3\n    assert f(p.x) == 4",
        "def test_a():\n    text = f(1)\n    lines = text.splitlines()\n    head, *rest = lines\n"
        "    assert head == 'x'\n    assert len(rest) == 2",
        "import numpy as np\ndef test_a():\n    np.testing.assert_allclose(f(np.array([1.0])), "
"[2.0])",
        "import pandas as pd\ndef test_a():\n    "
"pd.testing.assert_frame_equal(f(pd.DataFrame({'a': [1]})), pd.DataFrame({'a': [2]}))",
        "from numpy.testing import assert_allclose\nfrom numpy.linalg import norm\ndef "
"test_a():\n    assert_allclose(norm(f(1)), 2)",
        "import numpy as np\ndef test_a():\n    assert isinstance(f(1), np.ndarray) and "
"np.ndarray.tolist(f(1)) == [1] and np.__version__",
        "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\ndef test_a():\n"
        "    assert f(1) == 2\n    plt.close('all')",
        "import pandas as pd\ndef test_a():\n    df = pd.DataFrame({'a': [1]})\n"
        "    assert f(df.groupby('a').agg('sum').apply(lambda row: row).index.tolist()) == [1]",
        "def test_a():\n    table = f(1)\n    assert table.query('a') == 2",
        "import xml.etree.ElementTree as ET\nfrom collections.abc import Iterator\nfrom xml.dom "
"import minidom\ndef test_a():\n"
        "    assert ET.fromstring(f(1)).tag == 'a'\n    assert isinstance(iter(f(1)), Iterator)",
        "from datetime import datetime, time\nimport datetime as dt\nimport copy, os.path\ndef "
"test_a():\n"
        "    assert f(dt.time(1)) == datetime(2024, 1, 1, tzinfo=dt.timezone.utc)\n    assert "
"copy.copy(f(1)) == os.path.join('a')",
        "import collections\ndef test_a():\n    assert f(1) == "
"collections.OrderedDict.copy(collections.OrderedDict(a=1))",
        "import asyncio\nfrom concurrent.futures import ThreadPoolExecutor\nimport threading\ndef "
"test_a():\n"
        "    with ThreadPoolExecutor() as pool:\n        assert list(pool.map(f, [1])) == [2]",
        "from dateutil.relativedelta import relativedelta\nfrom dateutil import parser\ndef "
"test_a():\n"
        "    assert f(parser.parse('2024-01-01')) == relativedelta(days=1)",
        "import numpy as np\ndef test_a():\n    rng = np.random.default_rng(1)\n    assert "
"f(rng.integers(9)) == 3",
    ],
)  # fmt: skip
def test_honest_suites_are_let_through(tests):
    assert problem(tests + "\n" + GOOD) is None


def test_a_module_may_be_imported_instead_of_the_function():
    assert suite_problem("import f\n\ndef test_a():\n    assert f.f(1) == 2\n", "f") is None
    assert (
        suite_problem(
            "from f import *\n\ndef test_a():\n    assert f(1) == 2\n    assert helper(2) == 1\n",
            "f",
        )
        is None
    )


@pytest.mark.parametrize(
    ("tests", "words"),
    [
        (
            "import pytest\npytestmark=pytest.mark.skip\ndef test_a(): assert False",
            "the suite uses pytest's skip; every test must run",
        ),
        (
            "def test_a(): assert f(1) == 2",
            "the suite does not import the function with `from f import f`",
        ),
    ],
)
def test_the_worst_is_told_first(tests, words):
    assert suite_problem(tests, "f").startswith(words)


def test_a_deep_suite_is_refused_in_words():
    assert suite_problem(
        f"from f import f\n\ndef test_a():\n    assert f{'(1)' * 3000} == 2\n", "f"
    ).startswith("the suite is ")


@pytest.mark.parametrize(
    "statement",
    [
        "import calendar\ncalendar.setfirstweekday(6)",
        "from calendar import setfirstweekday as first\nfirst(6)",
        "import decimal\ndecimal.getcontext().prec = 5",
        "from decimal import getcontext\ncontext = getcontext()\ngetcontext().traps.clear()",
        "import locale\nif True:\n    locale.setlocale(locale.LC_ALL, 'C')",
        "import warnings\nwarnings.simplefilter('error')",
    ],
)
def test_what_all_tests_share_is_not_changed_while_a_suite_is_loaded(statement):
    told = problem(f"{statement}\n{GOOD}")
    assert told
    assert "the suite changes what all tests share with" in told
    indented = statement.replace("\n", "\n    ")
    assert (
        problem(f"import pytest\n@pytest.fixture\ndef switch():\n    {indented}\n\n{GOOD}") is None
    )


def test_a_suite_may_change_its_own_values_while_it_is_loaded():
    own = "CASES = []\nCASES.append(1)\nWANTED = {}\nWANTED['a'] = CASES[0]\n"
    assert problem(f"{own}\n{GOOD}") is None
