"""The graph of a turn: which stage follows which, and the course of one turn through it.

Every stage ends with a symbol, and the graph alone says what comes next. docs/turns.md shows it.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar, cast

from selfeng.core.events import StageEntered, StageName
from selfeng.core.turn import Turn
from selfeng.graph import Graph

State = TypeVar("State")

STAGES: Mapping[StageName, str] = {
    "gather": "Take up the request with all that came with it",
    "search": "Find a tool of the library, and the arguments that the request gives it",
    "clarify": "Ask the person for what is missing",
    "specify": "Write down what is to be built, or what else the request needs",
    "test": "Write the tests, which must fail without an implementation",
    "implement": "Draw candidates for the implementation",
    "compare": "Let the candidates vote on the tests, and on each other",
    "verify": "Run the tests over the implementation in the sandbox",
    "repair": "Write the implementation again, with what failed in view",
    "strengthen": "Try the tests on deliberate mistakes, and add those that are missing",
    "register": "Add the tool to the library",
    "prepare": "Read the arguments for the new tool from the request",
    "execute": "Run the tool in the sandbox",
    "mend": "Write a new version of a tool that failed in use",
    "plan": "Take the steps of the plan, each of which goes through this graph",
    "delegate": "Have agents do the work",
    "respond": "Say what came of it",
}
"""What each stage does."""

_IN_THE_SANDBOX: frozenset[StageName] = frozenset({"test", "execute", "delegate"})
"""The first stages of each way that run code."""

_TRANSITIONS: Mapping[StageName, Mapping[str, StageName]] = {
    "gather": {"new": "search", "kept": "specify", "for agents": "delegate"},
    "search": {"fits": "execute", "incomplete": "clarify", "nothing fits": "specify"},
    "clarify": {"asked": "respond"},
    "specify": {
        "ordered": "test",
        "known": "prepare",
        "unclear": "clarify",
        "steps": "plan",
        "for agents": "delegate",
        "no tool": "respond",
    },
    "test": {"written": "implement", "rewritten": "compare"},
    "implement": {"alike": "verify", "different": "compare"},
    "compare": {"agreed": "verify", "refuted": "test"},
    "verify": {"passed": "register", "unproven": "strengthen", "failed": "repair"},
    "repair": {"repaired": "verify", "stuck": "specify"},
    "strengthen": {"strong": "register", "added": "verify"},
    "register": {"registered": "prepare"},
    "prepare": {"fits": "execute", "incomplete": "clarify"},
    "execute": {"ran": "respond", "at fault": "mend"},
    "mend": {"mended": "execute", "left": "respond"},
    "plan": {"done": "respond"},
    "delegate": {"replied": "respond", "unclear": "clarify"},
}


def turn_graph() -> Graph[str]:
    """The graph of a turn, at its start; the contexts say what each stage does."""
    graph: Graph[str] = Graph()
    for name, told in STAGES.items():
        graph.add_node(name, told)
    for source, targets in _TRANSITIONS.items():
        for symbol, target in targets.items():
            graph.add_transition(source, symbol, target)
    graph.set_start_node("gather")
    return graph


_GRAPH = turn_graph()


class GraphRun:
    """The way of one turn, or of one part of it, through the graph; each node that it comes to is
    an event.
    """

    def __init__(self, turn: Turn, at: StageName = "gather") -> None:
        self._turn, self.node = turn, at
        turn.emit(StageEntered(node=at))

    async def follow(
        self, stages: Mapping[StageName, Callable[[State], Awaitable[str]]], state: State
    ) -> None:
        """Run the stage of each node on `state`, and go where the symbol leads that it ends with,
        up to a node that has no stage.

        Raises:
            SymbolUnknown: the symbol leads nowhere from there.
            AgentError: a stage gave up.
        """
        while stage := stages.get(self.node):
            if self.node in _IN_THE_SANDBOX:
                await self._turn.need("sandbox")
            symbol = await stage(state)
            self.node = cast(StageName, _GRAPH.target(self.node, symbol))
            self._turn.emit(StageEntered(node=self.node, symbol=symbol))
