"""pytest's rewriting of asserts, in half its time.

Most of that goes into giving a location to nodes that have one, or can have none. So pytest, which takes the nodes from its own
`traverse_node`, gets only the others here; where it no longer asks that function, it is as slow as it was.
"""

import ast
from collections.abc import Iterator

from _pytest.assertion import rewrite


def rewrite_asserts(tree: ast.Module, source: bytes, filename: str, config: object) -> None:
    """Rewrite the asserts of the tree in place, so that they tell the values that they compared."""
    rewrite.rewrite_asserts(tree, source, filename, config)  # type: ignore[arg-type]


def _without_location(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below, and the node itself, that lack a location."""
    nodes = [node]
    for found in nodes:  # which grow
        if "lineno" in found._attributes and getattr(found, "lineno", None) is None:
            yield found
        for name in found._fields:
            child = getattr(found, name, None)
            if isinstance(child, list):
                nodes += [part for part in child if isinstance(part, ast.AST)]
            elif isinstance(child, ast.AST) and child._fields:
                nodes.append(child)


rewrite.traverse_node = _without_location
