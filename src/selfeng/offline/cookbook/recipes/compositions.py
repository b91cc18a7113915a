"""Recipes that take several steps, and tools that are composed of their tools."""

from selfeng.core.plan import PlannedStep
from selfeng.offline.cookbook.phrases import TEXT
from selfeng.offline.cookbook.recipe import Recipe

_COUNT = ",?( and)?( then)? count (its|the|all) vowels( (of|in) (it|that|the result))?"

COMPOSITIONS: tuple[Recipe, ...] = (
    Recipe(
        name="reverse_and_count_vowels",
        patterns=(f"reverse{TEXT} <text>{_COUNT}", f"reverse <text:quoted>{_COUNT}"),
        requests=(
            "Reverse the text 'abc' and then count its vowels",
            "Reverse 'OpenAI' and count its vowels",
            "Reverse the word 'education', then count its vowels",
            "Reverse the string 'queue' and count the vowels in the result",
            "Reverse 'good morning' and then count the vowels of that",
        ),
        steps=(
            PlannedStep(id="reversed", request="Reverse the text {text}", needs=()),
            PlannedStep(id="vowels", request="Count the vowels in 'reversed'", needs=("reversed",)),
        ),
        says="{text} reversed, with the number of its vowels: {result}.",
    ),
)
