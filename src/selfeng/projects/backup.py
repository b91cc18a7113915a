"""Backups: zips of how a project was before each action, and the way back to one."""

import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from selfeng.core.errors import WorkspaceError
from selfeng.core.private import make_file_private, make_private
from selfeng.projects.workspace.folder import Workspace

KEPT = 100
"""Backups of a project; older ones are deleted."""
_EPOCH = (1980, 1, 1, 0, 0, 0)


def back_up(workspace: Workspace, folder: Path) -> Path:
    """A zip of all files of the workspace, under the next free number in the folder. Blocking."""
    make_private(folder)
    there = backups(folder)
    path = folder / f"{int(there[-1].stem) + 1 if there else 1:06}.zip"
    unfinished = folder / f".{path.name}.new"
    make_file_private(unfinished)
    unfinished.write_bytes(packed(workspace))
    unfinished.rename(path)
    for old in there[: -KEPT + 1]:
        old.unlink(missing_ok=True)
    return path


def packed(workspace: Workspace) -> bytes:
    """The zip of all files with their permissions; the same for the same files. Blocking."""
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in workspace.files():
            entry = zipfile.ZipInfo(file.path, _EPOCH)
            entry.external_attr = workspace.mode(file.path) << 16
            archive.writestr(entry, file.content, zipfile.ZIP_DEFLATED)
    return written.getvalue()


def backups(folder: Path) -> tuple[Path, ...]:
    """All of them, the oldest first."""
    return tuple(sorted(path for path in folder.glob("*.zip") if path.stem.isdigit()))


def restore(workspace: Workspace, backup: Path) -> None:
    """Make the workspace what it was: its files with their contents and permissions, and no others. Blocking.

    Raises:
        WorkspaceError: there is no such backup, or it is damaged; then nothing was changed.
    """
    try:
        kept = {path: (content, mode) for path, content, mode in _read(backup)}
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise WorkspaceError(f"the backup {backup} can't be read: {error}", "name another one") from error
    for path in workspace.paths():
        if path not in kept:
            workspace.delete(path)
    for path, (content, mode) in kept.items():
        workspace.write(path, content, mode)


def _read(backup: Path) -> Iterator[tuple[str, bytes, int]]:
    with zipfile.ZipFile(backup) as archive:
        for entry in archive.infolist():
            yield entry.filename, archive.read(entry), (entry.external_attr >> 16) & 0o777
