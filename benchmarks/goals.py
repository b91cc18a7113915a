"""The end of a benchmark: the goals that its figures miss, and the figures as one line of JSON."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any


def missed(
    figures: Mapping[str, Any],
    most: Mapping[str, float],
    least: Mapping[str, float] | None = None,
    *,
    of: str = "",
) -> list[str]:
    """Which figures are above `most` or below `least`, in words that begin with `of`.
    A figure that was not measured misses nothing.
    """
    return [
        f"{of}{name} is {figures[name]}, at {bound} {goal} is the goal"
        for bound, goals, sign in (("most", most, 1), ("least", least or {}, -1))
        for name, goal in goals.items()
        if sign * float(figures.get(name, goal)) > sign * goal
    ]


def report(
    figures: Mapping[str, Any],
    most: Mapping[str, float],
    least: Mapping[str, float] | None = None,
    *,
    problems: Sequence[str] = (),
) -> int:
    """Print which goals are `missed`, the other problems, and last the figures as JSON; returns the
    exit code, which is 1 if anything is wrong.
    """
    wrong = [*missed(figures, most, least), *problems]
    sys.stdout.write("".join(f"{line}\n" for line in wrong) + json.dumps(figures) + "\n")
    return int(bool(wrong))
