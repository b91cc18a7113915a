"""A test run ends whatever stands still in it, and says where. The runs here have our options, but
for the time.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
AWAITING = """
import asyncio, pytest, pytest_asyncio

async def the_end_of_the_setup(): await asyncio.Event().wait()
async def the_end_of_the_teardown(): await asyncio.Event().wait()
async def the_end_of_the_session(): await asyncio.Event().wait()

@pytest.fixture
async def setup(): await the_end_of_the_setup()

@pytest.fixture
async def teardown():
    yield
    await the_end_of_the_teardown()

@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def session():
    yield
    await the_end_of_the_session()

async def test_first(setup): pass
async def test_second(teardown): assert False
async def test_third(session): assert False
"""
BLOCKING = """
import pytest, threading

def stand_still(): threading.Event().wait()

@pytest.fixture
def teardown():
    yield
    stand_still()

@pytest.fixture(scope="session")
def session():
    yield
    stand_still()

def test_teardown(teardown): assert False
def test_session(session): assert False
def test_thread(): threading.Thread(target=stand_still).start()
def test_next(): pass
"""


def run(folder: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run some tests, with the plugins of ours."""
    (folder / "conftest.py").write_text("from tests.conftest import pytest_plugins")
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
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )


def test_a_fixture_that_waits_for_ever_costs_one_test(tmp_path: Path) -> None:
    ended = run(tmp_path, AWAITING, "-p", "no:xdist", "-o", "timeout=1")
    assert ended.returncode == 1
    assert "= 2 failed, 3 errors in" in ended.stdout
    assert len(re.findall(r"^E +Failed: Timeout \(>1.0s\)", ended.stdout, re.MULTILINE)) == 3
    for place, stage, test in (
        ("setup", "setup", "first"),
        ("teardown", "teardown", "second"),
        ("session", "teardown", "third"),
    ):
        assert f"_ ERROR at {stage} of test_{test} _" in ended.stdout
        assert f"in the_end_of_the_{place}\n" in ended.stdout


@pytest.mark.extended
@pytest.mark.parametrize(
    ("place", "options"),
    [
        ("teardown", ("-p", "no:xdist")),
        ("teardown", ("-n", "1")),
        ("session", ("-p", "no:xdist", "-x")),
        ("thread", ("-p", "no:xdist")),
    ],
)
def test_what_no_exception_can_end_ends_its_process(
    tmp_path: Path, place: str, options: tuple[str, ...]
) -> None:
    """After a failure, after the last test of a run that was cut short, and when the process would
    end.
    """
    ended = run(
        tmp_path,
        BLOCKING,
        *options,
        "-o",
        "timeout=0",
        "-o",
        "faulthandler_timeout=1",
        "-k",
        f"{place} or next",
    )
    assert ended.returncode == 1
    assert "Timeout (0:00:01)!" in ended.stderr
    assert "in stand_still\n" in ended.stderr
