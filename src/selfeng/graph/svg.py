"""A state graph as an SVG image: rounded boxes in rows from the start down, arrows with their symbols.

It is drawn in the colour of the text around it, by presentation attributes alone, so that a page's style sheet can say otherwise:
`g.node[data-node]`, `g.transition[data-source][data-target]`, and in both what they are made of.
"""

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

from selfeng.graph.layout import Place, layout

if TYPE_CHECKING:
    from selfeng.graph.graph import Graph

Context = TypeVar("Context")

HEIGHT, GAP, BETWEEN, MARGIN = 30, 40, 14, 8
"""Of a box, from row to row, from box to box, and around the whole; in pixels."""
LETTER, LINE = 7.2, 11
"""Width of a letter of a box, roughly, and height of a symbol."""
SYMBOL = 24
"""Room for half a symbol."""
ASIDE = 9
"""How far two arrows keep from the middle that lead to and fro between the same boxes."""


def image(graph: "Graph[Context]", title: str) -> str:
    """The whole `<svg>`; contexts that are text become the tooltips of their nodes."""
    arrows = graph.arrows
    placed = layout(graph.nodes, graph.start_node, [(a, b) for a, b in arrows if a != b])
    box = max(map(len, graph.nodes), default=0) * LETTER + 24

    def at(place: Place) -> Place:
        return place[0] * (box + BETWEEN), place[1] * (HEIGHT + GAP)

    sides = [(x, box / 2) for x, _ in map(at, placed.nodes.values())] + [(at(p)[0], SYMBOL) for w in placed.arrows.values() for p in w]
    left = min((x - half for x, half in sides), default=0.0) - MARGIN
    width = max((x + half for x, half in sides), default=0.0) + MARGIN - left
    height = max((at(p)[1] for p in placed.nodes.values()), default=0.0) + HEIGHT + 2 * MARGIN

    drawn = [f"<title>{escape(title)}</title>"]
    taken = [(at(place), box / 2, HEIGHT / 2) for place in placed.nodes.values()]
    for (a, b), symbols in arrows.items():
        shift = 0 if (b, a) not in arrows else ASIDE if a < b else -ASIDE
        way = [(x + shift, y) for x, y in map(at, placed.arrows.get((a, b), ()))]
        path, head, places = _arrow(way) if way else _loop(at(placed.nodes[a]), box)
        said = " | ".join(symbols)
        middle = _free(places, half := len(said) * LETTER / 3, taken)
        taken.append((middle, half, LINE / 2))
        drawn.append(
            f'<g class="transition" data-source="{escape(a)}" data-target="{escape(b)}"><title>{escape(f"{a} → {b}: {said}")}</title>'
            f'<path d="{path}" fill="none" stroke="currentColor" opacity="0.5"/><path d="{head}" opacity="0.5"/>'
            f'<text x="{middle[0]:.1f}" y="{middle[1] + 3:.1f}" font-size="9" opacity="0.75">{escape(said)}</text></g>'
        )
    drawn += [_box(name, context, at(placed.nodes[name]), box) for name, context in graph.nodes.items()]
    size = f'viewBox="{left:.0f} {-HEIGHT / 2 - MARGIN:.0f} {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    attributes = 'role="img" fill="currentColor" font-family="system-ui, sans-serif" font-size="12" text-anchor="middle"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {attributes}>\n' + "\n".join(drawn) + "\n</svg>\n"


_Room = tuple[Place, float, float]
"""The middle of what is drawn, half its width and half its height."""


def _free(places: Sequence[Place], half: float, taken: Sequence[_Room]) -> Place:
    """The first of the places where a symbol hides nothing; if there is none, the first."""
    for x, y in places:
        if all(abs(x - p[0]) > half + width or abs(y - p[1]) > LINE / 2 + height for p, width, height in taken):
            return x, y
    return places[0]


def _arrow(way: Sequence[Place]) -> tuple[str, str, Sequence[Place]]:
    """Path, head and places for the symbol of an arrow through these points, of which the ends are the middles of boxes."""
    turn = 1 if way[0][1] < way[-1][1] else -1
    (x, y), (end, tip) = way[0], way[-1]
    points = [(x, y + turn * HEIGHT / 2), *way[1:-1], (end, tip - turn * (HEIGHT / 2 + 6))]
    path = f"M{x:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        half = (y0 + y1) / 2
        path += f"C{x0:.1f} {half:.1f} {x1:.1f} {half:.1f} {x1:.1f} {y1:.1f}"
    tip -= turn * HEIGHT / 2
    head = f"M{end:.1f} {tip:.1f}l-4 {-7 * turn}h8z"
    (x0, y0), (x1, y1) = points[:2]
    near = [(x0 + across * (x1 - x0), y0 + down * (y1 - y0)) for across, down in ((0.8, 0.68), (0.5, 0.5), (0.95, 0.8))]
    return path, head, [*near, *points[1:-1]]


def _loop(at: Place, box: float) -> tuple[str, str, Sequence[Place]]:
    x, y = at[0] + box / 2, at[1]
    return f"M{x:.1f} {y - 6:.1f}c16 -6 16 18 5 13", f"M{x:.1f} {y + 6:.1f}l7 -4v8z", [(x + 18, y - 10)]


def _box(name: str, context: object, at: Place, width: float) -> str:
    x, y, shown = at[0] - width / 2, at[1] - HEIGHT / 2, escape(name)
    told = f"<title>{shown}: {escape(context)}</title>" if isinstance(context, str) and context else f"<title>{shown}</title>"
    return (
        f'<g class="node" data-node="{shown}">{told}'
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{HEIGHT}" rx="8" fill="none" stroke="currentColor"/>'
        f'<text x="{at[0]:.1f}" y="{at[1] + 4:.1f}">{shown}</text></g>'
    )
