"""The graph of a turn: which stage follows which, and one turn's run through it.

Every stage ends with a symbol, and `STAGES` alone has the next one. docs/turns.md shows it.
"""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeVar

from selfeng.core.errors import SymbolUnknown
from selfeng.core.events import StageEntered
from selfeng.core.stage import STAGES, StageName
from selfeng.core.turn import Turn

State = TypeVar("State")


TURN_SVG = Path(__file__).with_name("turn_graph.svg")
"""The drawn graph of a turn. `make graph` redraws it, and a test fails when it is out of date."""


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
            leads = STAGES[self.node].leads
            if symbol not in leads:
                raise SymbolUnknown(
                    f"{symbol!r} leads nowhere from the node {self.node!r}",
                    f"the symbols here are {', '.join(map(repr, leads))}",
                )
            self.node = leads[symbol]
            self._turn.emit(StageEntered(node=self.node, symbol=symbol))
