"""Names lead to one place: no two modules and no two public classes have the same."""

from benchmarks.house import homonyms


def test_no_two_modules_or_public_classes_have_one_name() -> None:
    assert homonyms() == {}
