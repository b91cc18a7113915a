"""State graphs: nodes with a context, transitions by input symbols, shown as Mermaid text
(docs/runtime.md).
"""

from pathlib import Path

from selfeng.graph.graph import Graph, Transition

__all__ = ["TURN_SVG", "Graph", "Transition"]

TURN_SVG = Path(__file__).with_name("turn_graph.svg")
"""The drawn graph of a turn. `make graph` redraws it, and a test fails when it is out of date."""
