"""Draws the graph of a turn to `src/selfeng/turns/turn_graph.svg`, after a change of its stages,
and the packages and their imports to `docs/architecture.svg`: `python -m benchmarks.draw_graph`.

Rounded boxes in rows from the start down, arrows with their symbols; as few crossings as a few
sweeps find. The method is Sugiyama's: turn the arrows that lead back, give each node the row of its
longest way, cut long arrows at every row, order the rows by the mean place of the neighbours, then
pull everything towards its neighbours.

The images have a grey that is seen on black and on white. It is set by presentation attributes
alone, so that a page's style sheet can say otherwise: `g.node[data-node]`,
`g.transition[data-source][data-target]`, and the elements in both.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import grimp

from selfeng.core.stage import STAGES
from selfeng.turns.graph_run import TURN_SVG
from selfeng_agents.graph import Graph

ARCHITECTURE_SVG = Path(__file__).parents[1] / "docs" / "architecture.svg"
Arrow = tuple[str, str]
"""From one node to another."""
Place = tuple[float, float]
"""Column and row; nodes of one row are at least 1 apart."""
_Point = tuple[str, str, int]
"""A node (its name, "", 0), or where an arrow crosses a row."""

SWEEPS = 12
BESIDE, CROSSING = 0.65, 0.1
"""How far an arrow keeps from a node that it passes, and from another arrow."""


@dataclass(frozen=True)
class Layout:
    nodes: Mapping[str, Place]
    arrows: Mapping[Arrow, Sequence[Place]]
    """The rows that each crosses, with both ends; one that leads back goes up."""


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


def import_graph() -> Graph[str]:
    """The packages and modules of selfeng; arrows are imports that no chain of others implies."""
    imports = grimp.build_graph("selfeng", cache_dir=None)
    direct: defaultdict[str, set[str]] = defaultdict(set)
    for module in imports.modules:
        for imported in imports.find_modules_directly_imported_by(module):
            source, target = (name.split(".")[1:2] for name in (module, imported))
            if source and target and source != target:
                direct[source[0]].add(target[0])
    graph: Graph[str] = Graph()
    for name in sorted({*direct, *(target for targets in direct.values() for target in targets)}):
        graph.add_node(name, "")
    for source, targets in sorted(direct.items()):
        implied = set[str]().union(*(_reached(direct, target) for target in targets))
        for target in sorted(targets - implied):
            graph.add_transition(source, target, target)
    return graph


def _reached(direct: Mapping[str, set[str]], start: str) -> set[str]:
    """The modules that are imported from here, directly or by others."""
    reached, waiting = set[str](), [start]
    while waiting:
        new = direct.get(waiting.pop(), set()) - reached
        reached |= new
        waiting += new
    return reached


def architecture() -> str:
    """The picture of the packages."""
    title = "The imports of selfeng's packages, from entry points to core"
    return image(import_graph(), title, named=False)


def layout(nodes: Iterable[str], start: str, arrows: Sequence[Arrow]) -> Layout:
    """Lay a graph out; `arrows` holds each pair once, and none from a node to itself."""
    found, back = _walked([start, *nodes] if start else list(nodes), arrows)
    down = {(a, b) if (a, b) not in back else (b, a) for a, b in arrows}
    rank = _ranks(found, down)
    chains = {
        (a, b): _chain(a, b, rank)
        for a, b in sorted(down, key=lambda pair: (found.index(pair[0]), found.index(pair[1])))
    }
    above, below = defaultdict[_Point, list[_Point]](list), defaultdict[_Point, list[_Point]](list)
    for chain in chains.values():
        for upper, lower in pairwise(chain):
            below[upper].append(lower)
            above[lower].append(upper)
    rows = _ordered(
        [*map(_node, found), *(p for chain in chains.values() for p in chain[1:-1])],
        rank,
        above,
        below,
    )
    x = _columns(rows, above, below)
    place = {point: (x[point], float(y)) for y, row in enumerate(rows) for point in row}
    ways = {pair: [place[p] for p in chain] for pair, chain in chains.items()}
    return Layout(
        nodes={name: place[_node(name)] for name in found},
        arrows={(a, b): ways[b, a][::-1] if (a, b) in back else ways[a, b] for a, b in arrows},
    )


def _node(name: str) -> _Point:
    return name, "", 0


def _walked(nodes: Sequence[str], arrows: Sequence[Arrow]) -> tuple[list[str], set[Arrow]]:
    """The nodes, each before those that are first reached from it, and the arrows that lead back to
    where a way came from.
    """
    found, way, back = list[str](), list[str](), set[Arrow]()

    def visit(name: str) -> None:
        found.append(name)
        way.append(name)
        for source, target in arrows:
            if source == name and target in way:
                back.add((source, target))
            elif source == name and target not in found:
                visit(target)
        way.pop()

    for name in nodes:
        if name not in found:
            visit(name)
    return found, back


def _ranks(nodes: Sequence[str], down: Iterable[Arrow]) -> dict[str, int]:
    rank, pairs = dict.fromkeys(nodes, 0), sorted(down)
    for _ in nodes:
        for upper, lower in pairs:
            rank[lower] = max(rank[lower], rank[upper] + 1)
    return rank


def _chain(upper: str, lower: str, rank: Mapping[str, int]) -> list[_Point]:
    return [
        _node(upper),
        *((upper, lower, row) for row in range(rank[upper] + 1, rank[lower])),
        _node(lower),
    ]


_Near = Mapping[_Point, Sequence[_Point]]


def _ordered(
    points: Sequence[_Point], rank: Mapping[str, int], above: _Near, below: _Near
) -> list[list[_Point]]:
    rows: list[list[_Point]] = [[] for _ in range(max(rank.values(), default=-1) + 1)]
    for point in points:
        rows[point[2] or rank[point[0]]].append(point)
    for sweep in range(SWEEPS):
        near, order = (below, rows[::-1]) if sweep % 2 else (above, rows)
        at = {point: i - len(row) / 2 for row in rows for i, point in enumerate(row)}
        for row in order:
            row.sort(key=lambda p: fmean([at[n] for n in near.get(p, ())] or [at[p]]))
            at.update({point: i - len(row) / 2 for i, point in enumerate(row)})
    return rows


def _columns(rows: Sequence[Sequence[_Point]], above: _Near, below: _Near) -> dict[_Point, float]:
    x = {point: float(i) for row in rows for i, point in enumerate(row)}
    for sweep in range(2 * SWEEPS):
        for row in rows if sweep % 2 else rows[::-1]:
            wanted = [
                fmean([x[n] for n in _pulling(p, (*above.get(p, ()), *below.get(p, ())))])
                for p in row
            ]
            x.update(
                zip(row, _apart(wanted, [_least(a, b) for a, b in pairwise(row)]), strict=True)
            )
    left = min(x.values(), default=0.0)
    return {point: value - left for point, value in x.items()}


def _pulling(point: _Point, near: Sequence[_Point]) -> Sequence[_Point]:
    """The neighbours that draw a point; for an arrow's point, the rest of its arrow counts twice,
    so that it runs straight.
    """
    return [*near, *(n for n in near if _crosses(n) and _crosses(point))] or [point]


def _crosses(point: _Point) -> bool:
    return bool(point[1])


def _least(a: _Point, b: _Point) -> float:
    """How far apart two neighbours of a row have to be."""
    return (
        1.0
        if not _crosses(a) and not _crosses(b)
        else CROSSING
        if _crosses(a) and _crosses(b)
        else BESIDE
    )


def _apart(wanted: Sequence[float], least: Sequence[float]) -> list[float]:
    """Places as near to the wanted ones as two greedy ways find, which start from either end;
    `least` from each to the next.
    """
    rightward, leftward = list(wanted), list(wanted)
    for i, apart in enumerate(least, 1):
        rightward[i] = max(wanted[i], rightward[i - 1] + apart)
    for i, apart in reversed(list(enumerate(least))):
        leftward[i] = min(wanted[i], leftward[i + 1] - apart)
    return [(a + b) / 2 for a, b in zip(rightward, leftward, strict=True)]


HEIGHT, GAP, BETWEEN, MARGIN = 30, 40, 4, 8
"""Of a box, from row to row, from box to box, and around the whole; in pixels."""
LETTER, LINE = 7.2, 11
"""Width of a letter of a box, roughly, and height of a symbol."""
SYMBOL = 24
"""Room for half a symbol."""
ASIDE = 9
"""How far two arrows keep from the middle that lead to and fro between the same boxes."""


def image(graph: Graph[str], title: str, *, named: bool = True) -> str:
    """The whole `<svg>`; contexts that are text become the tooltips of their nodes. `named`: arrows
    have their symbols.
    """
    arrows = graph.arrows
    placed = layout(graph.nodes, graph.start_node, [(a, b) for a, b in arrows if a != b])
    box = max(map(len, graph.nodes), default=0) * LETTER + 24

    def at(place: Place) -> Place:
        return place[0] * (box + BETWEEN), place[1] * (HEIGHT + GAP)

    sides = [(x, box / 2) for x, _ in map(at, placed.nodes.values())] + [
        (at(p)[0], SYMBOL) for w in placed.arrows.values() for p in w
    ]
    left = min((x - half for x, half in sides), default=0.0) - MARGIN
    width = max((x + half for x, half in sides), default=0.0) + MARGIN - left
    height = max((at(p)[1] for p in placed.nodes.values()), default=0.0) + HEIGHT + 2 * MARGIN

    drawn, labels = dict[Arrow, str](), dict[Arrow, str]()
    taken = [(at(place), box / 2, HEIGHT / 2) for place in placed.nodes.values()]
    # the shortest first, which have the fewest places for their symbols
    for (a, b), symbols in sorted(arrows.items(), key=lambda e: len(placed.arrows.get(e[0], ()))):
        shift = 0 if (b, a) not in arrows else ASIDE if a < b else -ASIDE
        way = [(x + shift, y) for x, y in map(at, placed.arrows.get((a, b), ()))]
        path, head, places = _arrow(way) if way else _loop(at(placed.nodes[a]), box)
        said = " | ".join(symbols) if named else ""
        middle = _free(places, half := len(said) * LETTER / 2.8, taken)
        taken.append((middle, half, LINE / 2))
        group = (
            f'<g class="transition" data-source="{escape(a)}" data-target="{escape(b)}">'
            f"<title>{escape(f'{a} → {b}: {said}')}</title>"
        )
        drawn[a, b] = (
            f'{group}<path d="{path}" fill="none" stroke="currentColor" opacity="0.5"/>'
            f'<path d="{head}" opacity="0.5"/></g>'
        )
        labels[a, b] = (
            f'{group}<text x="{middle[0]:.1f}" y="{middle[1] + 3:.1f}" font-size="9.5" '
            f'opacity="0.75">{escape(said)}</text></g>'
        )
    boxes = [
        _box(name, context, at(placed.nodes[name]), box) for name, context in graph.nodes.items()
    ]
    lines = [
        f"<title>{escape(title)}</title>",
        *(drawn[arrow] for arrow in arrows),
        *(labels[arrow] for arrow in arrows if named),  # above every arrow
        *boxes,
    ]
    size = (
        f'viewBox="{left:.0f} {-HEIGHT / 2 - MARGIN:.0f} {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}"'
    )
    attributes = (
        'role="img" color="#7d8590" fill="currentColor" font-family="system-ui, sans-serif" '
        'font-size="12" text-anchor="middle"'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {attributes}>\n'
        + "\n".join(lines)
        + "\n</svg>\n"
    )


_ALONG = (
    (0.8, 0.68),
    (0.5, 0.5),
    (0.95, 0.8),
    (0.2, 0.32),
    (0.65, 0.58),
    (0.35, 0.42),
    (0.05, 0.2),
)
"""Points of an arrow between two rows, across and down, where its symbol may stand."""
_Room = tuple[Place, float, float]
"""The middle of what is drawn, half its width and half its height."""


def _free(places: Sequence[Place], half: float, taken: Sequence[_Room]) -> Place:
    """The first of the places, or beside them, where a symbol hides nothing; if there is none, the
    first.
    """
    for aside in (0, half, -half, half + LETTER, -half - LETTER):
        for x, y in places:
            if all(
                abs(x + aside - p[0]) > half + width or abs(y - p[1]) > LINE / 2 + height
                for p, width, height in taken
            ):
                return x + aside, y
    return places[0]


def _arrow(way: Sequence[Place]) -> tuple[str, str, Sequence[Place]]:
    """Path, head and places for the symbol of an arrow through these points, of which the ends are
    the middles of boxes.
    """
    turn = 1 if way[0][1] < way[-1][1] else -1
    (x, y), (end, tip) = way[0], way[-1]
    points = [(x, y + turn * HEIGHT / 2), *way[1:-1], (end, tip - turn * (HEIGHT / 2 + 6))]
    path = f"M{x:.1f} {points[0][1]:.1f}"
    for (x0, y0), (x1, y1) in pairwise(points):
        half = (y0 + y1) / 2
        path += f"C{x0:.1f} {half:.1f} {x1:.1f} {half:.1f} {x1:.1f} {y1:.1f}"
    tip -= turn * HEIGHT / 2
    head = f"M{end:.1f} {tip:.1f}l-4 {-7 * turn}h8z"
    near = [
        (x0 + across * (x1 - x0), y0 + down * (y1 - y0))
        for (x0, y0), (x1, y1) in pairwise(points)
        for across, down in _ALONG
    ]
    return path, head, near


def _loop(at: Place, box: float) -> tuple[str, str, Sequence[Place]]:
    x, y = at[0] + box / 2, at[1]
    return (
        f"M{x:.1f} {y - 6:.1f}c16 -6 16 18 5 13",
        f"M{x:.1f} {y + 6:.1f}l7 -4v8z",
        [(x + 18, y - 10)],
    )


def _box(name: str, context: object, at: Place, width: float) -> str:
    x, y, shown = at[0] - width / 2, at[1] - HEIGHT / 2, escape(name)
    told = (
        f"<title>{shown}: {escape(context)}</title>"
        if isinstance(context, str) and context
        else f"<title>{shown}</title>"
    )
    return (
        f'<g class="node" data-node="{shown}">{told}'
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{HEIGHT}" rx="8" fill="none" '
        'stroke="currentColor"/>'
        f'<text x="{at[0]:.1f}" y="{at[1] + 4:.1f}">{shown}</text></g>'
    )


if __name__ == "__main__":
    TURN_SVG.write_text(image(turn_graph(), "The stages of a turn"), "utf-8")
    ARCHITECTURE_SVG.write_text(architecture(), "utf-8")
