"""The seed tools in a library: through the gate, once, runnable by plain pytest, and searchable; on
bubblewrap, which starts fastest.
"""

import os
import subprocess
import sys

import pytest

from selfeng.seeds import load_seeds
from tests.home import Home

pytestmark = pytest.mark.bubblewrap


@pytest.mark.extended
@pytest.mark.timeout(400)
def test_the_seeds_are_added_once_pass_plain_pytest_and_are_found_and_run(tmp_path):
    home = Home(tmp_path / "engine", bubblewrap=True)
    count = len(load_seeds())
    assert count >= 10
    first = home.run("seed_tools.py", patience=300)
    assert (first.returncode, first.stderr.splitlines()[-1]) == (
        0,
        f"{count} added, 0 already there, 0 refused",
    )
    again = home.run("seed_tools.py")
    assert (again.returncode, again.stderr.splitlines()[-1]) == (
        0,
        f"0 added, {count} already there, 0 refused",
    )
    assert len(list(home.tools.glob("*.py"))) == 2 * count

    command = [
        sys.executable,
        "-m",
        "pytest",
        "test_calculate_percentage.py",
        "-v",
        "-p",
        "no:cacheprovider",
    ]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    finished = subprocess.run(
        command, cwd=home.tools, env=environment, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 0, finished.stdout

    asked = home.run("-m", "selfeng", "ask", "What is 15 percent of 300?")
    assert asked.returncode == 0
    assert "found calculate_percentage" in asked.stderr
    assert "45" in asked.stdout
