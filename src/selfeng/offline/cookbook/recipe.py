"""A recipe: one tool of the cookbook, the requests that ask for it, and how its result is put into words."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from selfeng.core.plan import PlannedStep
from selfeng.core.value import Value
from selfeng.offline.cookbook.pattern import Pattern, compile_pattern
from selfeng.offline.cookbook.source import Source, read_source
from selfeng.offline.cookbook.wording import Form


class Recipe(Value):
    """One tool that the offline model can write, call and talk about."""

    name: str
    """Of the tool and of its files, among the seeds or in `code/`."""
    patterns: tuple[str | tuple[str, Mapping[str, Any]], ...]
    """Wordings that ask for it, see `pattern`; with arguments that a wording implies."""
    requests: tuple[str, ...] = ()
    """Five ways to ask for it; "" for a seed, which brings its own."""
    says: str | tuple[str, str] = ""
    """The answer with {result} and {parameters}; for a yes-or-no question the answers for True and False."""
    steps: tuple[PlannedStep, ...] = ()
    """The steps that the request is taken in before a plan of them is kept as this tool; with {parameters} in their requests."""
    aliases: tuple[str, ...] = ()
    """Other names that a tool for the same job may have; one of them is taken where the name is not free."""

    @cached_property
    def source(self) -> Source:
        return read_source(self.name)

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset((self.name, *self.aliases))

    @cached_property
    def compiled(self) -> tuple[Pattern, ...]:
        annotations = {p.name: p.annotation for p in self.source.signature.parameters}
        pairs = ((p, {}) if isinstance(p, str) else p for p in self.patterns)
        return tuple(compile_pattern(template, annotations, constants) for template, constants in pairs)

    def match(self, forms: tuple[Form, ...]) -> dict[str, Any] | None:
        """The arguments that the request gives this tool, or None if it does not ask for it."""
        found = (pattern.match(form.text, form.place) for form in forms for pattern in self.compiled)
        return next((arguments for arguments in found if arguments is not None), None)

    def makes(self, name: str) -> bool:
        """Whether a tool of that name is this recipe's."""
        return re.sub(r"_\d+$", "", name) in self.names
