"""The context of a build: all that is known of the project when the next action is chosen."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic_core import to_jsonable_python

from selfeng.core.composition import is_copy
from selfeng.core.errors import RequestError
from selfeng.core.prompt import FunctionSchema
from selfeng.core.value import Value
from selfeng.core.words import shortened
from selfeng.projects.edits import numbered
from selfeng.projects.examining import MAIN, Examination
from selfeng.projects.workspace import WorkspaceFile

_SHOWN = 24_000
"""Characters of a file that a model sees."""
_SHOWN_DATA = 2_000
"""The same for a file that is not Python."""
_SHOWN_ALL = 120_000
"""Characters of all files; only the names of later files are shown."""
_ERROR = 6_000


class CodeFile(Value):
    """A text file of the project."""

    rel_path: str
    file_path: str
    content: str
    validation_success: bool | None
    """None if it is not Python."""
    validation_error: str | None
    test_success: bool | None
    """None if it has no tests, or they were not run."""
    test_error: str | None
    test_output: str | None


class Context(Value):
    """`model_dump` gives exactly these keys."""

    epoch: int
    """How many times the project was examined, from 1."""
    name: str
    goal: str
    project_dir: str
    project_path: str
    reasoning: str
    """The model's reason for the last action."""
    file_count: int
    filetree: tuple[str, ...]
    filetree_formatted: str
    python_files: tuple[str, ...]
    main_success: bool | None
    """None if there is no main.py, or it was not run."""
    main_error: str | None
    backup: str | None
    """The newest zip."""
    available_actions: tuple[dict[str, Any], ...]
    """Function schemas."""
    available_action_names: tuple[str, ...]
    action_name: str | None
    """The last action."""
    project_code: tuple[CodeFile, ...]
    project_code_formatted: str


class LastStep(Value):
    """The last step's part of the context."""

    epoch: int
    reasoning: str = ""
    action_name: str | None = None
    backup: str | None = None


def gather(
    *,
    name: str,
    goal: str,
    folder: Path,
    before: LastStep,
    files: Sequence[WorkspaceFile],
    examination: Examination,
    actions: Sequence[FunctionSchema],
) -> Context:
    """The context; `folder` is the project's own."""
    code = tuple(_code(file, folder, examination) for file in files if _is_text(file))
    main = examination.main
    paths = tuple(file.path for file in files)
    return Context(
        epoch=before.epoch,
        name=name,
        goal=goal,
        project_dir=str(folder.parent),
        project_path=str(folder),
        reasoning=before.reasoning,
        file_count=len(files),
        filetree=paths,
        filetree_formatted=_tree(paths),
        python_files=tuple(file.path for file in examination.files),
        main_success=main.succeeded if main else None,
        main_error=main.error or None if main else None,
        backup=before.backup,
        available_actions=tuple(action.model_dump() for action in actions),
        available_action_names=tuple(action.name for action in actions),
        action_name=before.action_name,
        project_code=code,
        project_code_formatted=_formatted(code),
    )


def compose_prompt(template: str, context: Context | Mapping[str, Any]) -> str:
    """The template with `{{key}}` replaced by that value of the context: texts as they are, None as
    nothing, others as JSON.

    Raises:
        RequestError: the context has no such key.
    """
    values = dict(context)

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            message = f"the context has no key {match[1]!r}"
            raise RequestError(message, f"use one of {', '.join(values)}")
        content = "" if values[match[1]] is None else values[match[1]]
        json_text = json.dumps(to_jsonable_python(content), indent=1, ensure_ascii=False)
        return content if isinstance(content, str) else json_text

    return re.sub(r"\{\{\s*(\w+)\s*\}\}", value, template)


def findings(context: Context, examination: Examination) -> str:
    """The problems of a project, for a prompt; parts that work, in a word."""
    lines = []
    for file in context.project_code:
        if file.validation_error:
            lines.append(f"{file.rel_path} is invalid: {file.validation_error}")
        if file.test_success is not None:
            lines.append(
                f"{file.rel_path}: "
                f"{'passes' if file.test_success else f'fails{chr(10)}{file.test_error}'}"
            )
    if examination.invalid:
        lines.append("Nothing was run, because not every file is valid.")
    elif main := examination.main:
        lines.append(
            f"{MAIN} {f'works; it printed{chr(10)}{main.stdout}' if main.succeeded else f'fails: {main.error}'}"  # noqa: E501
        )
        lines += [f"{MAIN} made {file.path}" for file in examination.made] + [
            f"{MAIN} left {problem}" for problem in examination.refused
        ]
    else:
        lines.append(f"There is no {MAIN}.")
    return "\n".join(shortened(line.rstrip(), _ERROR) for line in lines)


def _code(file: WorkspaceFile, folder: Path, examination: Examination) -> CodeFile:
    report = next((report for report in examination.files if report.path == file.path), None)
    tests = report.tests if report else None
    output = f"{tests.stdout}{tests.stderr}" if tests else None
    return CodeFile(
        rel_path=file.path,
        file_path=str(folder / file.path),
        content=file.content.decode(),
        validation_success=report.validation_error is None if report else None,
        validation_error=report.validation_error if report else None,
        test_success=tests.succeeded if tests else None,
        test_error=None if tests is None or tests.succeeded else f"{tests.ended}\n{output}".strip(),
        test_output=output,
    )


def _formatted(files: Sequence[CodeFile]) -> str:
    parts: list[str] = []
    characters_left = _SHOWN_ALL
    for file in files:
        content = numbered(file.content)
        if is_copy(file.content):
            content = file.content.partition("\n")[0]
        text = shortened(
            content, _SHOWN if file.validation_success is not None else _SHOWN_DATA
        ).rstrip("\n")
        characters_left -= len(text)
        body = (
            text
            if characters_left >= 0
            else f"({len(file.content)} characters, which are not shown)"
        )
        parts.append(f"=== {json.dumps(file.rel_path, ensure_ascii=False)}\n{body}")
    return "\n\n".join(parts)


def _tree(paths: Sequence[str]) -> str:
    """One name per line; the contents of a folder are indented below it."""
    lines: list[str] = []
    above: list[str] = []
    for path in sorted(paths, key=lambda path: path.split("/")):
        *folders, name = path.split("/")
        shared = next(
            (n for n, (a, b) in enumerate(zip(above, folders, strict=False)) if a != b),
            min(len(above), len(folders)),
        )
        lines += [f"{'  ' * depth}{folders[depth]}/" for depth in range(shared, len(folders))]
        lines.append(f"{'  ' * len(folders)}{name}")
        above = folders
    return "\n".join(lines)


def _is_text(file: WorkspaceFile) -> bool:
    try:
        return "\0" not in file.content.decode()
    except UnicodeDecodeError:
        return False
