"""Names lead to one place, private parts of libraries are used only at the named versions, and
commits begin with the verbs of AGENTS.md.
"""

import platform
import re
import subprocess
from importlib.metadata import version
from inspect import isfunction
from pathlib import Path

import pytest

from benchmarks.house import FOREIGN, homonyms
from selfeng.engine import Engine

ROOT = Path(__file__).parents[1]
BEFORE_THE_RULE = {"Simplify the format of numbers in sentences, and write plainer English"}


def test_no_two_modules_or_public_classes_have_one_name() -> None:
    assert homonyms() == {}


@pytest.mark.parametrize("module", FOREIGN)
def test_private_parts_of_a_library_are_used_at_the_version_that_is_named(module: str) -> None:
    library, release = FOREIGN[module]
    installed = platform.python_version() if library == "Python" else version(library)
    assert installed.startswith(release)


def test_the_subjects_of_the_newest_commits_begin_with_a_verb_of_the_rules() -> None:
    """A shallow clone has fewer than a hundred."""
    (line,) = re.findall("Subjects start with (.+?);", (ROOT / "AGENTS.md").read_text("utf-8"))
    verbs = tuple(f"{verb} " for verb in re.split(", | or ", line))
    assert len(verbs) == 10
    command = ["git", "log", "-100", "--no-merges", "--format=%s"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:
        pytest.skip("this is not a clone of the repository; get one with git")
    wrong = {s for s in found.stdout.splitlines() if not s.startswith(verbs)}
    assert wrong <= BEFORE_THE_RULE


def test_the_engine_has_few_methods_and_its_parts_the_others() -> None:
    methods = [name for name, value in vars(Engine).items() if isfunction(value)]
    written = [name for name in methods if not name.startswith("__")]
    assert len(written) <= 20, written
