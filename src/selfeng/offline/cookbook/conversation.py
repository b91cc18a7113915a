"""A request in its conversation: which recipes it asks for, also where it only continues the request before it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from selfeng.core.plan import PlannedStep
from selfeng.offline.cookbook.literals import Unreadable
from selfeng.offline.cookbook.recipe import Recipe
from selfeng.offline.cookbook.recipes import RECIPES
from selfeng.offline.cookbook.small_talk import reply_to
from selfeng.offline.cookbook.wording import forms

_CONTINUED = re.compile(
    r"(?:(?:and|now|then|next|also)\s+)?(?:(?:what|how)\s+about|(?:do\s+)?the\s+same\s+(?:for|with)|and|now|then|next|also)"
    r"(?:\s+(?:for|with))?[\s,:]+(?P<value>.+)",
    re.IGNORECASE | re.DOTALL,
)
_FILE = "path"
_TABLES = (".csv", ".tsv", ".txt")
_MEMORY = 10
"""How many requests back a chain of continued ones is followed."""


@dataclass(frozen=True)
class Match:
    """A recipe that a request asks for, with the arguments that it gives."""

    recipe: Recipe
    arguments: dict[str, Any]

    @property
    def missing(self) -> tuple[str, ...]:
        """Required parameters that the request gives no value for."""
        return tuple(p.name for p in self.recipe.source.signature.parameters if p.required and p.name not in self.arguments)

    def with_file(self, files: Sequence[str]) -> "Match":
        """The match with the only table among the files where the request names none."""
        tables = [name for name in files if name.lower().endswith(_TABLES)]
        return Match(self.recipe, {**self.arguments, _FILE: tables[0]}) if _FILE in self.missing and len(tables) == 1 else self


def matches(request: str, earlier: Sequence[str] = ()) -> tuple[Match, ...]:
    """The recipes that the request asks for; `earlier` are the requests before it, oldest first."""
    readings = forms(request)
    found = [Match(recipe, arguments) for recipe in RECIPES if (arguments := recipe.match(readings)) is not None]
    return tuple(found) or _continued(request, earlier[-_MEMORY:])


def completed(earlier: Sequence[str], answers: Mapping[str, str]) -> tuple[Match, ...]:
    """The matches of the request before, with what the person was asked for, parameter by parameter; none without answers."""
    before = matches(earlier[-1], earlier[:-1]) if earlier and answers else ()
    return tuple(m for match in before if (m := _with_values(match, answers)))


def planned(match: Match) -> tuple[PlannedStep, ...]:
    """The steps of a recipe that takes several, with what the request gives."""
    shown = {name: repr(value) for name, value in match.arguments.items()}
    return tuple(step.model_copy(update={"request": step.request.format_map(shown)}) for step in match.recipe.steps)


def _continued(request: str, earlier: Sequence[str]) -> tuple[Match, ...]:
    """The matches of the request before, with the value that this one gives instead, or the one that was missing."""
    if not earlier or reply_to(request):
        return ()
    text = request.strip().rstrip("?! ")
    continued = _CONTINUED.fullmatch(text)
    value = continued["value"] if continued else text
    before = matches(earlier[-1], earlier[:-1])
    return tuple(m for match in before if (continued or match.missing) and (m := _with_value(match, value)))


def _with_value(match: Match, value: str) -> Match | None:
    """The match with the value for the one parameter that it can be meant for; None where that is not clear."""
    slots = {s.parameter: s.kind for pattern in reversed(match.recipe.compiled) for s in pattern.slots}
    asked = match.missing or tuple(match.arguments)
    fitting = {}
    for name in asked:
        if name in slots and re.fullmatch(slots[name].written, value, re.IGNORECASE):
            try:
                fitting[name] = slots[name].read(value, "plain")
            except Unreadable:
                continue
    return Match(match.recipe, {**match.arguments, **fitting}) if len(fitting) == 1 else None


def _with_values(match: Match, values: Mapping[str, str]) -> Match | None:
    """The match with the values for parameters that lack one; None where one of them can't be read."""
    slots = {s.parameter: s.kind for pattern in reversed(match.recipe.compiled) for s in pattern.slots}
    try:
        read = {name: slots[name].read(value, "verbatim") for name, value in values.items() if name in match.missing and name in slots}
    except Unreadable:
        return None
    return Match(match.recipe, {**match.arguments, **read})
