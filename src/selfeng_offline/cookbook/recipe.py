"""Recipes: the tools of the cookbook, the wordings that ask for them, and the wording of their
results.

A pattern is the wording of a request with slots for its values. `reverse{TEXT} <text>` is a regular
expression in which a space matches any white space, brackets don't capture, `{TEXT}` is a phrase of
`phrases.toml` or of the recipe, and `<parameter>` or `<parameter:kind>` is a slot. A colon may
introduce a slot after a space, too.
"""

import ast
import inspect
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from selfeng.core.plan import PlannedStep
from selfeng.core.signature import Signature, parse_signature
from selfeng.core.spec import SpecExample, Specification, SpecParameter
from selfeng.core.value import Value
from selfeng.seeds import FOLDER as SEEDS
from selfeng.seeds.recipe_file import read_recipes
from selfeng_offline.cookbook.literals import (
    KINDS,
    OF_ANNOTATION,
    LiteralKind,
    Quoting,
    Unreadable,
)

FOLDER = Path(__file__).parent / "recipes"
"""Contains a recipe file for each recipe that is not a seed."""
_MOST_EXAMPLES = 8
_SECTION = re.compile(r"^(Args|Returns|Raises):\n((?:[ ]{4}.*\n?|\n)+)", re.MULTILINE)
_SLOT = re.compile(r"( ?)<(\w+)(?::(\w+))?>")


class ImplyingPattern(Value):
    """A pattern with arguments that its wording implies."""

    wording: str
    implies: Mapping[str, Any]


@dataclass(frozen=True)
class CompiledPattern:
    """A pattern as a regular expression; group `slot0` is its first slot, `colon0` the same after a
    colon.
    """

    regex: re.Pattern[str]
    slots: tuple[tuple[str, LiteralKind], ...]
    """The parameter of each slot."""
    implies: Mapping[str, Any]

    def match(self, text: str, quoting: Quoting) -> dict[str, Any] | None:
        """The arguments by name, or None if the text as a whole does not have this wording."""
        if (fit := self.regex.fullmatch(text)) is None:
            return None
        groups, arguments = fit.groupdict(), dict(self.implies)
        try:
            for number, (parameter, kind) in enumerate(self.slots):
                if groups.get(f"colon{number}") is not None:
                    arguments[parameter] = kind.read(groups[f"colon{number}"], "verbatim")
                elif groups[f"slot{number}"] is not None:
                    arguments[parameter] = kind.read(groups[f"slot{number}"], quoting)
        except Unreadable:
            return None
        return arguments


class Recipe(Value):
    """One tool that the offline model can write, call and talk about; its fields are the TOML of
    its file.
    """

    name: str
    code: str
    tests: str
    patterns: tuple[str | ImplyingPattern, ...]
    phrases: Mapping[str, str] = {}
    """Phrases that its patterns share."""
    requests: tuple[str, ...]
    """Five ways to ask for it."""
    says: str | tuple[str, str] = ""
    """The answer with {result} and {parameters}; for a yes-or-no question the answers for True and
    False.
    """
    steps: tuple[PlannedStep, ...] = ()
    """The steps of the request's plan before that plan is saved as this tool; with {parameters} in
    their requests.
    """
    german_steps: tuple[PlannedStep, ...] = ()
    aliases: tuple[str, ...] = ()
    """Other names that a tool for the same job may have; one of them is used if the name is taken.
    """
    description: str = ""
    """Description of the tool, unless the first line of its docstring is used."""
    parameters: Mapping[str, str] = {}
    """Descriptions of the parameters that the docstring lacks."""

    @cached_property
    def signature(self) -> Signature:
        return parse_signature(self.code, self.name, self.parameters or self._described)

    @cached_property
    def specification(self) -> Specification:
        """The tool as an analyst would specify it, from its docstring and its tests' asserts."""
        return Specification(
            name=self.name,
            description=self.description or self._docstring.partition("\n")[0],
            parameters=tuple(
                SpecParameter.model_validate(p, from_attributes=True)
                for p in self.signature.parameters
            ),
            returns=self.signature.returns,
            returns_description=self._section("Returns"),
            errors=self._section("Raises") or "None for arguments of the annotated types.",
            user_examples=(),
            examples=tuple(_examples(self.tests, self.name))[:_MOST_EXAMPLES],
            example_requests=self.requests,
        )

    @cached_property
    def compiled(self) -> tuple[CompiledPattern, ...]:
        patterns = [
            ImplyingPattern(wording=p, implies={}) if isinstance(p, str) else p
            for p in self.patterns
        ]
        return tuple(
            _compiled(self._expanded(p.wording), self.signature, p.implies) for p in patterns
        )

    @cached_property
    def kinds(self) -> Mapping[str, LiteralKind]:
        """By parameter, how a request may write its value."""
        return {
            parameter: kind
            for pattern in reversed(self.compiled)
            for parameter, kind in pattern.slots
        }

    def specified(self, taken_names: Collection[str] = ()) -> Specification:
        """The specification under the first free name: its own, an alias, or one with a number."""
        names = (
            self.name,
            *self.aliases,
            *(f"{self.name}_{number}" for number in range(2, len(taken_names) + 3)),
        )
        name = next(name for name in names if name not in taken_names)
        examples = tuple(
            SpecExample(call=self.renamed(e.call, name), result=e.result)
            for e in self.specification.examples
        )
        return self.specification.model_copy(update={"name": name, "examples": examples})

    def renamed(self, text: str, name: str) -> str:
        """Code or tests of this recipe for a tool of another name."""
        return re.sub(rf"\b{self.name}\b", name, text)

    @cached_property
    def _docstring(self) -> str:
        functions = (
            n
            for n in ast.parse(self.code).body
            if isinstance(n, ast.FunctionDef) and n.name == self.name
        )
        return inspect.cleandoc(ast.get_docstring(next(functions)) or "")

    def _section(self, title: str) -> str:
        return " ".join(dict(_SECTION.findall(self._docstring + "\n")).get(title, "").split())

    @property
    def _described(self) -> dict[str, str]:
        arguments = dict(_SECTION.findall(self._docstring + "\n")).get("Args", "")
        entries = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", arguments, re.MULTILINE)
        return {name: " ".join(text.split()) for name, text in entries}

    def _expanded(self, wording: str) -> str:
        phrases = {**_shared_phrases(), **self.phrases}
        while (
            expanded := re.sub(r"\{([A-Z][A-Z0-9_]*)\}", lambda match: phrases[match[1]], wording)
        ) != wording:
            wording = expanded
        return wording


@cache
def recipes() -> tuple[Recipe, ...]:
    """All recipes, including the seeds'; read when first needed, so that a start does not wait for
    them.
    """
    files = sorted((*read_recipes(SEEDS), *read_recipes(FOLDER)), key=lambda file: file.name)
    return tuple(
        Recipe(name=file.name, code=file.code, tests=file.tests, **file.head) for file in files
    )


def recipe_for_tool(name: str) -> Recipe | None:
    """The recipe for the tool of this name, with or without an added number."""
    return _by_name().get(re.sub(r"_\d+$", "", name))


@cache
def _by_name() -> Mapping[str, Recipe]:
    return {name: recipe for recipe in recipes() for name in (recipe.name, *recipe.aliases)}


@cache
def _shared_phrases() -> Mapping[str, str]:
    return tomllib.loads(Path(__file__).with_name("phrases.toml").read_text(encoding="utf-8"))


def _compiled(wording: str, signature: Signature, implies: Mapping[str, Any]) -> CompiledPattern:
    """Raises: KeyError: a slot is not a parameter, or its kind is unknown."""
    annotations = {p.name: p.annotation for p in signature.parameters}
    slots, regex, end = list[tuple[str, LiteralKind]](), "", 0
    for slot in _SLOT.finditer(wording):
        space, parameter, kind_name = slot.groups()
        kind, number = KINDS[kind_name or OF_ANNOTATION[annotations[parameter]]], len(slots)
        slots.append((parameter, kind))
        value = f"(?P<slot{number}>{kind.written})"
        after_colon = (
            rf"(?:\s*:\s*(?P<colon{number}>{kind.after_colon or kind.written})|\s+{value})"
        )
        regex += _uncaptured(wording[end : slot.start()]) + (after_colon if space else value)
        end = slot.end()
    return CompiledPattern(
        re.compile(regex + _uncaptured(wording[end:]), re.IGNORECASE), tuple(slots), implies
    )


def _uncaptured(wording: str) -> str:
    return re.sub(r"(?<!\\)\((?!\?)", "(?:", wording).replace(" ", r"\s+")


def _examples(tests: str, name: str) -> Iterator[SpecExample]:
    """The calls whose results or errors the tests assert."""
    for node in ast.walk(ast.parse(tests)):
        match node:
            case ast.Assert(
                test=ast.Compare(
                    left=ast.Call(func=ast.Name(id=called)) as call, comparators=[value]
                )
            ) if called == name:
                exact = (
                    value.args[0] if isinstance(value, ast.Call) and value.args else value
                )  # `pytest.approx(1.5)` as `1.5`
                yield SpecExample(call=ast.unparse(call), result=ast.unparse(exact))
            case ast.With(
                items=[ast.withitem(context_expr=ast.Call(args=[error]))],
                body=[ast.Expr(value=ast.Call() as call)],
            ):
                yield SpecExample(call=ast.unparse(call), result=f"raises {ast.unparse(error)}")
