"""The state of projects: the record and backups of each, in a hidden folder next to its files."""

import shutil
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from uuid import uuid4

from filelock import FileLock, Timeout
from pydantic import ValidationError

from selfeng.core.errors import RequestError, ResourceBusy, ResourceNotFound, WorkspaceError
from selfeng.core.files import zipped
from selfeng.core.package_lock import PackageLock
from selfeng.core.private import close_to_others, make_private, replace_private
from selfeng.core.value import Value
from selfeng.projects.edits import Change, differences
from selfeng.projects.project_context import LastStep
from selfeng.projects.workspace import Workspace, WorkspaceFile

KEPT = 100
"""Backups of a project; older ones are deleted."""


def back_up(workspace: Workspace, folder: Path, number: int | None = None) -> Path:
    """A zip of all files of the workspace, under that number or the next free one in the folder.
    Blocking.
    """
    make_private(folder)
    there = backups(folder)
    path = folder / f"{number or newest(folder) + 1:06}.zip"
    replace_private(path, packed(workspace))
    for old in there[: -KEPT + 1]:
        old.unlink(missing_ok=True)
    return path


def packed(workspace: Workspace) -> bytes:
    """The zip of all files with their permissions; the same for the same files. Blocking."""
    files = {file.path: file.content for file in workspace.files()}
    return zipped(files, {path: workspace.mode(path) for path in files})


def backups(folder: Path) -> tuple[Path, ...]:
    """All of them, the oldest first."""
    return tuple(sorted(path for path in folder.glob("*.zip") if path.stem.isdigit()))


def newest(folder: Path) -> int:
    """The number of the newest backup; 0 if there is none."""
    return max((int(path.stem) for path in backups(folder)), default=0)


def put_back(workspace: Workspace, backup: Path) -> None:
    """Make the files what they were at a backup, where they differ. Blocking. Raises:
    WorkspaceError: the backup is damaged; nothing was changed.
    """
    if packed(workspace) != backup.read_bytes():
        _write(workspace, workspace.files(), _read(backup))


def _write(
    workspace: Workspace,
    before: Sequence[WorkspaceFile],
    backup_files: Mapping[str, tuple[bytes, int]],
) -> None:
    """Make the files, which were those `before`, those of a backup, and no others."""
    for file in before:
        if file.path not in backup_files or backup_files[file.path][0] != file.content:
            workspace.delete(file.path)  # first, so that never too much is there
    for path, (content, mode) in backup_files.items():
        workspace.write(path, content, mode)


def _read(backup: Path) -> dict[str, tuple[bytes, int]]:
    """Contents and permissions by path. Raises: WorkspaceError: it is damaged."""
    try:
        with zipfile.ZipFile(backup) as archive:
            return {
                entry.filename: (archive.read(entry), (entry.external_attr >> 16) & 0o777)
                for entry in archive.infolist()
            }
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, zlib.error) as error:
        raise WorkspaceError(
            f"the backup {backup} can't be read: {error}", "name another one"
        ) from error


class Restored(Value):
    """The result of restoring a backup."""

    project: str
    number: int
    """The backup that is the present state now."""
    kept: Path
    """The backup of what was there before."""
    changes: tuple[Change, ...]

    def __str__(self) -> str:
        return (
            f"{self.project} is what it was at backup {self.number}. "
            f"What was there before is backup {int(self.kept.stem)}."
        )


HIDDEN = ".builds"
Status = Literal["building", "finished", "failed", "stopped"]


class Activity(Value):
    """An action and its result."""

    epoch: int
    action: str
    arguments: str
    """On one line, without long texts."""
    result: str
    ok: bool

    def __str__(self) -> str:
        return f"{self.epoch}. {self.action} {self.arguments}: {self.result}"


class ProjectState(Value):
    """The state of a project that is stored after each step."""

    goal: str
    status: Status = "building"
    before: LastStep = LastStep(epoch=0)
    activity: tuple[Activity, ...] = ()
    """Oldest first."""
    log: str = ""
    """The output of the last runs."""
    packages: tuple[str, ...] = ()
    """Packages that were approved and added."""
    lock: PackageLock | None = None
    """Their versions."""


class ProjectStore:
    """The projects in one folder. Blocking."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def names(self) -> tuple[str, ...]:
        """Names of the projects that have been built here."""
        return tuple(
            sorted(path.parent.name for path in (self.folder / HIDDEN).glob("*/state.json"))
        )

    def workspace(self, name: str) -> Workspace:
        return Workspace(self.folder / name)

    def backups(self, name: str) -> Path:
        """The folder of a project's backups."""
        return self.folder / HIDDEN / name / "backups"

    def load(self, name: str) -> ProjectState | None:
        """None if nothing was built under this name. Raises: RequestError: the state is damaged."""
        path = self._state(name)
        try:
            return ProjectState.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            raise RequestError(
                f"{path} can't be read: {error}", "delete it; the project's files are not affected"
            ) from error

    def begin(self, name: str) -> str:
        """Mark the project's folder as that of a new build; returns the mark."""
        mark = uuid4().hex
        (self._make_private(name) / "build").write_text(mark, encoding="utf-8")
        return mark

    def mark(self, name: str) -> str:
        """The mark of the newest build; "" if there is none."""
        try:
            return (self._state(name).parent / "build").read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""

    def existing(self, name: str) -> ProjectState:
        """Raises: ResourceNotFound: nothing was built under this name. RequestError: the state is
        damaged.
        """
        if (state := self.load(name)) is None:
            raise ResourceNotFound(
                f"there is no project {name!r} in {self.folder}",
                f"there are: {', '.join(self.names()) or 'none'}",
            )
        return state

    def backup(self, name: str, number: int | None = None) -> Path:
        """The backup of that number, or the newest. Raises: ResourceNotFound: there is none."""
        there = {int(path.stem): path for path in backups(self.backups(name))}
        chosen_number = max(there, default=0) if number is None else number
        if chosen_number not in there:
            raise ResourceNotFound(
                f"{name} has no backup {chosen_number}",
                f"there are: {', '.join(map(str, there)) or 'none'}",
            )
        return there[chosen_number]

    def restore(self, name: str, number: int | None = None) -> Restored:
        """Make the project's files what they were at a backup, by default the newest: contents,
        permissions, and no others. The present files become the newest backup.

        Raises:
            ResourceNotFound: there is no such project or backup.
            ResourceBusy: it is being built.
            WorkspaceError: the backup is damaged, or the present files can't be backed up; nothing
                was changed.
        """
        self.existing(name)
        workspace = self.workspace(name)
        with self.claimed(name):
            backup = self.backup(name, number)
            backup_files, before = _read(backup), workspace.files()
            # may delete the oldest, which was read
            new_backup = back_up(workspace, self.backups(name))
            _write(workspace, before, backup_files)
            changes = tuple(differences(before, workspace.files()))
        return Restored(project=name, number=int(backup.stem), kept=new_backup, changes=changes)

    def save(self, name: str, state: ProjectState) -> None:
        """Save as a whole or not at all."""
        self._make_private(name)
        replace_private(self._state(name), state.model_dump_json(indent=1).encode())

    @contextmanager
    def claimed(self, name: str) -> Iterator[None]:
        """Hold the project, across processes. Raises: ResourceBusy: another build holds it."""
        folder = self._make_private(name)
        lock = FileLock(folder / ".lock", timeout=0, mode=0o600)
        try:
            lock.acquire()
        except Timeout as error:
            raise ResourceBusy(
                f"the project {name!r} is already being built",
                "wait for that build, or stop it",
                name=name,
            ) from error
        try:
            for directory in (folder, self.workspace(name).folder):
                close_to_others(directory, with_contents=True)  # earlier versions left them open
            yield
        finally:
            lock.release()

    def delete(self, name: str) -> None:
        """Delete the project's files, backups and state. Raises: ResourceNotFound: nothing was
        built under this name. ResourceBusy.
        """
        self.existing(name)
        workspace = self.workspace(name)
        with self.claimed(name):
            for path in workspace.paths():
                workspace.delete(path)
        if workspace.folder.is_dir() and not any(workspace.folder.iterdir()):
            workspace.folder.rmdir()
        shutil.rmtree(self.folder / HIDDEN / name)

    def _make_private(self, name: str) -> Path:
        """The folder of a project's state."""
        folder = self._state(name).parent
        if not self.folder.exists():
            make_private(self.folder)
        for directory in (folder.parent, folder):
            make_private(directory)
        return folder

    def _state(self, name: str) -> Path:
        return self.folder / HIDDEN / name / "state.json"
