"""The stages of a turn: the one table that graph, events, errors and page take their names and
words from.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BeforeValidator

from selfeng.core.value import Value

StageName = Literal[
    "gather", "search", "clarify", "specify", "test", "implement", "compare", "verify", "repair",
    "strengthen", "register", "prepare", "execute", "mend", "plan", "delegate", "respond",
]  # fmt: skip


class Stage(Value):
    """One stage of a turn."""

    name: StageName
    does: str
    """One sentence."""
    title: str
    """What the page calls it, and a failure in it."""
    now: str
    """What the page says while it runs."""
    icon: str
    """Name of its picture on the page."""
    leads: Mapping[str, StageName] = {}
    """By the symbol that it ends with, the stage that follows."""
    runs_code: bool = False
    """Whether it is the first stage of a way that needs the sandbox."""


STAGES: Mapping[StageName, Stage] = {
    stage.name: stage
    for stage in (
        Stage(
            name="gather",
            does="Take up the request with all that came with it",
            title="Request",
            now="Reading the request",
            icon="message",
            leads={"new": "search", "kept": "specify", "for agents": "delegate"},
        ),
        Stage(
            name="search",
            does="Find a tool of the library, and the arguments that the request gives it",
            title="Search",
            now="Searching the library",
            icon="search",
            leads={"fits": "execute", "incomplete": "clarify", "nothing fits": "specify"},
        ),
        Stage(
            name="clarify",
            does="Ask the person for what is missing",
            title="Asking what is missing",
            now="Asking what is missing",
            icon="chat",
            leads={"asked": "respond"},
        ),
        Stage(
            name="specify",
            does="Write down what is to be built, or what else the request needs",
            title="Specification",
            now="Writing the specification",
            icon="file",
            leads={
                "ordered": "test",
                "known": "prepare",
                "unclear": "clarify",
                "steps": "plan",
                "for agents": "delegate",
                "no tool": "respond",
            },
        ),
        Stage(
            name="test",
            does="Write the tests, which must fail without an implementation",
            title="Tests",
            now="Writing the tests",
            icon="flask",
            leads={"written": "implement", "rewritten": "compare"},
            runs_code=True,
        ),
        Stage(
            name="implement",
            does="Draw candidates for the implementation",
            title="Implementation",
            now="Writing the implementation",
            icon="code",
            leads={"alike": "verify", "different": "compare"},
        ),
        Stage(
            name="compare",
            does="Let the candidates vote on the tests, and on each other",
            title="Consensus of candidates",
            now="Comparing the candidates",
            icon="checks",
            leads={"agreed": "verify", "refuted": "test"},
        ),
        Stage(
            name="verify",
            does="Run the tests over the implementation in the sandbox",
            title="Verification",
            now="Running the tests in the sandbox",
            icon="shield",
            leads={"passed": "register", "unproven": "strengthen", "failed": "repair"},
        ),
        Stage(
            name="repair",
            does="Write the implementation again, with what failed in view",
            title="Repair",
            now="Repairing the implementation",
            icon="code",
            leads={"repaired": "verify", "stuck": "specify"},
        ),
        Stage(
            name="strengthen",
            does="Try the tests on deliberate mistakes, and add those that are missing",
            title="Strength of the tests",
            now="Trying the tests on deliberate mistakes",
            icon="flask",
            leads={"strong": "register", "added": "verify"},
        ),
        Stage(
            name="register",
            does="Add the tool to the library",
            title="Registration",
            now="Adding the tool to the library",
            icon="book",
            leads={"registered": "prepare"},
        ),
        Stage(
            name="prepare",
            does="Read the arguments for the new tool from the request",
            title="Arguments",
            now="Reading the arguments",
            icon="tool",
            leads={"fits": "execute", "incomplete": "clarify"},
        ),
        Stage(
            name="execute",
            does="Run the tool in the sandbox",
            title="Execution",
            now="Running the tool",
            icon="play",
            leads={"ran": "respond", "at fault": "mend"},
            runs_code=True,
        ),
        Stage(
            name="mend",
            does="Write a new version of a tool that failed in use",
            title="Mending",
            now="Mending the tool",
            icon="hammer",
            leads={"mended": "execute", "left": "respond"},
        ),
        Stage(
            name="plan",
            does="Take the steps of the plan, each of which goes through this graph",
            title="Plan",
            now="Working through the steps",
            icon="menu",
            leads={"done": "respond"},
        ),
        Stage(
            name="delegate",
            does="Have agents do the work",
            title="Agents",
            now="An agent is at work",
            icon="chat",
            leads={"replied": "respond", "unclear": "clarify"},
            runs_code=True,
        ),
        Stage(
            name="respond",
            does="Say what came of it",
            title="Answer",
            now="Writing the answer",
            icon="message",
        ),
    )
}
"""In the order in which a turn may come to them."""

_FORMER: Mapping[str, StageName] = {
    "searching": "search",
    "questions": "clarify",
    "specification": "specify",
    "tests": "test",
    "implementation": "implement",
    "consensus": "compare",
    "verification": "verify",
    "mutation": "strengthen",
    "registration": "register",
    "executing": "execute",
    "execution": "execute",
    "answering": "respond",
}
"""The names that stages have in events of earlier versions."""


def as_now(name: object) -> object:
    """The name of today for one of an earlier version; anything else as it is."""
    return _FORMER.get(name, name) if isinstance(name, str) else name


RecordedStage = Annotated[StageName, BeforeValidator(as_now)]
"""A stage in an event; those of earlier versions are read by their names of today."""
Place = Annotated[str, BeforeValidator(as_now)]
"""A stage, or else what gave up: an agent, `building` or `acting` on a project, `internal`."""


def words_of(place: str) -> str:
    """A stage in words for people; anything else as it is."""
    return next((stage.title.lower() for stage in STAGES.values() if stage.name == place), place)
