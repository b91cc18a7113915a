"""Workspace: the files below one folder, reached only through it, under relative paths of plain
names.
"""

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import AfterValidator, ConfigDict

from selfeng.core.errors import WorkspaceError
from selfeng.core.files import FileLimits, name_problem, shown_name
from selfeng.core.private import make_private
from selfeng.core.system import WSL
from selfeng.core.value import Value
from selfeng.core.words import count

CACHES = frozenset({"__pycache__", "node_modules", "venv"})
"""Folders that are not part of a workspace, just as hidden ones are not."""
DEEPEST = 8
LONGEST = 400
"""Characters."""


LIMITS = FileLimits(count=200, size=5 * 1024 * 1024)
"""How much a workspace may hold."""


def path_problem(path: str) -> str | None:
    """Why a file of a workspace can't have this path."""
    parts = path.split("/")
    if path.startswith("/"):
        return "it is absolute"
    if len(parts) > DEEPEST or len(path) > LONGEST:
        return f"it is longer than {LONGEST} characters, or deeper than {DEEPEST} folders"
    if any(part == ".." for part in parts):
        return "it leads out of the workspace"
    if folder := next((part for part in parts[:-1] if part in CACHES), None):
        return f"{folder} is a folder for generated files"
    return next((problem for part in parts if (problem := name_problem(part))), None)


def checked(path: str) -> str:
    """The path. Raises: ValueError: it can't be one."""
    if problem := path_problem(path):
        raise ValueError(
            f"{shown_name(path)!r} can't be a path in the workspace: {problem}; name it as in "
            "`tests/test_main.py`"
        )
    return path


WorkspacePath = Annotated[str, AfterValidator(checked)]


_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class WorkspaceFile(Value):
    """A file with its content."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64"
    )

    path: WorkspacePath
    content: bytes


class Workspace:
    """A folder with files that are read and written by paths that can't leave it. Blocking.

    Every folder on the path is opened below the one before, and no link is followed, even one that
    appears in between. Hidden files, links, caches and special files are not part of it: they are
    neither shown nor touched.
    """

    def __init__(self, folder: Path, limits: FileLimits = LIMITS) -> None:
        """The folder is created when the first file is written.

        Raises:
            WorkspaceError: this system opens no file below an open folder, as Windows.
        """
        if os.open not in os.supports_dir_fd:
            raise WorkspaceError("projects can't be kept safely on native Windows", WSL)
        self.folder = folder.resolve()
        self.limits = limits

    def paths(self) -> tuple[str, ...]:
        """The paths of all files, sorted.

        Raises:
            WorkspaceError: there are more than `limits` allow, or the folder can't be read.
        """
        sorted_paths = sorted(path for path, _ in self._walk())
        self._check_number(len(sorted_paths))
        return tuple(sorted_paths)

    def files(self) -> tuple[WorkspaceFile, ...]:
        """All files with their contents, without those that vanish meanwhile. Raises:
        WorkspaceError, as `paths`; also if they are too large together.
        """
        paths, workspace_files = self.paths(), list[WorkspaceFile]()
        self._check_size(sum(size for _, size in self._walk()))
        for path in paths:
            try:
                workspace_files.append(WorkspaceFile(path=path, content=self.read(path)))
            except WorkspaceError:
                if self.exists(path):
                    raise
        return tuple(workspace_files)

    def read(self, path: str) -> bytes:
        """Raises: WorkspaceError: there is no such file, or it is not a regular one."""
        with (
            self._translated(path),
            self._folder_of(path) as (folder, name),
            open(os.open(name, _READ, dir_fd=folder), "rb") as file,
        ):
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise WorkspaceError(
                    f"{path} is not a regular file", "name a file of the workspace"
                )
            return file.read(self.limits.size + 1)

    def text(self, path: str) -> str:
        """Raises: WorkspaceError: there is no such regular file, or it is not UTF-8 text."""
        try:
            return self.read(path).decode()
        except UnicodeDecodeError as error:
            raise WorkspaceError(
                f"{path} is not UTF-8 text", "replace the whole file, or leave it"
            ) from error

    def exists(self, path: str) -> bool:
        try:
            with self._folder_of(path) as (folder, name):
                return stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        except OSError:
            return False

    def write(self, path: str, content: bytes, mode: int | None = None) -> None:
        """Write a file as a whole or not at all, and create its folders. `mode` None: its
        permissions stay as they are. Only the owner has any.

        Raises:
            WorkspaceError: the path is not allowed, something else has its name, or the workspace
                would hold too much.
        """
        self._check(path)
        sizes = dict(self._walk())
        self._check_number(len(sizes.keys() | {path}))
        self._check_size(sum(sizes.values()) - sizes.get(path, 0) + len(content))
        with self._translated(path):
            make_private(self.folder)
            with self._folder_of(path, make=True) as (folder, name):
                _replace(folder, name, content, mode)

    def delete(self, path: str) -> None:
        """Delete a file, and the folders that it leaves empty. Raises: WorkspaceError, as
        `read`.
        """
        if not self.exists(path):
            raise WorkspaceError(f"there is no file {path}", "name a file of the workspace")
        with self._translated(path), self._folder_of(path) as (folder, name):
            os.unlink(name, dir_fd=folder)
        *folders, _ = path.split("/")
        for depth in range(len(folders), 0, -1):
            with (
                suppress(OSError),
                self._folder_of("/".join(folders[:depth])) as (above, name),
            ):  # it has more
                os.rmdir(name, dir_fd=above)

    def mode(self, path: str) -> int:
        """The permissions of a file. Raises: WorkspaceError, as `read`."""
        with self._translated(path), self._folder_of(path) as (folder, name):
            return stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)

    def keep(self, files: Iterable[WorkspaceFile]) -> tuple[str, ...]:
        """Write what a run made; returns the paths of the files that are new or changed. Raises:
        WorkspaceError, as `write`.
        """
        new = [
            file
            for file in files
            if not (self.exists(file.path) and self.read(file.path) == file.content)
        ]
        for file in new:
            self.write(file.path, file.content)
        return tuple(file.path for file in new)

    def _walk(self) -> Iterator[tuple[str, int]]:
        """Path and size of each file."""
        if not self.folder.is_dir():
            return
        for top, folders, names, folder in os.fwalk(self.folder, follow_symlinks=False):
            folders[:] = sorted(
                name for name in folders if not name.startswith(".") and name not in CACHES
            )
            for name in names:
                path = Path(top, name).relative_to(self.folder).as_posix()
                if path_problem(path) is None and not name.endswith(".pyc"):
                    with suppress(FileNotFoundError):  # it has been renamed or deleted meanwhile
                        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
                        if stat.S_ISREG(status.st_mode):
                            yield path, status.st_size

    @contextmanager
    def _folder_of(self, path: str, make: bool = False) -> Iterator[tuple[int, str]]:
        """A descriptor of the folder that contains the path, and the last name. Raises: OSError,
        WorkspaceError.
        """
        *folders, name = self._check(path).split("/")
        with ExitStack() as stack:
            folder = os.open(self.folder, _FOLDER)
            stack.callback(os.close, folder)
            for part in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(part, 0o700, dir_fd=folder)
                folder = os.open(part, _FOLDER, dir_fd=folder)
                stack.callback(os.close, folder)
            yield folder, name

    @staticmethod
    def _check(path: str) -> str:
        if problem := path_problem(path):
            raise WorkspaceError(
                f"{path[:200]!r} can't be a path in the workspace: {problem}",
                "name it as in `main.py`",
            )
        return path

    def _check_number(self, number: int) -> None:
        if number > self.limits.count:
            message = f"{self.folder} would hold {number} files; {self.limits.count} are allowed"
            raise WorkspaceError(message, "delete some, or use another folder")

    def _check_size(self, size: int) -> None:
        if size > self.limits.size:
            message = (
                f"the files in {self.folder} would have {count(size, 'byte')}; "
                f"{self.limits.size} are allowed"
            )
            raise WorkspaceError(message, "make them smaller, or fewer")

    @contextmanager
    def _translated(self, path: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise WorkspaceError(
                f"there is no file {path}", "name a file of the workspace, or create it"
            ) from error
        except OSError as error:
            raise WorkspaceError(
                f"{path} can't be used: {error.strerror}",
                "links and special files are not followed",
            ) from error


def _replace(folder: int, name: str, content: bytes, mode: int | None) -> None:
    """Raises: OSError; also if something other than a regular file has the name."""
    before = 0o600
    with suppress(FileNotFoundError):
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(0, "it is not a regular file")
        before = stat.S_IMODE(status.st_mode)
    unfinished = f".{os.urandom(8).hex()}.new"
    try:
        with open(
            os.open(
                unfinished,
                os.O_WRONLY | os.O_CREAT | os.O_EXCL,
                0o600,
                dir_fd=folder,
            ),
            "wb",
        ) as file:
            file.write(content)
            os.fchmod(file.fileno(), (before if mode is None else mode) & 0o700)
        os.rename(unfinished, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished, dir_fd=folder)
        raise
