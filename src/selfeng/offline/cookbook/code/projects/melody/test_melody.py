from fractions import Fraction

import pytest
from midi import midi_file, variable_length
from notes import parse


@pytest.mark.parametrize(("number", "written"), [(0, "00"), (0x7F, "7f"), (0x80, "8100"), (0x2000, "c000"), (0x1FFFFF, "ffff7f")])
def test_numbers_have_variable_length(number, written):
    assert variable_length(number).hex() == written


def test_notes_are_counted_from_middle_c():
    assert parse("C4 F#3:1/2 R:2") == [(60, 1), (54, Fraction(1, 2)), (None, 2)]


@pytest.mark.parametrize("word", ["H4", "C", "C4:0", "4"])
def test_what_is_no_note_is_an_error(word):
    with pytest.raises(ValueError, match=word):
        parse(word)


def test_a_file_holds_one_track_with_its_length():
    content = midi_file([(60, 1), (None, 1), (62, 1)])
    assert content[:14] == b"MThd\0\0\0\6\0\0\0\1\1\xe0"
    assert int.from_bytes(content[18:22], "big") == len(content) - 22
    assert content.endswith(bytes.fromhex("8360903e50 8360803e00 00ff2f00"))
