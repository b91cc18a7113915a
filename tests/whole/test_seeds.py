"""The seed tools in a library: through the gate, once, runnable by plain pytest, and searchable; on bubblewrap, which starts fastest."""

import os
import subprocess
import sys

import pytest

from src.seeds import load_seeds
from tests.home import Home

pytestmark = pytest.mark.bubblewrap


@pytest.fixture(scope="module")
def home(tmp_path_factory) -> Home:
    return Home(tmp_path_factory.mktemp("home") / "engine", bubblewrap=True)


@pytest.mark.timeout(400)
def test_seeding_twice_adds_nothing_twice(home):
    count = len(load_seeds())
    assert count >= 10
    first, second = (home.run("seed_tools.py", patience=300, SANDBOX="bubblewrap") for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0), first.stderr
    assert first.stderr.splitlines()[-1] == f"{count} added, 0 were there already, 0 refused"
    assert second.stderr.splitlines()[-1] == f"0 added, {count} were there already, 0 refused"
    assert len(list(home.tools.glob("*.py"))) == 2 * count


def test_a_seed_passes_its_tests_under_plain_pytest(home):
    command = [sys.executable, "-m", "pytest", "test_calculate_percentage.py", "-v", "-p", "no:cacheprovider"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    finished = subprocess.run(command, cwd=home.tools, env=environment, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout


def test_the_percentage_of_the_reference_is_found_and_run(home):
    asked = home.run("-m", "src", "ask", "What is 15 percent of 300?", SANDBOX="bubblewrap")
    assert asked.returncode == 0
    assert "found calculate_percentage" in asked.stderr
    assert "45" in asked.stdout
