"""State graphs: nodes with a context, transitions by input symbols, drawn as Mermaid or SVG (docs/runtime.md)."""

from selfeng.graph.graph import Graph, Transition

__all__ = ["Graph", "Transition"]
