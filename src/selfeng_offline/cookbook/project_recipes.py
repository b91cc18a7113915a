"""Projects of the cookbook: what the offline model builds from several files, step by step, using
only what the prompt shows.
"""

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from selfeng.core.value import Value
from selfeng.seeds.recipe_file import read_recipes
from selfeng_offline.completion import Completion
from selfeng_offline.cookbook.read_prompt import ReadPrompt

_FOLDER = Path(__file__).parent / "projects"
_FILE = re.compile(r'^=== (?P<path>"[^\n]*")\n(?P<lines>(?:[ \d]{4,} \| [^\n]*\n?)*)', re.MULTILINE)
_NUMBER = re.compile(r"^[ \d]{4,} \| ?", re.MULTILINE)
_NOTHING_DONE = "("
_KNOWN = (
    "a command line that counts words, a report with a chart on a CSV file, and a melody as "
    "a MIDI file"
)


class Slip(Value):
    """A mistake of the first draft, which the first run reveals."""

    path: str
    right: str
    wrong: str
    """One line in place of the right one."""
    lesson: str
    """The reason given when it is fixed."""


class ProjectRecipe(Value):
    """One project; its fields are the TOML of its file."""

    name: str
    asks: str
    """Regular expression; a goal that it is found in asks for this project."""
    files: Mapping[str, str]
    """In the order in which they are written."""
    slip: Slip
    tried: tuple[str, ...]
    """Arguments for the final trial of main.py; none: no trial."""
    summary: str

    def draft(self, path: str) -> str:
        """The file as it is first written."""
        return (
            self.files[path].replace(self.slip.right, self.slip.wrong)
            if path == self.slip.path
            else self.files[path]
        )


@cache
def projects() -> tuple[ProjectRecipe, ...]:
    """All projects, by name."""
    return tuple(
        ProjectRecipe(name=file.name, files=file.files, **file.head)
        for file in read_recipes(_FOLDER)
    )


def project_for(goal: str) -> ProjectRecipe | None:
    """The project that a goal asks for; None if it asks for no known one."""
    return next(
        (
            project
            for project in projects()
            if re.search(project.asks, goal, re.IGNORECASE | re.DOTALL)
        ),
        None,
    )


def take_step(prompt: ReadPrompt) -> Completion:
    """The call that brings the project closer to the recipe's."""
    recipe, activity = project_for(prompt.sections["goal"]), prompt.sections["activity"]
    if recipe is None:
        return _call(
            "give_up",
            "",
            reason=f"The offline model has no recipe for this project. It knows {_KNOWN}.",
        )
    files = _files(prompt.sections["project"])
    has_begun = not activity.startswith(_NOTHING_DONE)
    if any(tool["name"] == "finish" for tool in prompt.tools) and (
        not has_begun or files.keys() >= recipe.files.keys()
    ):
        if has_begun and recipe.tried and "execute_py_file" not in activity:
            why = "Everything passes; it is tried as a person would use it."
            return _call("execute_py_file", why, name="main.py", arguments=list(recipe.tried))
        return _call(
            "finish",
            "Everything that the goal asks for is there, and passes.",
            summary=recipe.summary,
        )
    for path in recipe.files:
        if path not in files:
            return _call(
                "create_file", f"{path} is not there yet.", name=path, body=recipe.draft(path)
            )
    return _mended(recipe, files)


def _mended(recipe: ProjectRecipe, files: Mapping[str, str]) -> Completion:
    slip = recipe.slip
    lines = files[slip.path].split("\n")
    if slip.wrong in lines:
        number = lines.index(slip.wrong) + 1
        return _call(
            "replace_lines",
            slip.lesson,
            name=slip.path,
            first=number,
            last=number,
            text=f"{slip.right}\n",
        )
    for path, source in recipe.files.items():
        if files[path].rstrip("\n") != source.rstrip("\n"):
            return _call(
                "write_file",
                f"{path} does not do what it should; it is written again.",
                name=path,
                body=source,
            )
    return _call(
        "give_up", "", reason="Every file is what the recipe says, and still something fails."
    )


def _files(project: str) -> dict[str, str]:
    return {
        json.loads(file_match["path"]): _NUMBER.sub("", file_match["lines"])
        for file_match in _FILE.finditer(project)
    }


def _call(name: str, reasoning: str, /, **arguments: Any) -> Completion:
    return Completion(
        function=name, arguments={"reasoning": reasoning, **arguments}, finish_reason="tool_calls"
    )
