"""Our shorter way through pytest's rewriting of asserts makes the same of every suite."""

import subprocess
import sys
from pathlib import Path

import pytest

from selfeng.offline.cookbook.recipe import recipes

SUITES = [recipe.tests for recipe in recipes()]
REWRITE = """
import ast, sys
{imported}
tree = ast.parse(sys.stdin.read())
rewrite_asserts(tree, b"", "test.py", None)
print(ast.dump(tree, include_attributes=True), end="")
"""
EVERYTHING = """
@pytest.mark.parametrize("x", [1])
def test_a(x):
    assert all(y in (z := f(*x, **k)) and not (1 < y <= 3) for y in x), f"{x!r}" + \\
        "message"
    assert (lambda: x)()[1:2].b is not None or -x != [*x, {**k}] if x else await_(y)
async def test_b():
    async with a as b:
        assert await b, (yield)
"""


def rewritten(suite: str, imported: str) -> str:
    made = subprocess.run(
        [sys.executable, "-c", REWRITE.format(imported=imported)],
        input=suite,
        capture_output=True,
        text=True,
        check=True,
    )
    return made.stdout


@pytest.mark.parametrize(
    "suite", [EVERYTHING, "\n".join(SUITES)], ids=["everything", "suites of ours"]
)
def test_it_makes_what_pytest_makes(suite: str) -> None:
    ours = rewritten(suite, "from selfeng.sandboxes.worker.asserts import rewrite_asserts")
    assert ours == rewritten(suite, "from _pytest.assertion.rewrite import rewrite_asserts")
    assert ours.count("lineno") > 300


def test_it_is_asked_for_the_nodes() -> None:
    """Or it would save nothing."""
    from _pytest.assertion import rewrite

    assert "for node in traverse_node(stmt):" in Path(rewrite.__file__).read_text()
