"""The tests' view of a tool in another process: its functions, exceptions, records and values, as
if they had imported it.
"""

import inspect
import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sandbox_worker import tool_process
from sandbox_worker.frames import Channel, Message
from sandbox_worker.tool_proxy import NotPassed, ProxyModule, ToolGone, ToolLink
from selfeng.sandboxes.job_sources import exported_names

SOURCE = '''
import enum, functools
from collections.abc import Iterator
from collections import namedtuple
from dataclasses import dataclass, field

LIMIT = 10
NAMES = {"a": [1, 2]}

class TooBig(ValueError):
    """Too big."""
    def __init__(self, value, hint):
        super().__init__(f"{value} is too big")
        self.value, self.hint = value, hint

class Colour(enum.Enum):
    RED = "r"
    BLUE = "b"

@dataclass
class Point:
    x: int
    y: int = 2
    tags: list = field(default_factory=list)

Pair = namedtuple("Pair", "first second", defaults=[5])

class Stack:
    def __init__(self): self.items = []
    def push(self, item): self.items.append(item); return self
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
    def __eq__(self, other): return True
    __hash__ = None

def add(a: int, b: int = 2) -> int:
    """Add."""
    return a + b

def check(value): raise TooBig(value, "less")
def chained():
    try: {}["x"]
    except KeyError as error: raise RuntimeError("outer") from error
def missing(): open("/does/not/exist")
def pop(items): return items.pop()
def clear(*, mapping): mapping.clear()
def count(n) -> Iterator[int]:
    for i in range(n): yield i
def move(point): point.x += 1; return point
def adder(n): return lambda m: n + m
def colour(name): return Colour[name]
def pair(): return Pair(1)
def say(text): print(text)
@functools.lru_cache
def cached(n): return n
def test_looking(): return 1
'''


@pytest.fixture
def tool() -> Iterator[Any]:
    """The module as tests see it; the tool itself is served by a thread over a socket, as its
    process does it.
    """
    here, there = socket.socketpair()
    module = tool_process.load("proxied_tool", SOURCE)
    channel = Channel(there)
    thread = threading.Thread(
        target=tool_process._serve, args=(module, channel.receive, channel.send)
    )
    thread.start()
    yield ProxyModule("proxied_tool", ToolLink(Channel(here)), *exported_names(SOURCE))
    here.shutdown(socket.SHUT_RDWR)
    thread.join()
    here.close()
    there.close()


def test_functions_are_called_with_their_arguments_and_look_like_functions(tool: Any) -> None:
    assert [tool.add(1), tool.add(1, 1), tool.add(b=5, a=1)] == [3, 2, 6]
    assert (tool.add.__name__, tool.add.__doc__, inspect.isfunction(tool.add)) == (
        "add",
        "Add.",
        True,
    )
    assert str(inspect.signature(tool.add)) == "(a, b=2)"
    assert tool.cached(4) == 4


def test_values_of_the_module_are_there(tool: Any) -> None:
    assert (tool.LIMIT, tool.NAMES) == (10, {"a": [1, 2]})
    assert {"add", "LIMIT", "TooBig"} <= set(tool.__all__)
    with pytest.raises(AttributeError, match="module 'proxied_tool' has no attribute 'nothing'"):
        _ = tool.nothing


def test_exceptions_have_local_copies(tool: Any) -> None:
    with pytest.raises(tool.TooBig, match=r"^11 is too big$") as raised:
        tool.check(11)
    assert isinstance(raised.value, ValueError)
    assert (raised.value.value, raised.value.hint, raised.value.args) == (
        11,
        "less",
        ("11 is too big",),
    )
    assert raised.value._sandbox_frames == [
        # where in the tool it came from
        'proxied_tool.py, line 40, in check: def check(value): raise TooBig(value, "less")'
    ]


def test_causes_and_built_in_details_arrive(tool: Any) -> None:
    with pytest.raises(RuntimeError) as raised:
        tool.chained()
    assert repr(raised.value.__cause__) == "KeyError('x')"
    with pytest.raises(FileNotFoundError, match="No such file or directory: '/does/not/exist'"):
        tool.missing()


def test_changes_of_arguments_are_seen(tool: Any) -> None:
    items, mapping = [1, 2], {"a": 1}
    assert tool.pop(items) == 2
    tool.clear(mapping=mapping)
    assert (items, mapping) == ([1], {})


def test_generators_run_as_far_as_they_are_asked(tool: Any) -> None:
    numbers = tool.count(10**9)
    assert [next(numbers), next(numbers)] == [0, 1]
    assert list(tool.count(3)) == [0, 1, 2]


def test_records_compare_by_value(tool: Any) -> None:
    assert tool.Point(1) == tool.Point(1, 2, [])
    assert tool.move(tool.Point(1, 3)) == tool.Point(2, 3)
    assert tool.pair() == (1, 5) == tool.Pair(1)
    assert tool.pair().second == 5


def test_enums_are_enums(tool: Any) -> None:
    assert tool.colour("RED") is tool.Colour.RED
    assert [c.value for c in tool.Colour] == ["r", "b"]


def test_closures_can_be_called(tool: Any) -> None:
    assert tool.adder(1)(2) == 3


def test_objects_stay_in_the_tool_and_equal_only_themselves(tool: Any) -> None:
    stack = tool.Stack()
    stack.push(1).push(2)
    assert (list(stack), len(stack), stack.items, isinstance(stack, tool.Stack)) == (
        [1, 2],
        2,
        [1, 2],
        True,
    )
    assert stack != [1, 2]
    assert stack != tool.Stack()


def test_what_a_tool_prints_is_printed_here(tool: Any, capsys: pytest.CaptureFixture[str]) -> None:
    tool.say("hello")
    assert capsys.readouterr().out == "hello\n"


def test_arguments_that_are_not_plain_are_refused(tool: Any) -> None:
    with pytest.raises(
        NotPassed, match="an argument of type object can't be passed to the tool; pass plain values"
    ):
        tool.add(object())


def describe(kind: str, **fields: Any) -> Message:
    return {"module": "solution", "qualname": "X", "name": "X", "kind": kind, **fields}


LYING = ["function", {"handle": 1, "name": "eq", "doc": None, "parameters": None}]


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"value": ["nonsense", 1]},
        {"value": ["list"]},
        {"error": ["exception", {}]},
        {
            "value": [
                "record",
                {
                    "class": describe("record", fields=["__eq__"], defaults=[], tuple=False),
                    "fields": [],
                },
            ]
        },
        {
            "value": [
                "member",
                {
                    "class": describe("enum", base="Enum", members=[["__eq__", LYING]]),
                    "name": "__eq__",
                },
            ]
        },
        {
            "error": [
                "exception",
                {
                    "class": describe("exception", bases=[]),
                    "args": [],
                    "fields": [["__eq__", 1]],
                    "text": "",
                    "traceback": [],
                    "cause": None,
                },
            ]
        },
    ],
)
def test_a_disorderly_answer_ends_the_test(
    reply: Message, answering: Callable[[Message], ToolLink]
) -> None:
    with pytest.raises(ToolGone):
        answering(reply).get("x")


def test_no_special_method_comes_from_the_tool(answering: Callable[[Message], ToolLink]) -> None:
    members = [["__eq__", LYING], ["__bool__", LYING], ["A", 1]]
    enum = answering({"value": ["class", describe("enum", base="Enum", members=members)]}).get("x")
    assert (enum.A == 2, list(enum)) == (False, [enum.A])


@pytest.mark.parametrize(
    "name",
    ["unittest.case._ShouldStop", "unittest.case.SkipTest", "_pytest.outcomes.Exit", "bdb.BdbQuit"],
)
def test_the_tool_cannot_raise_what_steers_a_test_run(
    name: str, answering: Callable[[Message], ToolLink]
) -> None:
    module, _, qualname = name.rpartition(".")
    described = {
        "module": module,
        "qualname": qualname,
        "name": qualname,
        "kind": "exception",
        "bases": [],
    }
    twin = answering({"value": ["class", described]}).get("x")
    assert (twin.__mro__[1:], twin.__name__) == (Exception.__mro__, qualname)


@pytest.fixture
def answering() -> Iterator[Callable[[Message], ToolLink]]:
    """A link to a tool that gives one prepared answer."""
    ends: list[socket.socket] = []

    def link(reply: Message) -> ToolLink:
        here, there = socket.socketpair()
        ends.extend((here, there))
        Channel(there).send(reply)
        return ToolLink(Channel(here))

    yield link
    for end in ends:
        end.close()
