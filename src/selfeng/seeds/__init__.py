"""The seed tools: functions written by hand, with their tests, that a new library starts with."""

from pathlib import Path

from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.seeds.recipe_file import RecipeFile, read_recipes

FOLDER = Path(__file__).parent
"""Holds a recipe file for each seed, with what people, the search and the offline model need to
know.
"""


def load_seeds() -> tuple[ToolDraft, ...]:
    """All seed tools, by name.

    Raises:
        SignatureError: the code of a seed does not define the function it is named after.
    """
    return tuple(map(_draft, read_recipes(FOLDER)))


def _draft(seed: RecipeFile) -> ToolDraft:
    return ToolDraft(
        name=seed.name,
        description=seed.head["description"],
        signature=parse_signature(seed.code, seed.name, seed.head["parameters"]),
        code=seed.code,
        tests=seed.tests,
        example_requests=tuple(seed.head["requests"]),
    )
