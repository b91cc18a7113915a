"""The page's libraries: `npm ci` into node_modules, with the machine's npm or one from PyPI. A
distribution has the page's bundle instead.

`python -m selfeng.provision.front_end early` needs no package: set-up runs it while packages are
being installed. With `dev` it also installs what tests and lint need, such as prettier.
"""

import hashlib
import sys
from collections.abc import Callable

from selfeng.core.errors import AgentError
from selfeng.core.network import InstallFailed, run_installer
from selfeng.core.places import FILES, HOME
from selfeng.provision.node import command, own


class FrontEndUnavailable(AgentError):
    """The page's libraries could not be installed."""


def prepare_front_end(report: Callable[[str], None], *, dev: bool = False) -> None:
    """Install what package-lock.json names, unless the same lock file was installed before or the
    page's bundle ships; `dev`: with its devDependencies.

    Raises:
        FrontEndUnavailable: npm failed; the message ends with npm's output.
        NodeUnavailable: there is no npm, and none can be installed.
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
        "--loglevel=http",  # tells of each attempt, where npm repeats them for minutes
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


if __name__ == "__main__" and (
    own("npm") or "early" not in sys.argv
):  # else the packages, which include Node, have to be installed first
    try:
        prepare_front_end(lambda line: None, dev="dev" in sys.argv)
    except AgentError as error:
        sys.exit(f"{error.message}\nWhat to do: {error.remedy}")
