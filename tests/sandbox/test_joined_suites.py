"""Suites of two versions as one: what each test means it still means, on a real backend."""

import pytest

from selfeng.core.verdict import SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis.checks import suite_problem
from selfeng.synthesis.suite.joining import join

pytestmark = pytest.mark.asyncio(loop_scope="session")

CODE = "def tool(n):\n    return 2 * n\n"
HEAD = "import pytest\nfrom tool import tool\n\n"
PAIRS = {
    "helpers and constants": (
        "BASE = 1\nWANTED = {1: 2}\n\ndef check(n):\n    assert tool(n) == WANTED[n]\n\ndef "
        "test_it():\n"
        "    check(BASE)\n    assert tool(1) == 2\n",
        "BASE = 5\nWANTED = [10]\n\ndef check(wanted, BASE=BASE):\n    return tool(BASE) == "
        "wanted[0]\n\ndef test_it():\n"
        "    assert check(WANTED)\n    assert tool(BASE) == 10\n",
    ),
    "fixtures that are asked for": (
        "@pytest.fixture\ndef data():\n    return 1\n\n@pytest.fixture(name='pair')\ndef "
        "both(data):\n    return [data, 2]\n\n"
        "def test_pair(pair, data):\n    assert [tool(data), pair[1]] == [2, 2]\n",
        "@pytest.fixture(params=[3, 4])\ndef data(request):\n    return "
        "request.param\n\n@pytest.fixture\ndef pair(data):\n"
        "    def both():\n        nonlocal data\n        data += 1\n        return data, data - "
        "1\n    return both\n\n"
        "def test_pair(pair, data):\n    assert tool(pair()[1]) == 2 * data\n",
    ),
    "parametrized fixtures": (
        "@pytest.fixture\ndef n(request):\n    return request.param + 1\n\n"
        "@pytest.mark.parametrize('n, want', [(1, 4), (2, 6)], indirect=['n'])\ndef test_n(n, "
        "want):\n    assert tool(n) == want\n",
        "NAMES = ('n', 'want')\n\n@pytest.fixture\ndef n():\n    return 'never'\n\n"
        "@pytest.mark.parametrize(NAMES, [(1, 2), (2, 4)])\ndef test_n(n, want):\n    assert "
        "tool(n) == want\n",
    ),
    "fixtures for all, and state": (
        "SEEN = []\n\n@pytest.fixture(autouse=True)\ndef fresh():\n    SEEN.clear()\n    "
        "SEEN.append(1)\n\n"
        "def test_seen():\n    assert tool(SEEN[0]) == 2\n    assert len(SEEN) == 1\n",
        "SEEN = 7\n\n@pytest.fixture(autouse=True)\ndef fresh():\n    global SEEN\n    SEEN = "
        "SEEN + 1\n    yield\n    SEEN = 7\n\n"
        "class TestSeen:\n    def test_seen(self):\n        assert tool(SEEN) == 16\n\ndef "
        "test_seen():\n    assert tool(SEEN) == 16\n",
    ),
    "fixtures for all that would disturb": (
        "def test_type():\n    assert tool(4) == 8\n    assert isinstance(N, int)\n\nN = "
        "4\n\n@pytest.fixture(autouse=True)\n"
        "def whole():\n    assert isinstance(N, int)\n",
        "N = None\n\n@pytest.fixture(autouse=True)\ndef whole():\n    assert N is None\n\ndef "
        "test_type():\n"
        "    assert N is None\n    assert tool(4) == 8\n",
    ),
    "marks that name fixtures": (
        "LOG = []\n\n@pytest.fixture\ndef noted():\n    "
        "LOG.append(3)\n\n@pytest.mark.usefixtures('noted')\n"
        "def test_log():\n    assert tool(LOG[-1]) == 6\n",
        "LOG = {}\n\n@pytest.fixture\ndef noted():\n    LOG['n'] = "
        "4\n\n@pytest.mark.usefixtures('noted')\nclass TestLog:\n"
        "    def test_log(self):\n        assert tool(LOG['n']) == 8\n",
    ),
    "classes": (
        "class Base:\n    given = 3\n\nclass TestAll(Base):\n    def setup_method(self):\n        "
        "self.wanted = 6\n"
        "    def test_it(self):\n"
        "        assert tool(self.given) == self.wanted\n",
        "import unittest\n\nclass Base(unittest.TestCase):\n    given = 5\n\nclass "
        "TestAll(Base):\n    @pytest.fixture(autouse=True)\n"
        "    def wanted(self):\n        self.wanted = 10\n    def test_it(self):\n"
        "        self.assertEqual(tool(self.given), self.wanted)\n",
    ),
    "imports": (
        "from math import floor as half\nimport os.path\n\ndef test_half():\n    assert "
        "tool(half(2.5)) == 4\n"
        "    assert os.path.basename('a/b') == 'b'\n",
        "from math import ceil as half\nfrom collections import deque as os\n\ndef test_half():\n"
        "    assert tool(half(2.5)) == 6\n    assert len(os([1])) == 1\n",
    ),
    "names of Python and pytest": (
        "@pytest.fixture\ndef tmp_path():\n    return 'none'\n\nlen = 3\n\ndef "
        "test_own(tmp_path):\n    assert tool(len) == 6\n",
        "def test_own(tmp_path):\n    assert tmp_path.is_dir()\n    assert tool(len('ab')) == 4\n",
    ),
    "comprehensions and inner names": (
        "n = 3\nall_of = [tool(n) for n in (1, 2)]\n\ndef test_all():\n    assert all_of == [2, "
        "4]\n"
        "    assert [tool(m) for m in [n] if (k := m)] == [6]\n",
        "n = [4]\nall_of = {k: tool(k) for k in n}\n\nclass TestAll:\n    n = n\n    def "
        "test_all(self):\n"
        "        assert all_of == {4: 8}\n"
        "        assert (lambda n: tool(n))(self.n[0]) == 8\n\ndef test_all():\n    for n in "
        "(5,):\n        assert tool(n) == 10\n",
    ),
    "the same name from the future": (
        "from __future__ import annotations\n\ndef helper(n: Unknown):\n    return tool(n)\n\ndef "
        "test_helper():\n"
        "    assert helper(1) == 2\n",
        '"""More tests."""\nfrom __future__ import annotations\n\n__all__ = ["helper"]\n\ndef '
        "helper(n: Other):\n"
        "    return tool(n + 1)\n\n"
        "def test_helper():\n    assert helper(1) == 4\n    assert "
        "__all__[0].startswith('helper')\n",
    ),
}


@pytest.mark.parametrize("what", PAIRS)
async def test_tests_of_two_versions_keep_what_is_their_own(
    sandbox: SecureSandbox, what: str
) -> None:
    suites = [_with_head(source) for source in PAIRS[what]]
    assert [suite_problem(suite, "tool") for suite in suites] == [None, None]
    alone = [
        await sandbox.verify(SandboxJob("tool", CODE, suite), lambda _: None) for suite in suites
    ]
    for order in (suites, suites[::-1]):
        whole = join(*order).source
        assert suite_problem(whole, "tool") is None
        together = await sandbox.verify(SandboxJob("tool", CODE, whole), lambda _: None)
        assert (
            together.passed,
            together.problem,
            [t for t in together.tests if t.outcome != "passed"],
        ) == (True, None, []), whole
        assert len(together.tests) == sum(len(verdict.tests) for verdict in alone)


def _with_head(source: str) -> str:
    future = "from __future__ import annotations\n"
    return f"{future}{HEAD}{source.replace(future, '')}" if future in source else HEAD + source
