"""Packages: which ones the sandbox offers beside the standard library, and how to install them.

Imports nothing but the standard library: set-up runs it before anything is installed.
"""

import re
import subprocess
import sys
from functools import cache

from selfeng.core.places import FILES

LIST = FILES / "docker" / "requirements.in"
"""The one list of the sandbox's packages; `docker/requirements.txt` pins their dependencies."""
_LINE = re.compile(
    r"(?P<package>[A-Za-z][\w.-]*)==\S+(?:\s+#\s*(?:import (?P<module>\w+)|(?P<tests>tests "
    r"only)))?\s*",
    re.ASCII,
)
_PIP = (
    "--disable-pip-version-check",
    "--no-input",
    "--progress-bar",
    "off",
    "--no-warn-script-location",
)


@cache
def sandbox_packages() -> tuple[str, ...]:
    """Names of the top-level modules that a tool may import, sorted."""
    return tuple(sorted(sandbox_requirements()))


@cache
def sandbox_requirements() -> dict[str, str]:
    """The line of each of these modules in a requirements.txt."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    found = [m for line in lines if (m := _LINE.fullmatch(line)) and not m["tests"]]
    return {m["module"] or m["package"]: m.group().strip() for m in found}


def install_command(*arguments: str) -> list[str]:
    """The command that installs wheels only, never source: uv if this environment has it, else pip.

    `arguments` are options that both know, such as `--target`, `--no-deps`, `--require-hashes` and
    `-r`.
    """
    try:
        from uv import find_uv_bin

        by = [
            find_uv_bin(),
            "pip",
            "install",
            "--python",
            sys.executable,
            "--no-progress",
            "--link-mode",
            "copy",
        ]
    except (ImportError, FileNotFoundError):
        by = [sys.executable, "-m", "pip", "install", *_PIP]
    return [*by, "--only-binary", ":all:", *arguments]


if __name__ == "__main__":  # `python -m selfeng.core.packages ARGUMENTS` installs
    sys.exit(subprocess.run(install_command(*sys.argv[1:]), check=False).returncode)  # noqa: S603
