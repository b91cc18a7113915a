"""Messages joined to one text, and a text cut into messages."""

import asyncio

import pytest

from selfeng_agents import Message, MiniAgents, join_messages, split_messages
from tests.runtime.reading import read_texts, texts

CODE = "Before\n\n```py\na = 1\n\nb = 2\n```\n\nAfter"


def streamed(text, size=1, error=None):
    async def tokens(_):
        for at in range(0, len(text), size):
            await asyncio.sleep(0)
            yield text[at : at + size]
        if error is not None:
            raise error

    return Message.promise(message_token_streamer=tokens)


async def test_joined_messages_are_one_text_and_keep_the_originals():
    async with MiniAgents():
        joined = join_messages(["a", [streamed("bc")]], role="user")
        assert [token async for token in joined] == ["a", "\n\n", "b", "c"]
        assert await joined == Message(
            "a\n\nbc", role="user", original_messages=[Message("a"), Message("bc")]
        )


async def test_joining_can_leave_out_originals_and_leading_newlines():
    async with MiniAgents():
        joined = join_messages(
            ["\n\na", streamed("\n\r\nb\n")],
            "-",
            strip_leading_newlines=True,
            reference_original_messages=False,
            start_asap=False,
        )
        assert await joined == Message("a-b\n")
        assert await join_messages([], reference_original_messages=False) == Message("")


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("\n\n \n\n", []),
        ("one", ["one"]),
        ("one\n\ntwo\n\n\n\nthree\n\n", ["one", "two", "three"]),
        ("one\ntwo\n", ["one\ntwo\n"]),
        (CODE, ["Before", "```py\na = 1\n\nb = 2\n```", "After"]),
        ("say ```a\n\nb``` so", ["say ", "```a\n\nb```", " so"]),
        ("```a\n\nnever closed", ["```a\n\nnever closed"]),
        ("`a`\n\n``b``", ["`a`", "``b``"]),
    ],
)
async def test_text_is_cut_the_same_however_it_comes(text, parts, size):
    async with MiniAgents():
        assert await texts(split_messages(text)) == parts
        assert await texts(split_messages(streamed(text, size), start_asap=False)) == parts


async def test_each_message_is_cut_from_the_next():
    async with MiniAgents():
        assert await split_messages(["a", "b\n\nc"], role="user") == tuple(
            Message(text, role="user") for text in "abc"
        )


async def test_the_marks_can_be_others_or_none():
    async with MiniAgents():
        assert await texts(split_messages("a;b```c;d```", ";", code_block_delimiter=None)) == [
            "a",
            "b```c",
            "d```",
        ]
        with pytest.raises(ValueError, match="empty delimiter"):
            split_messages("a", "")


async def test_a_part_streams_while_it_grows():
    go_on = asyncio.Event()

    async def tokens(_):
        yield "Hello "
        await go_on.wait()
        yield "there"

    async with MiniAgents():
        parts = aiter(split_messages(Message.promise(message_token_streamer=tokens)))
        part = await anext(parts)
        assert await anext(aiter(part)) == "Hello "
        go_on.set()
        assert [token async for token in part] == ["Hello ", "there"]


@pytest.mark.parametrize(("text", "before"), [("a\n\nb", ["a"]), ("a\n\n", ["a"]), ("", [])])
async def test_an_error_comes_after_the_text_before_it_and_hangs_nobody(text, before):
    async with MiniAgents():
        read = []
        with pytest.raises(ValueError, match="cut"):
            await read_texts(split_messages(streamed(text, error=ValueError("cut"))), read)
        assert read == before
