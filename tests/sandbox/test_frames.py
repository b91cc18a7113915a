"""Frames over byte streams."""

import socket

import pytest

from sandbox_worker.frames import LARGEST, BrokenStream, Channel, FrameReader, pack


def test_messages_survive_any_cut_of_the_stream() -> None:
    messages = [{"a": 1}, {}, {"text": "ü\ud800\n"}, {"deep": [[["x"]]]}]
    stream = b"".join(map(pack, messages))
    for step in (1, 3, 7, len(stream)):
        reader = FrameReader()
        got = [m for i in range(0, len(stream), step) for m in reader.feed(stream[i : i + step])]
        assert got == messages
        assert reader.empty


@pytest.mark.parametrize(
    "stream",
    [
        b"\xff\xff\xff\xff",
        b"\0\0\0\2[]",
        b"\0\0\0\1{",
        b"\0\0\0\3abc",
        b"\0\0\x27\x10" + b"[" * 10_000,
    ],
    ids=["too long", "no object", "cut JSON", "no JSON", "nested too deeply"],
)
def test_anything_else_is_a_broken_stream(stream: bytes) -> None:
    with pytest.raises(BrokenStream):
        FrameReader().feed(stream)


def test_a_reader_may_allow_less() -> None:
    with pytest.raises(BrokenStream, match="13 bytes; 12 are allowed"):
        FrameReader(largest=12).feed(pack({"a": "12345"}))


def test_a_message_that_is_too_large_is_not_packed() -> None:
    with pytest.raises(BrokenStream, match="larger than"):
        pack({"a": "x" * LARGEST})


def test_a_channel_tells_an_orderly_end_from_a_cut() -> None:
    here, there = socket.socketpair()
    with here, there:
        channel = Channel(here)
        there.sendall(pack({"a": 1}) + pack({"b": 2}))
        there.shutdown(socket.SHUT_WR)
        assert [channel.receive(), channel.receive(), channel.receive()] == [
            {"a": 1},
            {"b": 2},
            None,
        ]
    here, there = socket.socketpair()
    with here, there:
        there.sendall(pack({"a": 1})[:-1])
        there.shutdown(socket.SHUT_WR)
        with pytest.raises(BrokenStream, match="within a frame"):
            Channel(here).receive()
