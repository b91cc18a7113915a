"""Write a melody, given as text, into song.mid."""

import sys
from pathlib import Path

from midi import midi_file
from notes import parse

MELODY = "C4 C4 G4 G4 A4 A4 G4:2 F4 F4 E4 E4 D4 D4 C4:2"  # Twinkle, twinkle, little star


def main(arguments):
    notes = parse(" ".join(arguments) or MELODY)
    content = midi_file(notes)
    Path("song.mid").write_bytes(content)
    print(f"song.mid is written: {len(notes)} notes, {float(sum(length for _, length in notes)):g} quarters, {len(content)} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
