"""The executor: which arguments fit, what is asked again, what one run reports."""

import pytest

from selfeng.core.errors import SandboxUnavailable, ToolNotFound
from selfeng.core.events import (
    Event,
    Executing,
    ExecutionFailed,
    ExecutionFinished,
    ExecutionProgress,
    FilesMade,
    ToolStandingChanged,
)
from selfeng.core.files import File, FileReference
from selfeng.core.prompt import FunctionCall
from selfeng.core.signature import parse_signature
from selfeng.core.turn import EarlierFiles, Request, Turn
from selfeng.core.verdict import Execution, Killed, Raised
from selfeng.doors.turn_story import step_words
from selfeng.stages.execution.arguments import ArgumentsInvalid, bind
from selfeng.stages.executor import Call, Executor, Misfit, NoFit
from tests.doubles import ListedLibrary, ScriptedModel, ScriptedSandbox, returned, tool

SIGNATURE = parse_signature(
    """
def f(a: int, names: 'list[str]' = (), note: Optional[str] = None, mode: Literal['x', 'y'] = 'x', extra: dict[str, float] = None): ...
""",
    "f",
)


@pytest.mark.parametrize(
    ("given", "bound"),
    [
        ({"a": 1}, {"a": 1}),
        ({"a": 0, "names": None, "note": None}, {"a": 0}),
        ({"a": "15"}, {"a": 15}),
        ({"a": 3.0}, {"a": 3}),
        ({"a": 1, "names": [1, "b"]}, {"a": 1, "names": ["1", "b"]}),
        ({"a": 1, "mode": "y", "extra": {"k": "1.5"}}, {"a": 1, "mode": "y", "extra": {"k": 1.5}}),
        ({"a": 1, "names": [], "note": ""}, {"a": 1, "names": [], "note": ""}),
    ],
)
def test_arguments_are_converted_where_nothing_is_lost_and_null_means_the_default(given, bound):
    assert bind(SIGNATURE, given) == bound


@pytest.mark.parametrize(
    ("given", "problem", "missing"),
    [
        ({}, "f needs a", ("a",)),
        ({"a": None}, "f needs a", ("a",)),
        ({"a": 1, "b": 2}, "f has no parameter b; it takes a, names, note, mode, extra", ()),
        (
            {"a": 1.5},
            "a=1.5 is not int: Input should be a valid integer, got a number with a fractional "
            "part",
            (),
        ),
        (
            {"a": 1, "mode": "z"},
            "mode='z' is not Literal['x', 'y']: Input should be 'x' or 'y'",
            (),
        ),
    ],
)
def test_arguments_that_do_not_fit_are_named(given, problem, missing):
    with pytest.raises(ArgumentsInvalid) as caught:
        bind(SIGNATURE, given)
    assert (caught.value.problem, caught.value.missing) == (problem, missing)


def test_a_required_parameter_that_takes_none_may_be_null():
    assert bind(
        parse_signature("def f(a: str | None, b): ...", "f"), {"a": None, "b": {"x": 1}}
    ) == {"a": None, "b": {"x": 1}}


def test_a_required_parameter_of_an_unknown_type_is_missing_where_it_is_null():
    with pytest.raises(ArgumentsInvalid, match="f needs when") as caught:
        bind(parse_signature("def f(when: datetime): ...", "f"), {"when": None})
    assert caught.value.missing == ("when",)


def test_annotations_are_never_evaluated():
    signature = parse_signature("def f(a: __import__('os')._exit(3)): ...", "f")
    assert bind(signature, {"a": [1]}) == {"a": [1]}


def executor(
    model: ScriptedModel,
    sandbox: ScriptedSandbox | None = None,
    library: ListedLibrary | None = None,
) -> Executor:
    return Executor(model, sandbox or ScriptedSandbox(), library or ListedLibrary())


async def test_choice_and_arguments_come_from_one_model_call():
    model = ScriptedModel(FunctionCall(name="add_numbers", arguments={"a": 2, "b": None}))
    other = tool("other", "def other(x: str) -> str: ...")
    choice = await executor(model).choose(Turn(Request("2 plus 1"), [].append), [other, tool()])
    assert choice == Call(tool=tool(), arguments={"a": 2})
    assert str(choice) == "add_numbers(a=2)"
    assert model.asked() == ["decide"]


async def test_the_model_may_say_that_nothing_fits():
    model = ScriptedModel(
        FunctionCall(name="no_tool_fits", arguments={"reason": "it is about cats"})
    )
    assert await executor(model).choose(
        Turn(Request("cats"), [].append), [tool(), tool()]
    ) == NoFit(reason="it is about cats")


async def test_wrong_arguments_are_asked_for_once_more_with_the_problem():
    model = ScriptedModel(
        FunctionCall(name="add_numbers", arguments={"a": "two"}),
        FunctionCall(name="add_numbers", arguments={"a": 2}),
    )
    assert await executor(model).prepare(Turn(Request("two plus one"), [].append), tool()) == Call(
        tool=tool(), arguments={"a": 2}
    )
    assert "a='two' is not int" in model.prompts[1].messages[0].content


TAKINGS = File(name="takings.csv", content=b"shop,amount\nNorth,12.50\n")
BOOK = File(name="two.xlsx", content=b"PK")
PROFILES = {
    TAKINGS.reference().sha256: '{"kind": "table", "decimal": ".", "dates": "month first", "tables": [{}]}',
    BOOK.reference().sha256: '{"kind": "workbook", "tables": [{"decimal": ","}]}',
}
SUMS = tool(
    "sums",
    "def sums(paths: list[str], decimal: str = ',', day_first: bool | None = None, thousands: bool = True) -> float: ...",
)


@pytest.mark.parametrize(
    ("arguments", "call"),
    [
        ({"paths": ["takings.csv"]}, {"decimal": ".", "day_first": False}),
        ({"paths": ["takings.csv"], "decimal": ","}, {"decimal": ",", "day_first": False}),
        ({"paths": ["two.xlsx"]}, {}),
        ({"paths": ["takings.csv", "two.xlsx"]}, {}),
        ({"paths": ["elsewhere.csv"]}, {}),
    ],
    ids=["left open", "stated", "as the default", "files differ", "no profile"],
)
async def test_how_the_file_is_written_reaches_parameters_that_the_model_leaves_open(
    arguments: dict[str, object], call: dict[str, object]
) -> None:
    model = ScriptedModel(FunctionCall(name="sums", arguments=arguments))
    request = Request("Add up the takings", files=(TAKINGS, BOOK), profiles=dict(PROFILES))
    assert await executor(model).prepare(Turn(request, [].append), SUMS) == Call(
        tool=SUMS, arguments={"paths": arguments["paths"], **call}
    )


TEXT = "a line of the person's own text, which is longer than what people write in passing\n" * 2


@pytest.mark.parametrize(
    ("given", "calls"),
    [
        (TEXT, 0),
        ("2026-03-23", 0),
        (TEXT[:100] + " (and so on, as the request has it)", 1),
        ({1, 2}, 1),
    ],
    ids=["verbatim", "short", "shortened", "not JSON"],
)
async def test_given_arguments_are_taken_where_long_texts_are_the_persons_own(given, calls):
    model = ScriptedModel(*[FunctionCall(name="size", arguments={"text": TEXT})] * calls)
    sized = tool("size", "def size(text) -> int:\n    return len(text)\n")
    turn = Turn(Request(f"size of {TEXT}"), [].append)
    call = await executor(model).prepare(turn, sized, {"text": given})
    assert call == Call(tool=sized, arguments={"text": TEXT if calls else given})
    assert len(model.prompts) == calls


async def test_a_missing_argument_is_not_asked_of_the_model_again():
    model = ScriptedModel(FunctionCall(name="add_numbers", arguments={"a": None}))
    choice = await executor(model).prepare(Turn(Request("add"), [].append), tool())
    assert choice == Misfit(tool=tool(), problem="add_numbers needs a", missing=("a",), given="{}")


async def test_a_run_calls_the_tool_once_and_counts_the_use():
    library, events = ListedLibrary(tool()), list[Event]()
    sandbox = ScriptedSandbox(returned("3"))
    await executor(ScriptedModel(), sandbox, library).run(
        Turn(Request(""), events.append), Call(tool=tool(), arguments={"a": 2})
    )
    assert sandbox.executed == [("add_numbers", {"a": 2})]
    assert library.uses == ["add_numbers"]
    assert [type(e) for e in events] == [Executing, ExecutionFinished]


async def test_a_tool_that_raises_is_a_failed_execution_and_no_use():
    library, events = ListedLibrary(tool()), list[Event]()
    raised = Raised(type_name="ValueError", message="no")
    assert (
        await executor(ScriptedModel(), ScriptedSandbox(raised), library).run(
            Turn(Request(""), events.append), Call(tool=tool(), arguments={})
        )
        == raised
    )
    assert library.uses == []
    assert [type(e) for e in events] == [Executing, ExecutionFailed]


@pytest.mark.parametrize(
    ("execution", "failures"),
    [
        (Raised(type_name="ValueError", message="no"), []),
        (Raised(type_name="TypeError", message="no"), []),
        (Raised(type_name="FileNotFoundError", message="no"), []),
        (Raised(type_name="JSONDecodeError", message="no"), []),
        (Raised(type_name="KeyError", message="no"), ["add_numbers 1: KeyError"]),
        (
            Killed(reason="It used 30 s of processor time."),
            ["add_numbers 1: “It used 30 s of processor time”"],
        ),
    ],
)
async def test_refusing_bad_input_is_no_failure_and_breaking_is_one(
    execution: Execution, failures: list[str]
):
    library = ListedLibrary(tool())
    await executor(ScriptedModel(), ScriptedSandbox(execution), library).run(
        Turn(Request(""), [].append), Call(tool=tool(), arguments={})
    )
    assert (library.failures, library.uses) == (failures, [])


async def test_calls_are_told_apart_by_arguments_and_files():
    library = ListedLibrary(tool())
    other = File(name="data.csv", content=b"other")
    calls = [
        ({"a": 1, "b": 2}, ()),
        ({"b": 2, "a": 1}, ()),
        ({"a": 2}, ()),
        ({"a": 1, "b": 2}, (CSV,)),
        ({"a": 1, "b": 2}, (other,)),
    ]
    for arguments, files in calls:
        turn = Turn(Request("", files=files), [].append)
        await executor(ScriptedModel(), ScriptedSandbox(returned()), library).run(
            turn, Call(tool=tool(), arguments=arguments)
        )
    assert [library.calls.index(call) for call in library.calls] == [0, 0, 2, 3, 4]


@pytest.mark.parametrize("execution", [returned(), Raised(type_name="KeyError", message="no")])
async def test_a_change_of_standing_is_an_event_after_what_the_call_made(execution: Execution):
    change = ToolStandingChanged(
        tool="add_numbers",
        before="provisional",
        after="trusted",
        reason="It has served 3 different calls.",
    )
    library, events = ListedLibrary(tool(), judgement=change), list[Event]()
    sandbox = ScriptedSandbox(execution.model_copy(update={"files": (CSV,)}))
    await executor(ScriptedModel(), sandbox, library).run(
        Turn(Request(""), events.append), Call(tool=tool(), arguments={})
    )
    assert [type(e) for e in events[-2:]] == [FilesMade, ToolStandingChanged]
    assert events[-1] == change


async def test_a_tool_that_is_removed_while_it_runs_has_run():
    class Emptied(ListedLibrary):
        async def record_use(self, name: str, version: int, call: str, key: str = "") -> None:
            raise ToolNotFound(f"there is no tool {name!r}")

    execution = returned()
    call = Call(tool=tool(), arguments={})
    assert (
        await executor(ScriptedModel(), ScriptedSandbox(execution), Emptied()).run(
            Turn(Request(""), [].append), call
        )
        == execution
    )


async def test_a_missing_sandbox_is_marked_with_the_stage():
    with pytest.raises(SandboxUnavailable) as caught:
        await executor(ScriptedModel(), ScriptedSandbox(SandboxUnavailable("no engine"))).run(
            Turn(Request(""), [].append), Call(tool=tool(), arguments={})
        )
    assert caught.value.where == "execute"


CSV = File(name="data.csv", content=b"a\n1\n")
OPEN = tool(
    "open_files", "def open_files(paths: list[str], options: dict[str, str] = {}) -> str: ..."
)


async def run(turn: Turn, sandbox: ScriptedSandbox, **arguments: object) -> None:
    await executor(ScriptedModel(), sandbox, ListedLibrary(OPEN)).run(
        turn, Call(tool=OPEN, arguments=arguments)
    )


async def test_files_of_the_request_go_along_and_what_the_call_leaves_is_an_event():
    made = File(name="plot.png", content=b"x")
    events = list[Event]()
    sandbox = ScriptedSandbox(returned().model_copy(update={"files": (made,)}))
    await run(Turn(Request("", files=(CSV,)), events.append), sandbox, paths=[])
    assert sandbox.files == [(CSV,)]
    assert [type(e) for e in events] == [Executing, ExecutionFinished, FilesMade]
    assert events[-1] == FilesMade(tool="open_files", files=(made.reference(),), contents=(made,))
    assert "contents" not in events[-1].model_dump()


DRAW = tool("draw", "def draw(n: int, output: str = 'plot.png') -> str:\n    return output\n")


@pytest.mark.parametrize(
    ("arguments", "text", "files", "problem"),
    [
        ({"n": 3}, "plot.png", (), "made no file 'plot.png'"),
        ({"n": 3, "output": "b.png"}, "3 bars in b.png", (), "made no file 'b.png'"),
        ({"n": 3}, "plot.png", (File(name="plot.png", content=b"x"),), ""),
        ({"n": 3}, "There is nothing to draw.", (), ""),
    ],
)
async def test_a_tool_that_tells_of_a_file_and_makes_none_has_failed(
    arguments, text, files, problem
):
    sandbox = ScriptedSandbox(returned(text, "str").model_copy(update={"files": files}))
    call = Call(tool=DRAW, arguments=arguments)
    execution = await executor(ScriptedModel(), sandbox, ListedLibrary(DRAW)).run(
        Turn(Request(""), [].append), call
    )
    assert (execution.outcome, problem in getattr(execution, "message", "")) == (
        "raised" if problem else "returned",
        True,
    )


async def test_a_name_that_a_call_only_works_on_promises_no_file():
    clean = tool("clean", "def clean(name: str, version: str = '1.txt') -> str:\n    return name\n")
    given = returned("1.txt", "str")
    call = Call(tool=clean, arguments={"name": "1.txt"})
    work = executor(ScriptedModel(), ScriptedSandbox(given), ListedLibrary(clean))
    assert await work.run(Turn(Request(""), [].append), call) == given


async def test_a_tool_that_raises_may_leave_files_too():
    events = list[Event]()
    await run(
        Turn(Request(""), events.append),
        ScriptedSandbox(Raised(type_name="ValueError", message="no", files=(CSV,))),
        paths=[],
    )
    assert [type(e) for e in events] == [Executing, ExecutionFailed, FilesMade]


async def test_files_from_earlier_go_along_where_the_call_names_them():
    names = ("old.csv", "nested.csv", "unnamed.csv")
    earlier = {name: File(name=name, content=name.encode()) for name in names}

    async def read(reference: FileReference) -> File:
        return earlier[reference.name]

    sandbox = ScriptedSandbox(returned())
    turn = Turn(
        Request(
            "",
            files=(CSV,),
            earlier=EarlierFiles(tuple(f.reference() for f in earlier.values()), read),
        ),
        [].append,
    )
    await run(
        turn,
        sandbox,
        paths=["old.csv", "elsewhere.csv"],
        options={"with": "nested.csv", "not": "unnamed"},
    )
    assert sandbox.files == [(CSV, earlier["old.csv"], earlier["nested.csv"])]


async def test_the_model_that_chooses_is_shown_the_files():
    model = ScriptedModel(
        FunctionCall(name="open_files", arguments={"paths": "data.csv"}),
        FunctionCall(name="open_files", arguments={"paths": ["data.csv"]}),
    )
    await executor(model).choose(Turn(Request("open it", files=(CSV,)), [].append), [OPEN])
    assert model.asked() == ["decide", "arguments"]
    assert all(
        '{"name":"data.csv","size":4}' in prompt.messages[-1].content for prompt in model.prompts
    )


class TalkingSandbox(ScriptedSandbox):
    """One whose calls wait, begin and print."""

    async def execute(self, job, arguments, files=(), network=None):
        for line, place in (("", 1), ("", 0), ("3 of 9", 0)):
            job.on_line(line, place)
        return await super().execute(job, arguments, files, network)


async def test_what_a_call_prints_is_told_while_it_runs():
    sandbox, events = TalkingSandbox(returned("7")), list[Event]()
    executor = Executor(ScriptedModel(), sandbox, ListedLibrary(tool()))
    call = Call(tool=tool(), arguments={"a": 3, "b": 4})
    await executor.run(Turn(Request("3 + 4"), events.append), call)
    assert [(e.text, e.place) for e in events if isinstance(e, ExecutionProgress)] == [
        ("", 1),
        ("", 0),
        ("3 of 9", 0),
    ]
    assert [step_words(event) for event in events[:4]] == [
        "Running add_numbers",
        "add_numbers: number 1 of the calls that wait for room",
        "",
        "add_numbers: 3 of 9",
    ]
