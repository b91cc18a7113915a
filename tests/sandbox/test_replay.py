"""Replays: which tests look at what a tool did, and which pass whatever that was."""

import pytest

from selfeng.core.verdict import Replay, SandboxJob, Version
from selfeng.sandbox import SecureSandbox

pytestmark = pytest.mark.asyncio(loop_scope="session")

HEAD = "import pytest\nfrom tool import tool\n\n"
SORT = "def tool(items):\n    return sorted(items)\n"
EMPTY = "def tool(items):\n    return []\n"
ASCENDING = "def test_a():\n    out = tool([3, 1, 2])\n    assert all(a <= b for a, b in zip(out, out[1:]))\n"
EXACT = "def test_b():\n    assert tool([]) == []\n"
CIRCULAR = "def test_a():\n    items = [3, 1, 2]\n    assert tool(items) == sorted(items)\n"
UNSEEN = (
    "test_a passes whether what tool([3, 1, 2]) returns is empty or not; compare it with a literal"
)
IDLE = "test_a passes whatever tool does; compare what it returns with a literal"
STACK = """
class Stack:
    def __init__(self): self.items = []
    def push(self, item): self.items.append(item); return self
    def holds(self, item): return {holds}
    def __iter__(self): return iter(self.items)
def tool():
    return Stack()
"""
METHODS = """def test_a():
    stack = tool().push(2).push(3)
    assert stack.items == [2, 3] and list(stack) == [2, 3]
def test_b():
    assert tool().push(5).holds(5)
"""
FILE = "def test_a(tmp_path):\n    path = tmp_path / 'a.csv'\n    tool(str(path))\n"


async def replayed(sandbox: SecureSandbox, code: str, tests: str, how: str = "quick") -> Replay:
    (verdict,) = await sandbox.verify_versions(
        SandboxJob("tool", tests=HEAD + tests), [Version(code=code, whole=True, replay=how)]
    )
    assert verdict.passed, verdict
    assert verdict.replay is not None
    return verdict.replay


@pytest.mark.parametrize(
    ("code", "tests", "reason"),
    [
        pytest.param(EMPTY, ASCENDING + EXACT, UNSEEN, id="nothing to compare"),
        pytest.param(
            "def tool(items):\n    return {'n': 3, 'words': []}\n",
            "def test_a():\n    r = tool('a')\n    assert r['n'] == 3\n"
            "    for w in r['words']: assert w.islower()\n",
            "test_a passes whether a part of what tool('a') returns is empty or not",
            id="an empty member",
        ),
        pytest.param(
            "def tool(items):\n    items.clear()\n    return []\n",
            CIRCULAR,
            "test_a computes what it expects from what tool left in its argument",
            id="an expectation from the argument",
        ),
        pytest.param(
            "def tool(items):\n    items.clear()\n",
            "def test_a():\n    items = [3, -1]\n    tool(items)\n    assert all(i > 0 for i in items)\n",
            "test_a passes whether argument 1 after tool([3, -1]) is empty or not",
            id="an emptied argument",
        ),
        pytest.param(
            "def tool(path):\n    open(path, 'w').write('name,age\\n')\n",
            FILE + "    for line in path.read_text().splitlines()[1:]: assert ',' in line\n",
            "test_a passes whether the file a.csv after tool(",
            id="a file without rows",
        ),
        pytest.param(
            "def tool(rows):\n    pass\n",
            "def test_a(capsys):\n    tool([1])\n"
            "    assert all(x.isdigit() for x in capsys.readouterr().out.split())\n",
            "test_a passes whether what tool([1]) prints is empty or not",
            id="nothing printed",
        ),
        pytest.param(
            "import json\ndef tool(n):\n    return json.dumps({'sum': float('nan')})\n",
            "import json\ndef test_a():\n    assert not json.loads(tool(1))['sum'] > 5\n",
            "test_a passes whether a part of what tool(1) returns is None or not",
            id="NaN in JSON",
        ),
        pytest.param(
            "import struct\ndef tool(n):\n    return struct.pack('<d', float('nan'))\n",
            "import struct\ndef test_a():\n"
            "    assert not abs(struct.unpack('<d', tool(1))[0] - 2) > 0.1\n",
            "test_a passes whether a part of",
            id="NaN in bytes",
        ),
        pytest.param(
            "import enum\nclass E(enum.Enum):\n    A = float('inf')\ndef tool(n):\n    return E.A\n",
            "def test_a():\n    assert not tool(1).value < 3\n",
            "test_a passes whether a part of",
            id="infinity in an enum",
        ),
        pytest.param(
            SORT,
            "def test_a():\n    one, other = tool([2, 1]), tool([2, 1])\n    assert one == other\n",
            IDLE,
            id="a call compared with itself",
        ),
        pytest.param(SORT, "def test_a():\n    assert 1 + 1 == 2\n" + EXACT, IDLE, id="no call"),
        pytest.param(
            STACK.replace("{holds}", "True"),
            METHODS.replace("test_b", "test_x").replace("test_a", "test_b").replace("test_x", "test_a"),
            IDLE,
            id="a method that agrees",
        ),
        pytest.param(
            STACK.replace("{holds}", "item > 0"),
            "def test_a():\n    assert tool().push(5).holds(5)\n",
            IDLE,
            id="a method that agrees to all of one sign",
        ),
        pytest.param(
            STACK.replace("{holds}", "{*item} - {'a', 'b'}"),
            "def test_a():\n    assert tool().push(5).holds({'a': 5, 'b': 2}) == set()\n",
            IDLE,
            id="a difference of keys only",
        ),
        pytest.param(
            "def tool(items):\n    return len(items)\n",
            "def test_a():\n    items = [1, None]\n    assert tool(items) == 2\n"
            "    if items[1] is not None:\n        assert items[1] == 3\n",
            "the body of the condition in line 7 never runs in test_a",
            id="a condition that never holds",
        ),
        pytest.param(
            "X = tool = lambda items: float('nan')\n",
            "X = tool([1])\ndef test_a():\n    assert not X < 4\n",
            "test_a passes whe",
            id="a call while the suite is loaded",
        ),
    ],
)  # fmt: skip
async def test_a_test_that_looks_at_nothing_is_refused(
    sandbox: SecureSandbox, code: str, tests: str, reason: str
) -> None:
    refused = dict((await replayed(sandbox, code, tests)).refused)
    assert reason in refused["test_a"]


@pytest.mark.parametrize(
    ("code", "tests"),
    [
        pytest.param(SORT, ASCENDING + EXACT, id="a property"),
        pytest.param(SORT, CIRCULAR, id="an expectation from an argument that is left alone"),
        pytest.param(
            "def tool(items):\n    return items.pop()\n",
            "def test_a():\n    items = [1, 2]\n    assert tool(items) == 2\n    assert items == [1]\n"
            "def test_b():\n    items = [4, 5, 6]\n    assert (tool(items), len(items)) == (6, 2)\n",
            id="a tool that changes its argument and returns",
        ),
        pytest.param(
            SORT,
            "def test_a():\n    items = [2, 1]\n    tool(items)\n    assert items == [2, 1]\n",
            id="an argument that stays as it is",
        ),
        pytest.param(STACK.replace("{holds}", "item in self.items"), METHODS, id="methods"),
        pytest.param(
            "def tool(n):\n    return {'a': 1, 'errors': []}\n",
            "import json\ndef test_a():\n    r = tool(1)\n    assert json.loads(json.dumps(r))['a'] == 1\n"
            "    assert isinstance(r['errors'], list)\n",
            id="an empty member that only types look at",
        ),
        pytest.param(
            "def tool(now, then):\n    return (now - then).days\n",
            "from datetime import datetime, timedelta\ndef test_a():\n    now = datetime.now()\n"
            "    assert tool(now, now - timedelta(days=3)) == 3\n",
            id="a clock",
        ),
        pytest.param(
            "import random\ndef tool(items):\n    return random.sample(items, len(items))\n",
            "import random\ndef test_a():\n    items = [random.random() for _ in range(5)]\n"
            "    assert sorted(tool(items)) == sorted(items)\n",
            id="chance",
        ),
        pytest.param(
            "from collections.abc import Iterator\ndef tool(n) -> Iterator[int]:\n"
            "    while True:\n        yield n\n        n += 1\n",
            "from itertools import islice\ndef test_a():\n"
            "    assert list(islice(tool(3), 2)) == [3, 4]\n",
            id="an endless iterator",
        ),
        pytest.param(
            "def tool(path):\n    open(path, 'w').write('a;b\\n1;2\\n')\n    return 1\n",
            FILE + "    assert path.read_text() == 'a;b\\n1;2\\n'\n",
            id="a file",
        ),
        pytest.param(
            "import math\ndef tool(items):\n    return math.nan if not items else items[0]\n",
            "import math\ndef test_a():\n    assert math.isnan(tool([]))\n",
            id="NaN that is meant",
        ),
        pytest.param(
            "def tool(items):\n    return ' '.join('nan' if not i else str(i) for i in items)\n",
            "def test_a():\n    assert tool([0, 1]).split() == ['nan', '1']\n",
            id="NaN that is meant in a text",
        ),
        pytest.param(
            STACK.replace("{holds}", "item in {**self.items[0]}.items()"),
            "def test_a():\n    assert tool().push({'a': 5}).holds(('a', 5))\n",
            id="a method that compares",
        ),
        pytest.param(
            "def tool(n):\n    raise ValueError(f'{n} is too large')\n",
            "def test_a():\n    with pytest.raises(ValueError, match='too large'): tool(5)\n",
            id="an exception",
        ),
        pytest.param(
            "def tool(n):\n    return n * 2\n",
            "import asyncio\ndef test_a():\n    async def run():\n"
            "        async with asyncio.TaskGroup() as group:\n"
            "            tasks = [group.create_task(asyncio.to_thread(tool, n)) for n in (1, 2)]\n"
            "        return [t.result() for t in tasks]\n    assert asyncio.run(run()) == [2, 4]\n",
            id="tasks of a group",
        ),
    ],
)  # fmt: skip
async def test_a_test_that_looks_at_the_tool_is_evidence(
    sandbox: SecureSandbox, code: str, tests: str
) -> None:
    assert (await replayed(sandbox, code, tests)).refused == ()


async def test_what_no_test_would_notice_is_named(sandbox: SecureSandbox) -> None:
    replay = await replayed(sandbox, SORT, ASCENDING)
    assert replay.gaps == ("no test notices when what tool returns comes back empty",)
    assert (await replayed(sandbox, SORT, ASCENDING + EXACT + CIRCULAR)).gaps == ()


async def test_all_alterations_are_tried_where_their_share_counts(sandbox: SecureSandbox) -> None:
    exact = await replayed(
        sandbox, SORT, "def test_a():\n    assert tool([2, 1]) == [1, 2]\n", "thorough"
    )
    loose = await replayed(
        sandbox, SORT, "def test_a():\n    assert len(tool([2, 1])) == 2\n", "thorough"
    )
    assert exact.tried == exact.noticed
    assert loose.noticed <= loose.tried / 2


@pytest.mark.parametrize(
    ("code", "test", "message"),
    [
        (
            "class X: __iter__ = lambda self: iter(range(10**9))\ndef tool(n):\n    return X()\n",
            "with pytest.raises(TypeError): tool(1)",
            "a range_iterator has more than 10000 values",
        ),
        (
            "def tool(n):\n    return n\n",
            "with pytest.raises(TypeError): tool(object())",
            "an argument of type object can't be passed to the tool",
        ),
        (
            "import asyncio\ndef tool(n):\n    raise asyncio.CancelledError\n",
            "import asyncio\n    async def run():\n        async with asyncio.TaskGroup() as group:\n"
            "            group.create_task(asyncio.to_thread(tool, 1))\n    asyncio.run(run())",
            "the tool raised CancelledError, which ends the loop or task",
        ),
    ],
    ids=["a value", "an argument", "a cancellation"],
)
async def test_what_the_harness_raises_is_not_the_tools(
    sandbox: SecureSandbox, code: str, test: str, message: str
) -> None:
    (verdict,) = await sandbox.verify_versions(
        SandboxJob("tool", tests=f"{HEAD}def test_a():\n    {test}\n"),
        [Version(code=code, whole=True)],
    )
    assert not verdict.passed
    assert message in verdict.tests[0].message
