import pytest
from slugify_text import slugify_text


def test_words_are_joined_by_hyphens():
    assert slugify_text(text="Hello World") == "hello-world"
    assert slugify_text(text="10 Tips & Tricks!") == "10-tips-and-tricks"


def test_accents_are_dropped():
    assert slugify_text(text="Crème Brûlée à la carte") == "creme-brulee-a-la-carte"
    assert slugify_text(text="Große Straße") == "grosse-strasse"


def test_separators_at_the_ends_and_in_a_row_vanish():
    assert slugify_text(text="  --Already -- slugged__ ") == "already-slugged"


def test_apostrophes_do_not_split_words():
    assert slugify_text(text="Don't panic") == "dont-panic"


def test_separator_can_be_chosen():
    assert slugify_text(text="My First Post", separator="_") == "my_first_post"


def test_nothing_remains_of_other_scripts():
    assert slugify_text(text="日本") == ""
    assert slugify_text(text="") == ""


def test_unsafe_separators_are_refused():
    with pytest.raises(ValueError):
        slugify_text(text="a b", separator="/")
    with pytest.raises(TypeError):
        slugify_text(text=5)
