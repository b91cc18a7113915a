"""The page's libraries: `npm ci` into node_modules, with the machine's npm or one from PyPI.

`python -m selfeng.provision.front_end` needs no package: set-up runs it beside the installing of the packages.
"""

import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable

from selfeng.core.errors import AgentError
from selfeng.core.places import FILES, HOME
from selfeng.provision.node import command, own


class FrontEndUnavailable(AgentError):
    """The page's libraries could not be installed."""


def prepare_front_end(report: Callable[[str], None]) -> None:
    """Install what package-lock.json names, unless the same lock file was installed before.

    Raises:
        FrontEndUnavailable: npm failed; the message ends with what it said.
        NodeUnavailable: there is no npm, and none can be installed.
    """
    lock = hashlib.sha256((FILES / "package-lock.json").read_bytes()).hexdigest()
    stamp = HOME / "node_modules" / ".installed"
    if stamp.is_file() and stamp.read_text() == lock:
        return
    report("Installing the page's libraries from the npm registry")
    if FILES != HOME:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(FILES / name, HOME)
    npm_ci = [*command("npm", report), "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
    finished = subprocess.run(npm_ci, cwd=HOME, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    if finished.returncode:
        raise FrontEndUnavailable(
            f"npm ci failed: {finished.stderr.strip()[-600:]}", "see that the npm registry can be reached, then start again"
        )
    stamp.write_text(lock)


if __name__ == "__main__" and own("npm"):  # else it has to wait for the packages, with which Node is installed
    try:
        prepare_front_end(lambda line: None)
    except AgentError as error:
        sys.exit(error.message)
