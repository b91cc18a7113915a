"""Where the nodes of a state graph stand and how its arrows run: rows from the start down, as few crossings as a few sweeps find.

The method is Sugiyama's: turn the arrows that lead back, give each node the row of its longest way, cut long arrows at every row,
order the rows by the mean place of the neighbours, then pull everything towards its neighbours.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

Arrow = tuple[str, str]
"""From one node to another."""
Place = tuple[float, float]
"""Column and row; nodes of one row are at least 1 apart."""
_Point = tuple[str, str, int]
"""A node (its name, "", 0), or where an arrow crosses a row."""

SWEEPS = 12
BESIDE, CROSSING = 0.65, 0.2
"""How far an arrow keeps from a node that it passes, and from another arrow."""


@dataclass(frozen=True)
class Layout:
    nodes: Mapping[str, Place]
    arrows: Mapping[Arrow, Sequence[Place]]
    """The rows that each crosses, with both ends; one that leads back goes up."""


def layout(nodes: Iterable[str], start: str, arrows: Sequence[Arrow]) -> Layout:
    """Lay a graph out; `arrows` holds each pair once, and none from a node to itself."""
    found, back = _walked([start, *nodes] if start else list(nodes), arrows)
    down = {(a, b) if (a, b) not in back else (b, a) for a, b in arrows}
    rank = _ranks(found, down)
    chains = {(a, b): _chain(a, b, rank) for a, b in sorted(down, key=lambda pair: (found.index(pair[0]), found.index(pair[1])))}
    above, below = defaultdict[_Point, list[_Point]](list), defaultdict[_Point, list[_Point]](list)
    for chain in chains.values():
        for upper, lower in pairwise(chain):
            below[upper].append(lower)
            above[lower].append(upper)
    rows = _ordered([*map(_node, found), *(p for chain in chains.values() for p in chain[1:-1])], rank, above, below)
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
    """The nodes, each before those that are first reached from it, and the arrows that lead back to where a way came from."""
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
    return [_node(upper), *((upper, lower, row) for row in range(rank[upper] + 1, rank[lower])), _node(lower)]


_Near = Mapping[_Point, Sequence[_Point]]


def _ordered(points: Sequence[_Point], rank: Mapping[str, int], above: _Near, below: _Near) -> list[list[_Point]]:
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
            wanted = [fmean([x[n] for n in _pulling(p, (*above.get(p, ()), *below.get(p, ())))]) for p in row]
            x.update(zip(row, _apart(wanted, [_least(a, b) for a, b in pairwise(row)]), strict=True))
    left = min(x.values(), default=0.0)
    return {point: value - left for point, value in x.items()}


def _pulling(point: _Point, near: Sequence[_Point]) -> Sequence[_Point]:
    """What a point is drawn towards; an arrow's, to the rest of its arrow doubly, so that it runs straight."""
    return [*near, *(n for n in near if _crosses(n) and _crosses(point))] or [point]


def _crosses(point: _Point) -> bool:
    return bool(point[1])


def _least(a: _Point, b: _Point) -> float:
    """How far apart two neighbours of a row have to be."""
    return 1.0 if not _crosses(a) and not _crosses(b) else CROSSING if _crosses(a) and _crosses(b) else BESIDE


def _apart(wanted: Sequence[float], least: Sequence[float]) -> list[float]:
    """Places as near to the wanted ones as two greedy ways find, which start from either end; `least` from each to the next."""
    rightward, leftward = list(wanted), list(wanted)
    for i, apart in enumerate(least, 1):
        rightward[i] = max(wanted[i], rightward[i - 1] + apart)
    for i, apart in reversed(list(enumerate(least))):
        leftward[i] = min(wanted[i], leftward[i + 1] - apart)
    return [(a + b) / 2 for a, b in zip(rightward, leftward, strict=True)]
