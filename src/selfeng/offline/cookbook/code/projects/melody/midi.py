"""MIDI files, format 0: one track of notes that follow each other."""

TICKS = 480
"""Of a quarter."""
LOUDNESS = 80


def variable_length(number):
    """A number as MIDI writes it: seven bits a byte, the highest first, the eighth bit set in all but the last."""
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(0x80 | (number & 0x7F))
    return bytes(reversed(groups))


def track(notes, beats_per_minute):
    """The events of a track; `notes` are pairs of a MIDI number, None for a rest, and a length in quarters."""
    events = variable_length(0) + b"\xff\x51\x03" + round(60_000_000 / beats_per_minute).to_bytes(3, "big")
    pause = 0
    for number, quarters in notes:
        ticks = int(quarters * TICKS)
        if number is None:
            pause += ticks
            continue
        events += variable_length(pause) + bytes([0x90, number, LOUDNESS])
        events += variable_length(ticks) + bytes([0x80, number, 0])
        pause = 0
    return events + variable_length(pause) + b"\xff\x2f\x00"


def midi_file(notes, beats_per_minute=120):
    """The bytes of a whole file."""
    body = track(notes, beats_per_minute)
    head = b"MThd" + (6).to_bytes(4, "big") + (0).to_bytes(2, "big") + (1).to_bytes(2, "big") + TICKS.to_bytes(2, "big")
    return head + b"MTrk" + len(body).to_bytes(4, "big") + body
