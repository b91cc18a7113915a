"""The picture of the architecture, and the READMEs of its packages."""

from pathlib import Path

import pytest

from benchmarks.draw_graph import ARCHITECTURE_SVG, architecture

PACKAGE = Path(__file__).parents[2] / "src" / "selfeng"
PACKAGES = sorted(path.parent for path in PACKAGE.glob("*/__init__.py"))
WORDS = 35


def test_the_picture_shows_the_imports_of_today() -> None:
    assert ARCHITECTURE_SVG.read_text("utf-8") == architecture(), "run `make graph`"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: path.name)
def test_each_package_has_five_lines_for_newcomers(package: Path) -> None:
    text = (package / "README.md").read_text("utf-8")
    assert text.startswith(f"# {package.name}\n")
    assert (len(text.splitlines()), len(text.split()) <= WORDS) == (5, True)
