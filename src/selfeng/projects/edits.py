"""Edits: the effect of the actions that change a file, as text and as a unified diff."""

from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff
from typing import Literal, assert_never

from selfeng.core.composition import is_copy
from selfeng.core.errors import WorkspaceError
from selfeng.core.project_events import ProjectChanged
from selfeng.core.value import Value
from selfeng.core.words import count
from selfeng.projects.actions import (
    CreateFile,
    DeleteFile,
    Edit,
    InsertLines,
    RemoveLines,
    ReplaceLines,
    WriteFile,
)
from selfeng.projects.workspace import Workspace, WorkspaceFile

_NO_END = "\\ No newline at end of file"


class Change(Value):
    """The effect of an edit on a file."""

    path: str
    kind: Literal["created", "edited", "deleted", "unchanged"]
    diff: str
    """Unified; "" if nothing is different."""

    def event(self, project: str, epoch: int, backup: str) -> ProjectChanged:
        """The change as an event; `backup` is the zip from before."""
        fields = {"path": self.path, "change": self.kind, "diff": self.diff}
        return ProjectChanged(project=project, epoch=epoch, backup=backup, **fields)


def apply(workspace: Workspace, edit: Edit) -> Change:
    """Apply the edit. Blocking.

    Raises:
        WorkspaceError: the file is missing, or exists already; it is a copy of a tool; it has no
            such lines; the workspace would hold too much.
    """
    existed = workspace.exists(edit.name)
    if isinstance(edit, CreateFile) and existed:
        raise WorkspaceError(
            f"the file {edit.name} already exists",
            "edit its lines, or replace it with write_file",
        )
    overwritten = isinstance(edit, CreateFile | WriteFile | DeleteFile)
    before = "" if not existed and overwritten else _text(workspace, edit.name, overwritten)
    if isinstance(edit, DeleteFile):
        workspace.delete(edit.name)
        return Change(path=edit.name, kind="deleted", diff=unified(edit.name, before, ""))
    if is_copy(before):
        raise WorkspaceError(
            f"{edit.name} is a copy of a verified tool, which does not change",
            "change the files that import it, or delete it and create another one",
        )
    after = edited(before, edit)
    if existed and after == before:
        return Change(path=edit.name, kind="unchanged", diff="")
    workspace.write(edit.name, after.encode("utf-8", "backslashreplace"))
    return Change(
        path=edit.name,
        kind="edited" if existed else "created",
        diff=unified(edit.name, before, after),
    )


def edited(
    text: str, edit: CreateFile | WriteFile | ReplaceLines | InsertLines | RemoveLines
) -> str:
    """The text after the edit; other lines stay as they are, to the byte. Raises: WorkspaceError:
    there are no such lines.
    """
    lines = _lines(text)
    match edit:
        case CreateFile() | WriteFile():
            return edit.body
        case ReplaceLines():
            _check_range(edit.name, edit.first, edit.last, len(lines))
            lines[edit.first - 1 : edit.last] = _new(edit.text, text)
        case InsertLines():
            _check_range(edit.name, edit.line, edit.line, len(lines) + 1)
            if lines and edit.line == len(lines) + 1 and not lines[-1].endswith("\n"):
                lines[-1] += _ending(text)
            lines[edit.line - 1 : edit.line - 1] = _new(edit.text, text)
        case RemoveLines():
            _check_range(edit.name, edit.first, edit.last, len(lines))
            del lines[edit.first - 1 : edit.last]
        case _:
            assert_never(edit)
    return "".join(lines)


def replaced(
    workspace: Workspace, before: Mapping[str, str], after: Mapping[str, str]
) -> tuple[Change, ...]:
    """Replace the texts of files, by path, and return what changes. Blocking. Raises:
    WorkspaceError: the workspace would hold too much.
    """
    edits: list[Edit] = [DeleteFile(name=p) for p, text in before.items() if after.get(p) != text]
    edits += [CreateFile(name=p, body=text) for p, text in after.items() if before.get(p) != text]
    return tuple(apply(workspace, edit) for edit in edits)


def unified(path: str, before: str, after: str) -> str:
    """A unified diff of two texts of a file; "" if they are the same."""
    lines = unified_diff(_lines(before), _lines(after), f"a/{path}", f"b/{path}", n=3)
    return "".join(line if line.endswith("\n") else f"{line}\n{_NO_END}\n" for line in lines)


def differences(
    before: Iterable[WorkspaceFile], after: Iterable[WorkspaceFile]
) -> Iterator[Change]:
    """A change for each file that differs; its diff is "" if it is not text."""
    old, new = ({file.path: file.content for file in files} for files in (before, after))
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) == new.get(path):
            continue
        try:
            diff = unified(path, old.get(path, b"").decode(), new.get(path, b"").decode())
        except UnicodeDecodeError:
            diff = ""
        yield Change(
            path=path,
            kind="created" if path not in old else "edited" if path in new else "deleted",
            diff=diff,
        )


def numbered(text: str) -> str:
    """The text with the number of each line in front of it, as edits count lines."""
    return "".join(f"{number:4} | {line}" for number, line in enumerate(_lines(text), 1))


def _lines(text: str) -> list[str]:
    """The lines with their ends; only `\\n` ends a line, as editors and Python count."""
    *complete_lines, remainder = text.split("\n")
    return [f"{line}\n" for line in complete_lines] + ([remainder] if remainder else [])


def _check_range(name: str, first: int, last: int, lines: int) -> None:
    if first > last:
        raise WorkspaceError(
            f"the lines {first} to {last} of {name} are in the wrong order",
            "give the smaller number first",
        )
    if last > lines:
        raise WorkspaceError(
            f"{name} has no line {last}: it has {count(lines, 'line')}",
            "see the numbers in front of its lines",
        )


def _new(text: str, before: str) -> list[str]:
    ending = _ending(before)
    return [f"{line}{ending}" for line in text.removesuffix("\n").replace("\r\n", "\n").split("\n")]


def _ending(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _text(workspace: Workspace, path: str, overwritten: bool) -> str:
    """`overwritten`: a file that is not text counts as empty, since it is replaced as a whole."""
    try:
        return workspace.text(path)
    except WorkspaceError:
        if not overwritten:
            raise
        return ""
