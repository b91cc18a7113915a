"""All recipes, by subject."""

from selfeng.offline.cookbook.recipe import Recipe
from selfeng.offline.cookbook.recipes.compositions import COMPOSITIONS
from selfeng.offline.cookbook.recipes.conversions import CONVERSIONS
from selfeng.offline.cookbook.recipes.data import DATA
from selfeng.offline.cookbook.recipes.dates import DATES
from selfeng.offline.cookbook.recipes.encodings import ENCODINGS
from selfeng.offline.cookbook.recipes.figures import FIGURES
from selfeng.offline.cookbook.recipes.files import FILES
from selfeng.offline.cookbook.recipes.inspections import INSPECTIONS
from selfeng.offline.cookbook.recipes.lists import LISTS
from selfeng.offline.cookbook.recipes.numbers import NUMBERS
from selfeng.offline.cookbook.recipes.texts import TEXTS

RECIPES: tuple[Recipe, ...] = (
    *TEXTS,
    *INSPECTIONS,
    *FIGURES,
    *NUMBERS,
    *DATES,
    *LISTS,
    *CONVERSIONS,
    *DATA,
    *FILES,
    *ENCODINGS,
    *COMPOSITIONS,
)
