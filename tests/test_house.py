"""Names lead to one place, and private parts of libraries are used only at the named versions."""

import platform
from importlib.metadata import version

import pytest

from benchmarks.house import FOREIGN, homonyms


def test_no_two_modules_or_public_classes_have_one_name() -> None:
    assert homonyms() == {}


@pytest.mark.parametrize("module", FOREIGN)
def test_private_parts_of_a_library_are_used_at_the_version_that_is_named(module: str) -> None:
    library, release = FOREIGN[module]
    installed = platform.python_version() if library == "Python" else version(library)
    assert installed.startswith(release)
