"""The stages of a turn: the one table that gives graph, events, errors and page their names and
words.
"""

from collections.abc import Mapping
from typing import Literal

from selfeng.core.value import Value

StageName = Literal[
    "gather", "search", "clarify", "specify", "probe", "test", "implement", "compare", "verify",
    "repair", "strengthen", "register", "prepare", "execute", "mend", "refactor", "plan",
    "delegate", "respond",
]  # fmt: skip


class Stage(Value):
    """One stage of a turn."""

    name: StageName
    does: str
    """One sentence."""
    title: str
    """The page's title of the stage, and of a failure in it."""
    icon: str
    """Name of its picture on the page."""
    prompts: tuple[str, ...] = ()
    """Names of the prompts that it sends to the model, in `src/selfeng/prompts`."""
    leads: Mapping[str, StageName] = {}
    """Which stage follows, by the symbol that this one ends with."""
    runs_code: bool = False
    """Whether it is the first stage of a path that needs the sandbox."""


STAGES: Mapping[str, Stage] = {
    stage.name: stage
    for stage in (
        Stage(
            name="gather",
            does="Read the request with everything that came with it",
            title="Request",
            icon="message",
            leads={
                "new": "search",
                "by hand": "execute",
                "allowed": "execute",
                "kept": "specify",
                "to be built": "specify",
                "marked as wrong": "specify",
                "to be faster": "refactor",
                "for agents": "delegate",
                "incomplete": "clarify",
                "answered": "respond",
            },
        ),
        Stage(
            name="search",
            does="Find a tool of the library, and the arguments that the request gives it",
            title="Search",
            icon="search",
            prompts=("decide",),
            leads={
                "fits": "execute",
                "incomplete": "clarify",
                "nothing fits": "specify",
                "waits": "respond",
            },
        ),
        Stage(
            name="clarify",
            does="Ask the person for what is missing",
            title="Question",
            icon="chat",
            leads={"asked": "respond"},
        ),
        Stage(
            name="specify",
            does="Write down what is to be built, or what else the request needs",
            title="Specification",
            icon="file",
            prompts=("specification",),
            leads={
                "ordered": "test",
                "to be probed": "probe",
                "known": "prepare",
                "unclear": "clarify",
                "steps": "plan",
                "for agents": "delegate",
                "no tool": "respond",
                "declined": "respond",
            },
        ),
        Stage(
            name="probe",
            does="Ask the hosts that the tool needs, and record what they answer",
            title="Probes",
            icon="search",
            leads={"recorded": "test", "stuck": "specify"},
            runs_code=True,
        ),
        Stage(
            name="test",
            does="Write the tests, which must fail without an implementation",
            title="Tests",
            icon="flask",
            prompts=("tests",),
            leads={"written": "implement", "rewritten": "compare"},
            runs_code=True,
        ),
        Stage(
            name="implement",
            does="Write candidates for the implementation",
            title="Implementation",
            icon="code",
            prompts=("implementation",),
            leads={"alike": "verify", "different": "compare"},
        ),
        Stage(
            name="compare",
            does="Let the candidates vote on the tests, and on each other",
            title="Comparison",
            icon="checks",
            prompts=("deciding_test",),
            leads={"agreed": "verify", "refuted": "test", "unclear": "clarify"},
        ),
        Stage(
            name="verify",
            does="Run the tests over the implementation in the sandbox",
            title="Verification",
            icon="shield",
            leads={"passed": "register", "unproven": "strengthen", "failed": "repair"},
        ),
        Stage(
            name="repair",
            does="Rewrite the implementation, given what failed",
            title="Repair",
            icon="hammer",
            prompts=("repair",),
            leads={"repaired": "verify", "stuck": "specify"},
        ),
        Stage(
            name="strengthen",
            does="Run the tests against planted bugs, and add missing tests",
            title="Mutation check",
            icon="flask",
            prompts=("more_tests",),
            leads={"strong": "register", "added": "verify"},
        ),
        Stage(
            name="register",
            does="Add the tool to the library",
            title="Registration",
            icon="book",
            leads={"registered": "prepare", "proposed": "respond"},
        ),
        Stage(
            name="prepare",
            does="Take the new tool's arguments from the specification or the request",
            title="Arguments",
            icon="tool",
            prompts=("arguments",),
            leads={"fits": "execute", "incomplete": "clarify", "built": "respond"},
        ),
        Stage(
            name="execute",
            does="Run the tool in the sandbox",
            title="Execution",
            icon="play",
            leads={"ran": "respond", "at fault": "mend", "incomplete": "clarify"},
        ),
        Stage(
            name="mend",
            does="Write a new version of a tool that failed in use",
            title="Mending",
            icon="hammer",
            prompts=("mend",),
            leads={"mended": "execute", "left": "respond", "unclear": "clarify"},
        ),
        Stage(
            name="refactor",
            does="Write a faster version of a tool, and race the two in the sandbox",
            title="Refactoring",
            icon="hammer",
            prompts=("refactor",),
            leads={"done": "respond"},
            runs_code=True,
        ),
        Stage(
            name="plan",
            does="Make one tool of the plan, or run its steps, each through this graph",
            title="Plan",
            icon="menu",
            leads={"done": "respond", "incomplete": "clarify"},
        ),
        Stage(
            name="delegate",
            does="Hand the work to agents",
            title="Agents",
            icon="chat",
            prompts=("proxy", "coder"),
            leads={"replied": "respond", "unclear": "clarify"},
            runs_code=True,
        ),
        Stage(
            name="respond",
            does="Write the answer",
            title="Answer",
            icon="message",
            prompts=("answer", "results"),
        ),
    )
}
"""In the order in which a turn may reach them."""

Place = str
"""A stage, or whatever else gave up: an agent, `building` or `acting` on a project, `internal`."""


def words_of(place: str) -> str:
    """A stage in words for people; anything else unchanged."""
    stage = STAGES.get(place)
    return stage.title.lower() if stage else place
