"""The graph of a turn: which stage follows which, and one turn's run through it.

Every stage ends with a symbol, and the graph alone says what comes next. docs/turns.md shows it.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar, cast

from selfeng.core.events import StageEntered
from selfeng.core.stage import STAGES, StageName
from selfeng.core.turn import Turn
from selfeng.graph import Graph

State = TypeVar("State")


def turn_graph() -> Graph[str]:
    """The graph of a turn, at its start; the contexts describe what each stage does."""
    graph: Graph[str] = Graph()
    for stage in STAGES.values():
        graph.add_node(stage.name, stage.does)
    for stage in STAGES.values():
        for symbol, target in stage.leads.items():
            graph.add_transition(stage.name, symbol, target)
    graph.set_start_node("gather")
    return graph


_GRAPH = turn_graph()


class GraphRun:
    """The path of one turn, or of a part of one, through the graph; it emits an event for each
    node.
    """

    def __init__(self, turn: Turn, at: StageName = "gather") -> None:
        self._turn, self.node = turn, at
        turn.emit(StageEntered(node=at))

    async def follow(
        self, stages: Mapping[StageName, Callable[[State], Awaitable[str]]], state: State
    ) -> None:
        """Run the stage of each node on `state` and follow the symbol that it returns, until a node
        without a stage.

        Raises:
            SymbolUnknown: the node has no transition for the symbol.
            AgentError: a stage gave up.
        """
        while stage := stages.get(self.node):
            if STAGES[self.node].runs_code:
                await self._turn.need("sandbox")
            symbol = await stage(state)
            self.node = cast(StageName, _GRAPH.target(self.node, symbol))
            self._turn.emit(StageEntered(node=self.node, symbol=symbol))
