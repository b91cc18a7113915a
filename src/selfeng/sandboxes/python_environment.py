"""PythonEnvironment: this machine's interpreter with its own packages, for backends without an
image.

Packages and worker have a folder each, named after a digest of what it was made from; a folder with
such a name is always complete.
"""

import hashlib
import os
import shutil
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from filelock import FileLock

from selfeng.core.errors import SandboxFailed, SandboxUnavailable
from selfeng.core.network import InstallFailed, run_installer
from selfeng.core.package_lock import PackageLock
from selfeng.core.packages import SANDBOX_LOCK, WORKER_PACKAGE, install_command
from selfeng.core.places import worker_files
from selfeng.sandboxes import interpreter

PREFIX = Path("/opt/sandbox")
"""Its path in containers."""

_FORM = "2"
"""Change it when the layout of the folders changes."""
_BUILDING = ".building"
_KEPT = 24 * 3600.0
"""Seconds that a folder is kept after it was last prepared."""
_ACCOUNTS = {
    "passwd": "nobody:x:65534:65534:nobody:/tmp:/usr/sbin/nologin\n",
    "group": "nogroup:x:65534:\n",
}

SITE_PACKAGES = Path("lib", f"python{sysconfig.get_python_version()}", "site-packages")
"""The path of the packages in the folder of an environment."""
REPLACED = "interpreter"
"""The folder of files that replace the interpreter's own."""
BUILD = "set it up with `selfeng setup sandbox`"


@dataclass(frozen=True)
class Parts:
    packages: Path
    """A virtual environment."""
    worker: Path
    """The sources of the package `sandbox_worker`."""

    @property
    def edition(self) -> str:
        return f"{self.packages.name} {self.worker.name}"

    @property
    def complete(self) -> bool:
        return self.packages.is_dir() and self.worker.is_dir()


class PythonEnvironment:
    """The environment in a folder. Blocking."""

    def __init__(
        self, folder: Path, requirements: Path = SANDBOX_LOCK, lock: PackageLock | None = None
    ) -> None:
        """An environment with the packages of a `lock` has a folder of its own, so that neither
        removes the other as an old one, and shares its other files.
        """
        self._below = PythonEnvironment(folder, requirements) if lock else None
        self._folder = folder / "with" / lock.digest if lock else folder
        self._requirements = requirements
        self._lock = lock

    @property
    def current(self) -> Parts:
        """The folders for this checkout and interpreter, whether they exist or not."""
        lock = self._lock.text if self._lock else ""
        made_for = " ".join((_FORM, sys.version, str(interpreter.program()), lock))
        return Parts(
            packages=self._folder / f"packages-{_digest(made_for, self._requirements)}",
            worker=self._folder / f"worker-{_digest(made_for, *worker_files())}",
        )

    def parts(self) -> Parts:
        """The folders of the environment.

        Raises:
            SandboxUnavailable: it has not been built.
        """
        current = self.current
        if not current.complete:
            raise SandboxUnavailable(
                f"there is no Python environment to run code in below {self._folder}", BUILD
            )
        return current

    def is_current(self) -> bool:
        return self.current.complete

    def build(self, on_line: Callable[[str], None], finish: Callable[[Parts], None]) -> None:
        """Build what is missing; `finish` does the last steps on new packages before they count as
        complete.

        Raises:
            SandboxFailed: the packages could not be installed, or the folder can't be written to.
        """
        if self._below:
            self._below.build(on_line, finish)
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder / ".lock"):
                current = self.current
                self._provide(current.worker, lambda folder: _add_worker(folder, on_line))
                self._provide(
                    current.packages,
                    lambda folder: (
                        self._add_lock(folder, on_line, self._below.current.packages, self._lock)
                        if self._below and self._lock
                        else self._add_packages(folder, on_line, finish)
                    ),
                )
                self._clear(current)
        except OSError as error:
            raise SandboxFailed(
                f"the sandbox's Python environment can't be built: {error}",
                "see that DATA_DIR can be written to",
            ) from error

    def _provide(self, folder: Path, fill: Callable[[Path], None]) -> None:
        if not folder.is_dir():
            unfinished = self._folder / _BUILDING
            shutil.rmtree(unfinished, ignore_errors=True)
            unfinished.mkdir()
            fill(unfinished)
            for path in _tree(unfinished):
                path.chmod(
                    0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644
                )  # independent of this user's umask
            unfinished.rename(folder)
        os.utime(folder)
        os.utime(folder.parent)

    def _add_packages(
        self, folder: Path, on_line: Callable[[str], None], finish: Callable[[Parts], None]
    ) -> None:
        """Create a virtual environment by hand: the standard library's way would install pip, or
        need a Debian package.
        """
        program = interpreter.program_inside()
        (folder / "bin").mkdir()
        (folder / "bin" / "python").symlink_to(program)
        (folder / "pyvenv.cfg").write_text(
            f"home = {program.parent}\ninclude-system-site-packages = false\n"
        )
        (folder / REPLACED).mkdir()
        for name, _, _ in interpreter.replaced():
            (folder / REPLACED / name).write_text(interpreter.rewritten(name))
        (folder / "etc").mkdir()
        for name, content in _ACCOUNTS.items():
            (folder / "etc" / name).write_text(content)
        packages = folder / SITE_PACKAGES
        (packages / WORKER_PACKAGE).mkdir(parents=True)  # for the worker to be mounted on
        into = ("--no-compile", "--target", str(packages))
        _run(on_line, install_command(*into, "--require-hashes", "-r", str(self._requirements)))
        _compile(packages, on_line)
        finish(Parts(folder, self.current.worker))

    def _add_lock(
        self, folder: Path, on_line: Callable[[str], None], below: Path, lock: PackageLock
    ) -> None:
        """The environment `below` with further packages; its files are linked."""
        copy = partial(shutil.copytree, symlinks=True, dirs_exist_ok=True, copy_function=os.link)
        copy(below, folder)
        listed = folder / "requirements.txt"
        listed.write_text(lock.text, encoding="utf-8")
        packages = folder / SITE_PACKAGES
        command = install_command(
            "--no-compile", "--target", str(packages), "--no-deps", "--require-hashes", "-r",
            str(listed),
        )  # fmt: skip
        _run(on_line, command)
        _compile(packages, on_line)

    def _clear(self, current: Parts) -> None:
        """Remove old folders; containers may still run on recent ones."""
        for folder in self._folder.iterdir():
            if (
                folder.is_dir()
                and folder not in (current.packages, current.worker)
                and time.time() - folder.stat().st_mtime > _KEPT
            ):
                shutil.rmtree(folder, ignore_errors=True)


def _digest(text: str, *files: Path) -> str:
    """A shortened sha256 over everything that a folder depends on."""
    digest = hashlib.sha256(text.encode())
    for path in files:
        content = path.read_bytes()
        digest.update(f"\0{path.name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()[:16]


def _add_worker(folder: Path, on_line: Callable[[str], None]) -> None:
    for path in worker_files():
        shutil.copy(path, folder)
    _run(on_line, [sys.executable, "-m", "compileall", "-q", str(folder)])


def _compile(packages: Path, on_line: Callable[[str], None]) -> None:
    """Compile them, since a container can't write. Nothing imports their tests, half of them."""
    command = [sys.executable, "-m", "compileall", "-q", "-j", "0", "-x", "/tests/", str(packages)]
    _run(on_line, command)


def _tree(folder: Path) -> Iterator[Path]:
    yield folder
    yield from (path for path in folder.rglob("*") if not path.is_symlink())


def _run(on_line: Callable[[str], None], command: Sequence[str]) -> None:
    """Run a command; its lines go to `on_line`."""
    try:
        run_installer(command, on_line)
    except InstallFailed as error:
        raise SandboxFailed(
            f"`{' '.join(command[:4])}` failed for the sandbox's Python environment:\n{error}",
            error.remedy or "see the lines above",
        ) from error
