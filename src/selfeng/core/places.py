"""Where the files of this installation are.

Imports nothing but the standard library: set-up runs it before anything is installed.
"""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]
_CHECKOUT = _PACKAGE.parents[1]
_IS_CHECKOUT = (_CHECKOUT / "pyproject.toml").is_file() and _PACKAGE.parent.name == "src"

FILES = _CHECKOUT if _IS_CHECKOUT else _PACKAGE / "files"
"""What ships beside the code: locked lists of packages, and the build files of the sandbox's image.
"""
HOME = (
    _CHECKOUT
    if _IS_CHECKOUT
    else Path(os.environ.get("SELFENG_HOME") or "~/.selfeng").expanduser().absolute()
)
"""The folder of settings and data, and the base of relative folders, wherever a program was
started. A checkout uses its own; an installed package uses SELFENG_HOME, or `.selfeng` in the home
folder.
"""
WORKER = _PACKAGE / "sandboxes" / "worker"
"""The code that runs inside the sandbox."""
