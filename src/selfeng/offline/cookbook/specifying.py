"""Specifications, suites and modules of recipes, under the name that a conversation gives them."""

import re
from collections.abc import Collection

from selfeng.core.spec import SpecExample, Specification, SpecParameter
from selfeng.offline.cookbook.recipe import Recipe
from selfeng.offline.cookbook.recipes import RECIPES
from selfeng.offline.cookbook.source import example_requests


def specification(recipe: Recipe, taken: Collection[str] = ()) -> Specification:
    """The recipe's tool, under the first of its names that is not taken."""
    source, name = recipe.source, free_name(recipe, taken)
    return Specification(
        name=name,
        description=source.description,
        parameters=tuple(
            SpecParameter(name=p.name, annotation=p.annotation, default=p.default, description=p.description)
            for p in source.signature.parameters
        ),
        returns=source.signature.returns,
        returns_description=source.returns,
        errors=source.errors,
        user_examples=(),
        examples=tuple(SpecExample(call=source.renamed(e.call, name), result=e.result) for e in source.examples),
        example_requests=_requests(recipe),
    )


def example_request(recipe: Recipe) -> str:
    """One request that the recipe answers."""
    return _requests(recipe)[0]


def _requests(recipe: Recipe) -> tuple[str, ...]:
    return recipe.requests or example_requests(recipe.name)


def free_name(recipe: Recipe, taken: Collection[str]) -> str:
    """The recipe's name, else one of its aliases, else its name with a number."""
    names = (recipe.name, *recipe.aliases, *(f"{recipe.name}_{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


def recipe_of(spec: Specification) -> Recipe | None:
    """The recipe whose tool the specification describes: its name and its parameters are the recipe's."""
    recipe = next((r for r in RECIPES if r.makes(spec.name)), None)
    if recipe is None:
        return None
    ours, theirs = recipe.source.signature, spec.signature()
    same = [(p.name, p.annotation, p.default) for p in ours.parameters] == [(p.name, p.annotation, p.default) for p in theirs.parameters]
    return recipe if same and ours.returns == theirs.returns else None


def with_imports(code: str, rest: str) -> str:
    """The code with the tools that it imports under the names that they have in the library, as the prompt lists them."""
    for name in re.findall(r"^from (\w+) import \1\b", rest, re.MULTILINE):
        for recipe in RECIPES:
            if recipe.makes(name):
                code = recipe.source.renamed(code, name)
    return code


def names_in(text: str) -> frozenset[str]:
    """The names of the recipes' tools that a text mentions."""
    return frozenset(word for word in re.findall(r"[a-z_][a-z0-9_]*", text) if any(r.makes(word) for r in RECIPES))
