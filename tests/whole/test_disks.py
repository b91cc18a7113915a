"""A disk that can't be written: the start and every command report it in a sentence, without a
traceback.
"""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.home import ROOT, Home

pytestmark = pytest.mark.bubblewrap
COMMANDS = (
    pytest.param(["serve"], id="serve"),
    pytest.param(["tools"], id="tools", marks=pytest.mark.extended),
    pytest.param(["call", "reverse_text", "text=abc"], id="call", marks=pytest.mark.extended),
    pytest.param(["ask", "Reverse 'abc'"], id="ask"),
    pytest.param(["backup", "/tmp/never-written.tar.gz"], id="backup", marks=pytest.mark.extended),
)


def run(
    home: Home, mounts: list[str], before: str, *command: str
) -> subprocess.CompletedProcess[str]:
    """Run a command of the project where these mounts are."""
    script = f'{before} exec "$@"'
    program = [sys.executable, "-m", "selfeng", *command]
    return subprocess.run(
        [
            str(shutil.which("bwrap")),
            "--dev-bind",
            "/",
            "/",
            *mounts,
            "sh",
            "-c",
            script,
            "sh",
            *program,
        ],
        cwd=ROOT,
        env=home.environment(),
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_read_only_folder_is_named_with_the_remedy(tmp_path: Path, command: list[str]) -> None:
    home = Home(tmp_path / "home")
    data = home.folder / "data"
    ended = run(home, ["--ro-bind", str(data), str(data)], "", *command)
    assert (ended.returncode, ended.stdout) == (1, "")
    problem, remedy = ended.stderr.strip().splitlines()
    assert problem.endswith(f"DATA_DIR='{data}' can't be used: Read-only file system")
    assert remedy.endswith("set DATA_DIR to a writable folder")


def test_a_full_disk_is_named_with_the_remedy(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    mounts = ["--size", "200000", "--tmpfs", str(home.folder)]
    fill = f"dd if=/dev/zero of={home.folder}/fill bs=1k count=150 2>&-;"
    ended = run(home, mounts, fill, "serve")
    assert (ended.returncode, ended.stdout) == (1, "")
    problem, remedy = ended.stderr.strip().splitlines()
    assert "database or disk is full" in problem
    assert remedy.startswith("What to do: ")
