"""The report at the end of a run: the cost of its tests, and the claims that it could not prove; in
CI none may be left unproven.
"""

import heapq
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.__main__ import AT_ONCE, SESSIONS, sessions
from tests.account import Phase, failures, machine_seconds, told

ROOT = Path(__file__).parents[1]
LACKING = """
import pytest
def test_first(): pytest.skip("there is no moon; wait for the night")
def test_second(): pytest.skip("there is no moon; wait for the night")
@pytest.mark.skip(reason="there is no sun; wait for the day")
def test_third(): pass
def test_fourth(): pass
"""
MARKED = """
import pytest
@pytest.mark.docker
def test_with_an_engine(): pass
"""


def run(
    folder: Path, tests: str, *options: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run some tests, with the rules and plugins of ours."""
    (folder / "conftest.py").write_text(
        "from tests.conftest import pytest_plugins, pytest_runtest_makereport"
    )
    (folder / "test_this.py").write_text(tests)
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-c",
        str(ROOT / "pyproject.toml"),
        "--rootdir",
        str(folder),
        str(folder),
        *options,
    ]
    inherited = {name: value for name, value in os.environ.items() if name != "CI"}
    return subprocess.run(
        command,
        cwd=ROOT,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_what_was_skipped_is_listed_in_the_end_by_reason(tmp_path: Path) -> None:
    ended = run(tmp_path, LACKING)
    assert ended.returncode == 0, ended.stdout
    assert ended.stdout.splitlines()[-4:-1] == [
        "Not proven here:",
        "     2 tests there is no moon; wait for the night",
        "     1 test  there is no sun; wait for the day",
    ]


@pytest.mark.extended
def test_the_same_is_told_of_several_processes(tmp_path: Path) -> None:
    assert (
        "     2 tests there is no moon; wait for the night"
        in run(tmp_path, LACKING, "-n", "2").stdout.splitlines()
    )


def test_in_ci_what_was_skipped_has_failed(tmp_path: Path) -> None:
    ended = run(tmp_path, LACKING, CI="true")
    assert ended.returncode == 1
    assert "2 failed, 1 passed, 1 error" in ended.stdout
    assert "skipped in CI" in ended.stdout


@pytest.mark.extended
def test_a_missing_engine_is_named_with_what_to_do(tmp_path: Path) -> None:
    ended = run(tmp_path, MARKED, DOCKER_HOST=f"unix://{tmp_path}/none.sock")
    assert ended.returncode == 0, ended.stdout
    named = ended.stdout.partition("Not proven here:\n")[2]
    assert named.startswith("     1 test  "), ended.stdout
    assert "apt install docker.io" in named


def test_costs_are_told_by_test_and_by_file_and_what_is_unproven_last() -> None:
    phases = [
        Phase("a.py::test_one", "setup", 1.0, 0.5),
        Phase("b.py::test_two", "call", 2.5, 0.25),
        Phase("a.py::test_one", "call", 4.0, 0.75),
        Phase("c.py::test_three", "setup", 0.0, 0.0, "there is no moon"),
    ]
    assert list(told(phases)) == [
        "The 20 slowest, in seconds:",
        "     4.0 call     a.py::test_one",
        "     2.5 call     b.py::test_two",
        "     1.0 setup    a.py::test_one",
        "     0.0 setup    c.py::test_three",
        "The 15 dearest files of 3, in seconds of 8, and of the processor's 2:",
        "     5.0      1.2 a.py",
        "     2.5      0.2 b.py",
        "     0.0      0.0 c.py",
        "Not proven here:",
        "     1 test  there is no moon",
    ]


def test_a_test_that_failed_in_several_phases_is_listed_once() -> None:
    phases = [
        Phase("a.py::test_one", "call", 1.0, failed=True),
        Phase("a.py::test_two", "call", 1.0),
        Phase("a.py::test_one", "teardown", 1.0, failed=True),
    ]
    assert failures(phases) == ["a.py::test_one"]


def test_what_the_machine_works_is_counted() -> None:
    before, own = machine_seconds(), sum(os.times()[:2])
    while sum(os.times()[:2]) < own + 0.1:
        pass
    assert machine_seconds() > before


def test_each_folder_is_in_one_session() -> None:
    of_their_own = [folder for folders in SESSIONS for folder in folders]
    assert len(set(of_their_own)) == len(of_their_own)
    assert [folder for folder in of_their_own if not (ROOT / "tests" / folder).is_dir()] == []
    (others,) = [words for words in sessions(whole=False) if words[0] == "tests"]
    assert [word for word in others if word.startswith("tests/")] == [
        f"tests/{folder}" for folder in of_their_own
    ]


def test_no_session_is_left_alone_for_long() -> None:
    """A session starts where the first of those at once ends."""
    seconds = list(SESSIONS.values())
    assert seconds == sorted(seconds, reverse=True)
    ends = [0] * AT_ONCE[False]
    for session in seconds:
        heapq.heapreplace(ends, ends[0] + session)
    least = max(seconds[0], sum(seconds) / len(ends))
    assert max(ends) <= 1.1 * least
