"""This installation: its version, and where its files are.

In a checkout it imports nothing but the standard library: set-up runs it before anything is
installed.
"""

import os
from pathlib import Path

VERSION = "0.1.0"
_PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = _PACKAGE.parents[1]
_IS_CHECKOUT = (_CHECKOUT / "pyproject.toml").is_file() and _PACKAGE.parent.name == "src"


def _home() -> Path:
    if _IS_CHECKOUT:
        return _CHECKOUT
    if home_override := os.environ.get("SELFENG_HOME"):
        return Path(home_override).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("selfeng", appauthor=False).absolute()


FILES = _CHECKOUT if _IS_CHECKOUT else _PACKAGE / "files"
"""The files that ship next to the code: locked lists of packages, the build files of the sandbox's
image and, except in a checkout, the page's bundle.
"""
HOME = _home()
"""The folder of settings and data, and the base of relative folders, wherever a program was
started. A checkout uses its own; an installed package uses SELFENG_HOME, or the folder that the
system has for a user's data, such as `~/.local/share/selfeng`.
"""
SOURCES = _PACKAGE.parent
"""The folder of this program's packages and modules."""
WORKER = SOURCES / "sandbox_worker"
"""The code that runs inside the sandbox."""
READER_FILE = SOURCES / "readcells.py"
"""The module that reads cells, in the sandbox and outside."""


def worker_files() -> list[Path]:
    """The sources of the sandbox's package `sandbox_worker`, in one folder there."""
    return [*sorted(WORKER.glob("*.py")), READER_FILE]


def child_environment(**more: str) -> dict[str, str]:
    """The environment of a child that runs a module of this package, which a checkout need not have
    installed.
    """
    environment = {**os.environ, **more}
    if _IS_CHECKOUT:
        paths = filter(None, [str(_PACKAGE.parent), environment.get("PYTHONPATH")])
        environment["PYTHONPATH"] = os.pathsep.join(paths)
    return environment
