"""A state graph as Mermaid text."""

import re
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from selfeng.graph.graph import Graph

Context = TypeVar("Context")

_PLAIN = re.compile(r"[A-Za-z]\w*")
_RESERVED = frozenset({"as", "class", "classDef", "default", "direction", "end", "hide", "note", "scale", "state", "style"})


def state_diagram(graph: "Graph[Context]") -> str:
    """A `stateDiagram-v2`; symbols that lead from one node to the same other share an arrow."""
    ids = {name: name if _PLAIN.fullmatch(name) and name not in _RESERVED else f"node_{i}" for i, name in enumerate(graph.nodes)}
    lines = [f'state "{_escaped(name)}" as {key}' for name, key in ids.items() if name != key]
    if graph.start_node:
        lines.append(f"[*] --> {ids[graph.start_node]}")
    lines += [f"{ids[a]} --> {ids[b]}: {_escaped(' | '.join(symbols))}" for (a, b), symbols in graph.arrows.items()]
    sources = {source for source, _ in graph.arrows}
    lines += [f"{key} --> [*]" for name, key in ids.items() if name not in sources]
    return "\n    ".join(["stateDiagram-v2", *lines]) + "\n"


def _escaped(text: str) -> str:
    """Mermaid's own entities, by code point, for whatever is neither a letter, a digit nor plain punctuation."""
    return re.sub(r"[^\w |.,/()+-]", lambda match: f"#{ord(match[0])};", text)
