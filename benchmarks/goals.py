"""The end of a benchmark: the goals that its figures miss, and the figures as one line of JSON."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any


def report(
    figures: Mapping[str, Any],
    most: Mapping[str, float],
    least: Mapping[str, float] | None = None,
    *,
    problems: Sequence[str] = (),
) -> int:
    """Print which figures are above `most` or below `least`, the other problems, and last the
    figures as JSON; returns the exit code, which is 1 if anything is wrong.

    A figure that was not measured misses nothing.
    """
    missed = [
        *(
            f"{name} is {figures[name]}, at most {goal} is the goal"
            for name, goal in most.items()
            if float(figures.get(name, goal)) > goal
        ),
        *(
            f"{name} is {figures[name]}, at least {goal} is the goal"
            for name, goal in (least or {}).items()
            if float(figures.get(name, goal)) < goal
        ),
        *problems,
    ]
    sys.stdout.write("".join(f"{line}\n" for line in missed) + json.dumps(figures) + "\n")
    return int(bool(missed))
