"""The Python environment that code runs with where no image brings one: the interpreter of this machine, and packages of its own.

It is a folder named after a digest of what it was made from; a name stands only for a folder that is complete.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock

from src.core.errors import SandboxFailed, SandboxUnavailable

PREFIX = Path("/opt/sandbox")
"""Where containers have it."""

_ROOT = Path(__file__).resolve().parents[2]
_REQUIREMENTS = _ROOT / "docker" / "requirements.txt"
_WORKER = Path(__file__).parent / "worker"
_FORM = "1"
"""To be changed with the folder's form."""
_BUILDING = ".building"
_KEPT = 24 * 3600.0
"""Seconds that an environment outlives the last time that somebody prepared it."""
_ACCOUNTS = {"passwd": "nobody:x:65534:65534:nobody:/tmp:/usr/sbin/nologin\n", "group": "nogroup:x:65534:\n"}
_SHOWN = 15

BUILD = "set it up with `python -m src setup sandbox`"


class PythonEnvironment:
    """The environment below a folder. Blocking."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def current(self) -> Path:
        """Where the environment is, or would be, that fits this checkout and this interpreter."""
        return self._folder / _digest()[:16]

    def path(self) -> Path:
        """The folder of the environment.

        Raises:
            SandboxUnavailable: it has not been built.
        """
        current = self.current
        if not current.is_dir():
            raise SandboxUnavailable(f"there is no Python environment to run code in below {self._folder}", BUILD)
        return current

    def is_current(self) -> bool:
        return self.current.is_dir()

    def build(self, on_line: Callable[[str], None], finish: Callable[[Path], None]) -> None:
        """Build it, unless it is there; `finish` does the last steps with the folder before it counts as complete.

        Raises:
            SandboxFailed: the packages could not be installed, or the folder can't be written to.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder / ".lock"):
                current = self.current
                if not current.is_dir():
                    unfinished = self._folder / _BUILDING
                    shutil.rmtree(unfinished, ignore_errors=True)
                    _fill(unfinished, on_line)
                    finish(unfinished)
                    unfinished.rename(current)
                os.utime(current)
                self._clear(current)
        except OSError as error:
            raise SandboxFailed(
                f"the sandbox's Python environment can't be built: {error}", "see that DATA_DIR can be written to"
            ) from error

    def _clear(self, current: Path) -> None:
        """Remove what was built long ago; containers may still run on what was built lately."""
        for folder in self._folder.iterdir():
            if folder.is_dir() and folder != current and time.time() - folder.stat().st_mtime > _KEPT:
                shutil.rmtree(folder, ignore_errors=True)


def interpreter_folders() -> tuple[Path, ...]:
    """Where the interpreter and its library lie."""
    return tuple(dict.fromkeys(Path(folder).resolve() for folder in (sys.base_prefix, sys.base_exec_prefix)))


def _interpreter() -> Path:
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


def _digest() -> str:
    """sha256 over everything that the environment depends on."""
    digest = hashlib.sha256("\0".join((_FORM, sys.version, str(_interpreter()))).encode())
    for path in (_REQUIREMENTS, *sorted(_WORKER.glob("*.py"))):
        content = path.read_bytes()
        digest.update(f"\0{path.name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _fill(folder: Path, on_line: Callable[[str], None]) -> None:
    """Lay out a virtual environment by hand: the standard library's way would bring pip, or need a Debian package."""
    interpreter = _interpreter()
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(interpreter)
    (folder / "pyvenv.cfg").write_text(f"home = {interpreter.parent}\ninclude-system-site-packages = false\n")
    (folder / "etc").mkdir()
    for name, content in _ACCOUNTS.items():
        (folder / "etc" / name).write_text(content)
    packages = folder / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    packages.mkdir(parents=True)
    _run(on_line, *_install(packages))
    shutil.copytree(_WORKER, packages / "sandbox_worker", ignore=shutil.ignore_patterns("__pycache__"))
    _run(on_line, "-m", "compileall", "-q", str(packages / "sandbox_worker"))
    for path in _tree(folder):
        path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)  # whatever this user's umask is


def _install(packages: Path) -> Iterator[str]:
    yield from ("-m", "pip", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--no-warn-script-location")
    yield from ("--only-binary", ":all:", "--target", str(packages), "-r", str(_REQUIREMENTS))


def _tree(folder: Path) -> Iterator[Path]:
    yield folder
    yield from (path for path in folder.rglob("*") if not path.is_symlink())


def _run(on_line: Callable[[str], None], *arguments: str) -> None:
    """Run this Python; its lines go to `on_line`."""
    lines: list[str] = []
    command = [sys.executable, *arguments]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:  # noqa: S603
        for line in process.stdout or ():
            lines.append(line.rstrip())
            on_line(lines[-1])
    if process.returncode:
        shown = "\n".join(lines[-_SHOWN:])
        raise SandboxFailed(f"`{' '.join(command[:4])}` failed for the sandbox's Python environment:\n{shown}", "see the lines above")
