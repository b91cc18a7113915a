"""Notes as text: `C4:1 E4:1/2 R:1` is a C for a quarter, an E for an eighth and a rest for a quarter."""

from fractions import Fraction

STEPS = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


def parse(text):
    """Pairs of a MIDI number, None for a rest, and a length in quarters."""
    return [parse_note(word) for word in text.split()]


def parse_note(word):
    name, _, length = word.partition(":")
    quarters = Fraction(length or 1)
    if quarters <= 0:
        raise ValueError(f"{word!r} has no length")
    if name == "R":
        return None, quarters
    step, sharp, octave = name[:1], name[1:2] == "#", name[2:] if name[1:2] == "#" else name[1:]
    if step not in STEPS or not octave.isdigit():
        raise ValueError(f"{word!r} is no note such as C4, F#3 or R")
    return 12 * (int(octave) + 1) + STEPS[step] + sharp, quarters
