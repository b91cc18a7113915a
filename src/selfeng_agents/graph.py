"""The state graph: named nodes with contexts, transitions between them by input symbols, and the
current node.
"""

import re
from collections.abc import Mapping
from typing import Generic, TypeVar, cast

from selfeng.core.errors import GraphError, NodeUnknown, SymbolUnknown
from selfeng.core.value import Value

Context = TypeVar("Context")

_PLAIN = re.compile(r"[A-Za-z]\w*")
_RESERVED = frozenset(
    {
        "as",
        "class",
        "classDef",
        "default",
        "direction",
        "end",
        "hide",
        "note",
        "scale",
        "state",
        "style",
    }
)


class Transition(Value):
    """At `source`, the input `symbol` leads to `target`."""

    source: str
    symbol: str
    target: str


class Graph(Generic[Context]):
    """Built node by node, then moved by `process_input`; a refused input changes nothing."""

    def __init__(self) -> None:
        self._contexts: dict[str, Context] = {}
        self._targets: dict[str, dict[str, str]] = {}
        """For each node, the targets of its symbols."""
        self._start = self._current = ""

    def add_node(self, name: str, context: Context | None = None) -> None:
        """Add a node, by default with the context None; if it exists, it keeps its transitions, and
        gets the new context if there is one.

        Raises:
            GraphError: the name is blank.
        """
        if not name.strip():
            raise GraphError(
                f"{name!r} can't be the name of a node", "give it a name that isn't blank"
            )
        if context is not None or name not in self._contexts:
            self._contexts[name] = cast(Context, context)
        self._targets.setdefault(name, {})

    def set_start_node(self, name: str) -> None:
        """Set the start node, and go there.

        Raises:
            NodeUnknown: there is no such node.
        """
        self._start = self._current = self._existing_node(name)

    def add_transition(self, source: str, symbol: str, target: str) -> None:
        """Let `symbol` lead from one node to another, or to itself; a later transition for the same
        symbol replaces an earlier one.

        Raises:
            NodeUnknown: there is no node of one of the names.
        """
        self._targets[self._existing_node(source)][symbol] = self._existing_node(target)

    def update_context(self, name: str, context: Context) -> None:
        """Replace the context of a node.

        Raises:
            NodeUnknown: there is no such node.
        """
        self._contexts[self._existing_node(name)] = context

    def process_input(self, symbol: str) -> Context:
        """Follow the symbol from the current node; returns the context of the new node.

        Raises:
            SymbolUnknown: the current node has no transition for it.
            GraphError: no start node was set.
        """
        self._current = self.target(self.current_node, symbol)
        return self.current_context

    def target(self, source: str, symbol: str) -> str:
        """The node that the symbol leads to from `source`.

        Raises:
            SymbolUnknown: there is no such transition.
        """
        targets = self._targets[source]
        if symbol not in targets:
            raise SymbolUnknown(
                f"{symbol!r} leads nowhere from the node {source!r}", _one_of("symbols", targets)
            )
        return targets[symbol]

    @property
    def current_node(self) -> str:
        """Raises: GraphError: no start node was set."""
        if not self._current:
            raise GraphError(
                "the graph has no start node",
                f"name one by set_start_node; {_one_of('nodes', self._contexts)}",
            )
        return self._current

    @property
    def current_context(self) -> Context:
        """Raises: GraphError: no start node was set."""
        return self._contexts[self.current_node]

    @property
    def is_terminal(self) -> bool:
        """Whether the current node has no transitions. Raises: GraphError: no start node is set."""
        return not self._targets[self.current_node]

    @property
    def start_node(self) -> str:
        """The node to begin at; "" if it was not set."""
        return self._start

    @property
    def nodes(self) -> Mapping[str, Context]:
        """The contexts by node, in the order in which the nodes were added."""
        return dict(self._contexts)

    @property
    def transitions(self) -> tuple[Transition, ...]:
        """All of them, by node and in the order in which they were added."""
        return tuple(
            Transition(source=source, symbol=symbol, target=target)
            for source, targets in self._targets.items()
            for symbol, target in targets.items()
        )

    @property
    def arrows(self) -> Mapping[tuple[str, str], tuple[str, ...]]:
        """The symbols that connect each pair of nodes."""
        arrows: dict[tuple[str, str], tuple[str, ...]] = {}
        for t in self.transitions:
            arrows[t.source, t.target] = (*arrows.get((t.source, t.target), ()), t.symbol)
        return arrows

    def fresh(self, at: str = "") -> "Graph[Context]":
        """A copy of the graph at its start node, or at the node `at`; changes to one do not affect
        the other.

        Raises:
            NodeUnknown: there is no such node.
        """
        graph: Graph[Context] = Graph()
        graph._contexts = dict(self._contexts)
        graph._targets = {source: dict(targets) for source, targets in self._targets.items()}
        graph._start, graph._current = self._start, self._existing_node(at) if at else self._start
        return graph

    def mermaid(self) -> str:
        """The graph as a Mermaid `stateDiagram-v2`; symbols that lead from one node to the same
        other share an arrow.
        """
        ids = {
            name: name if _PLAIN.fullmatch(name) and name not in _RESERVED else f"node_{i}"
            for i, name in enumerate(self.nodes)
        }
        lines = [f'state "{_escaped(name)}" as {key}' for name, key in ids.items() if name != key]
        if self.start_node:
            lines.append(f"[*] --> {ids[self.start_node]}")
        lines += [
            f"{ids[a]} --> {ids[b]}: {_escaped(' | '.join(symbols))}"
            for (a, b), symbols in self.arrows.items()
        ]
        sources = {source for source, _ in self.arrows}
        lines += [f"{key} --> [*]" for name, key in ids.items() if name not in sources]
        return "\n    ".join(["stateDiagram-v2", *lines]) + "\n"

    def _existing_node(self, name: str) -> str:
        if name not in self._contexts:
            raise NodeUnknown(f"the graph has no node {name!r}", _one_of("nodes", self._contexts))
        return name


def _one_of(what: str, names: Mapping[str, object]) -> str:
    return (
        f"the {what} here are {', '.join(map(repr, names))}"
        if names
        else f"there are no {what} here"
    )


def _escaped(text: str) -> str:
    """Mermaid's own entities, by code point, for anything but letters, digits and plain
    punctuation.
    """
    return re.sub(r"[^\w |.,/()+-]", lambda match: f"#{ord(match[0])};", text)
