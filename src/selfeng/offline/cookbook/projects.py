"""Projects of the cookbook: what the offline model builds of several files, a step at a time, from nothing but what the prompt shows."""

import json
import re
from collections.abc import Collection, Mapping
from functools import cached_property
from typing import Any

from selfeng.core.value import Value
from selfeng.offline.completion import Completion
from selfeng.offline.cookbook.source import FOLDER

_PROJECTS = FOLDER / "projects"
_FILE = re.compile(r'^=== (?P<path>"[^\n]*")\n(?P<lines>(?:[ \d]{4,} \| [^\n]*\n?)*)', re.MULTILINE)
_NUMBER = re.compile(r"^[ \d]{4,} \| ?", re.MULTILINE)
_NOTHING_DONE = "("


class Slip(Value):
    """A mistake of the first draft, which the first run brings up."""

    path: str
    right: str
    wrong: str
    """One line in the place of the right one."""
    lesson: str
    """What is said when it is mended."""


class ProjectRecipe(Value):
    """One project: goals that ask for it, and its files in `code/projects/<name>/`."""

    name: str
    asks: str
    """Regular expression; a goal in which it is found asks for this project."""
    files: tuple[str, ...]
    """In the order in which they are written."""
    slip: Slip
    tried: tuple[str, ...]
    """Arguments with which main.py is tried in the end; none: it is not."""
    summary: str

    @cached_property
    def sources(self) -> Mapping[str, str]:
        return {path: (_PROJECTS / self.name / path).read_text(encoding="utf-8") for path in self.files}

    def draft(self, path: str) -> str:
        """The file as it is first written."""
        return self.sources[path].replace(self.slip.right, self.slip.wrong) if path == self.slip.path else self.sources[path]


PROJECTS = (
    ProjectRecipe(
        name="melody",
        asks=r"\b(?:midi|melod(?:y|ies)|music|song|tunes?)\b",
        files=("notes.py", "midi.py", "main.py", "test_melody.py"),
        slip=Slip(
            path="midi.py",
            right="    return bytes(reversed(groups))\n",
            wrong="    return bytes(groups)\n",
            lesson="MIDI writes the highest seven bits first, so the groups have to be reversed.",
        ),
        tried=("C4", "E4", "G4:2"),
        summary="`python main.py` writes a melody into song.mid; notes such as `C4 E4:1/2 R G4:2` can be given as arguments.",
    ),
    ProjectRecipe(
        name="csv_report",
        asks=r"\bcsv\b.*\b(?:report|plot|chart|graph)|\b(?:report|plot|chart|graph)\b.*\b(?:csv|table|sales)\b",
        files=("sales.csv", "report.py", "main.py", "test_report.py"),
        slip=Slip(
            path="main.py",
            right='    sums = totals(read_rows("sales.csv"), "month")\n',
            wrong='    sums = totals(read_rows("sale.csv"), "month")\n',
            lesson="The file is called sales.csv.",
        ),
        tried=(),
        summary="`python main.py` sums sales.csv by month and writes report.md and chart.png.",
    ),
    ProjectRecipe(
        name="word_counter",
        asks=r"\bwords?\b.*\b(?:cli|command|count)|\b(?:cli|command|count\w*)\b.*\bwords?\b",
        files=("counting.py", "main.py", "test_counting.py"),
        slip=Slip(
            path="counting.py",
            right="""    return Counter(re.findall(r"[\\w']+", text.lower()))\n""",
            wrong="    return Counter(text.lower().split())\n",
            lesson="Splitting at spaces leaves punctuation at the words.",
        ),
        tried=("--top", "2"),
        summary="`python main.py FILE --top N` lists the most frequent words of a text file; without a file it counts an example.",
    ),
)
KNOWN = "a command line that counts words, a report with a chart on a CSV file, and a melody as a MIDI file"


def recipe_for(goal: str) -> ProjectRecipe | None:
    """The project that a goal asks for, None if it asks for none that is known."""
    return next((recipe for recipe in PROJECTS if re.search(recipe.asks, goal, re.IGNORECASE | re.DOTALL)), None)


def next_step(goal: str, project: str, activity: str, functions: Collection[str]) -> Completion:
    """The call that brings the project nearer to the recipe's; `project` and `activity` as the prompt shows them."""
    recipe = recipe_for(goal)
    if recipe is None:
        return _call("give_up", "", reason=f"The offline model has no recipe for this project. It knows {KNOWN}.")
    files = _files(project)
    begun = not activity.startswith(_NOTHING_DONE)
    if "finish" in functions and (not begun or files.keys() >= set(recipe.files)):
        if begun and recipe.tried and "execute_py_file" not in activity:
            why = "Everything passes; it is tried as a person would use it."
            return _call("execute_py_file", why, name="main.py", arguments=list(recipe.tried))
        return _call("finish", "Everything that the goal asks for is there, and passes.", summary=recipe.summary)
    for path in recipe.files:
        if path not in files:
            return _call("create_file", f"{path} is not there yet.", name=path, body=recipe.draft(path))
    return _mended(recipe, files)


def _mended(recipe: ProjectRecipe, files: Mapping[str, str]) -> Completion:
    slip, wrong = recipe.slip, recipe.slip.wrong.strip("\n")
    lines = files[slip.path].split("\n")
    if wrong in lines:
        number = lines.index(wrong) + 1
        return _call("replace_lines", slip.lesson, name=slip.path, first=number, last=number, text=slip.right)
    for path, source in recipe.sources.items():
        if files[path].rstrip("\n") != source.rstrip("\n"):
            return _call("write_file", f"{path} does not do what it should; it is written anew.", name=path, body=source)
    return _call("give_up", "", reason="Every file is what the recipe says, and still something fails.")


def _files(project: str) -> dict[str, str]:
    return {json.loads(found["path"]): _NUMBER.sub("", found["lines"]) for found in _FILE.finditer(project)}


def _call(name: str, reasoning: str, /, **arguments: Any) -> Completion:
    return Completion(function=name, arguments={"reasoning": reasoning, **arguments}, finish_reason="tool_calls")
