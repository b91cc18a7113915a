"""All recipes, by subject."""

from src.offline.cookbook.recipe import Recipe
from src.offline.cookbook.recipes.compositions import COMPOSITIONS
from src.offline.cookbook.recipes.conversions import CONVERSIONS
from src.offline.cookbook.recipes.data import DATA
from src.offline.cookbook.recipes.dates import DATES
from src.offline.cookbook.recipes.encodings import ENCODINGS
from src.offline.cookbook.recipes.figures import FIGURES
from src.offline.cookbook.recipes.files import FILES
from src.offline.cookbook.recipes.inspections import INSPECTIONS
from src.offline.cookbook.recipes.lists import LISTS
from src.offline.cookbook.recipes.numbers import NUMBERS
from src.offline.cookbook.recipes.texts import TEXTS

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
