"""Messages are frozen values with a hash key, and promises of them stream tokens."""

import hashlib
import json
from datetime import date

import pytest
from pydantic import ValidationError

from selfeng_agents import (
    Frozen,
    Message,
    MessagePromise,
    MessageSequence,
    MessageTokenAppender,
    MiniAgents,
    StreamAppender,
    StrictMessage,
)
from selfeng_agents.promising_errors import AppenderNotOpenError


class Task(Message):
    """A kind of message of its own."""

    steps: tuple[str, ...] = ()


def test_a_message_can_not_be_changed():
    message = Message("hello", role="user")
    with pytest.raises(ValidationError):
        message.text = "bye"
    with pytest.raises(ValidationError):
        message.role = "assistant"
    assert (message.text, message.role) == ("hello", "user")


def test_lists_become_tuples_and_dicts_become_frozen_at_every_depth():
    message = Message("x", path=[1, [2, {"a": [3]}]])
    assert message.path == (1, (2, Frozen(a=(3,))))


@pytest.mark.parametrize("value", [{1, 2}, object(), [{1}], {"a": object()}, {1: "key"}])
def test_sets_and_unknown_types_are_refused_by_name(value):
    with pytest.raises(ValidationError, match=r"extra|`a`"):
        Message("x", extra=value)


def test_what_a_declared_field_makes_of_its_value_is_frozen_too():
    class Wide(Message):
        steps: list[str]

    assert Wide(steps=["a"]).steps == ("a",)


def test_a_subclass_has_fields_of_its_own_and_may_forbid_others():
    class Strict(StrictMessage):
        city: str

    assert Task("plan", steps=["a", "b"]).steps == ("a", "b")
    assert Strict(city="Oslo").city == "Oslo"
    with pytest.raises(ValidationError):
        Strict(city="Oslo", country="NO")


def test_the_hash_key_is_the_sha256_of_canonical_json():
    canonical = '{"class_": "Message", "n": 1, "text": "Grüße", "text_template": null}'
    assert Message("Grüße", n=1).hash_key == hashlib.sha256(canonical.encode()).hexdigest()[:40]


def test_the_hash_key_depends_on_neither_the_order_of_fields_nor_private_attributes():
    first, second = Frozen(a=1, b=(2, 3)), Frozen(b=[2, 3], a=1)
    first._note = "private"
    assert first.hash_key == second.hash_key
    assert first.hash_key != Frozen(a=1, b=[3, 2]).hash_key


async def test_a_context_may_want_whole_hash_keys():
    message = Message("x")
    short = message.hash_key
    async with MiniAgents(longer_hash_keys=True):
        assert (len(short), len(message.hash_key)) == (40, 64)
        assert message.hash_key.startswith(short)


def test_a_changed_copy_has_a_hash_key_and_a_text_of_its_own():
    message = Message("x", n=1)
    before = (message.hash_key, str(message))
    changed = message.model_copy(update={"text": "y"})
    assert (changed.hash_key, str(changed)) == (Message("y", n=1).hash_key, "y")
    assert (message.hash_key, str(message)) == before


def test_messages_inside_a_message_are_named_by_their_hash_keys():
    inner, other = Message("inner"), Message("other")
    outer = Message("outer", one=inner, many=[inner, other], mixed=[1, inner], deep={"one": other})
    assert outer.serialize() == {
        "class_": "Message",
        "text": "outer",
        "text_template": None,
        "one__hash_key": inner.hash_key,
        "many__hash_keys": [inner.hash_key, other.hash_key],
        "mixed": [1, {"hash_key": inner.hash_key}],
        "deep": {"class_": "Frozen", "one__hash_key": other.hash_key},
    }
    assert json.loads(outer.full_json)["one"]["text"] == "inner"


def test_parts_come_before_the_whole():
    leaf = Message("leaf")
    branch = Message("branch", leaf=leaf)
    root = Message("root", branches=[branch, 1], deep={"leaf": leaf})
    assert list(root.sub_messages()) == [leaf, branch, leaf]


def test_content_is_another_name_of_text():
    assert Message(content="hello", role="user") == Message("hello", role="user")
    assert Message("hello").content == "hello"


def test_content_in_parts_stays_as_it_is():
    assert Message(content=[{"type": "text", "text": "x"}]).content == (
        Frozen(type="text", text="x"),
    )


def test_a_template_makes_the_text_of_the_fields():
    assert str(Message(text_template="{name} says {text}", text="hi", name="Ann")) == "Ann says hi"


def test_a_message_without_text_reads_as_json():
    assert (
        str(Message(day=date(2026, 1, 2)))
        == '```json\n{"class_":"Message","day":"2026-01-02"}\n```'
    )


def test_a_plain_text_message_is_what_validation_would_make_of_it():
    quick, thorough = Message.of_text("x"), Message("x")
    assert (quick, quick.model_dump(), quick.hash_key, hash(quick)) == (
        thorough,
        thorough.model_dump(),
        thorough.hash_key,
        hash(thorough),
    )


async def test_a_promise_streams_tokens_and_then_is_the_message():
    async def tokens(metadata):
        yield "hel"
        yield "lo"
        metadata["finish"] = "stop"

    async with MiniAgents():
        promise = Task.promise(message_token_streamer=tokens, steps=["a"])
        assert promise.known_beforehand.steps == ("a",)
        assert [token async for token in promise] == ["hel", "lo"]
        assert await promise == Task("hello", steps=["a"], finish="stop")
        assert await promise is await promise
        assert [token async for token in promise] == ["hel", "lo"]


async def test_what_is_known_beforehand_stays_true():
    async def tokens(metadata):
        metadata["model"] = "m-2026"
        yield "x"

    async with MiniAgents():
        assert (await Message.promise(message_token_streamer=tokens, model="m")).model == "m"


async def test_a_message_that_is_there_streams_as_one_token():
    message = Message("hello", n=1)
    async with MiniAgents():
        (token,) = [token async for token in message.as_promise]
        assert message.as_promise is message.as_promise
        assert await message.as_promise is message
    assert token == "hello"
    assert token == message
    assert token != Message("hello")


async def test_tokens_can_be_appended_with_fields_that_come_later():
    async with MiniAgents():
        with MessageTokenAppender() as tokens:
            promise = Message.promise(message_token_streamer=tokens, role="user")
            tokens.append("a").append("b")
            tokens.metadata_so_far["usage"] = {"tokens": 2}
        assert await promise == Message("ab", role="user", usage={"tokens": 2})


async def test_an_appender_that_was_never_opened_is_refused_instead_of_hanging():
    async with MiniAgents():
        with pytest.raises(AppenderNotOpenError):
            Message.promise(message_token_streamer=MessageTokenAppender())


async def test_a_promise_of_a_message_needs_exactly_one_source():
    async with MiniAgents():
        with pytest.raises(ValueError, match="either"):
            MessagePromise()
        with pytest.raises(ValueError, match="not both"):
            Message.promise("text", message_token_streamer=MessageTokenAppender().open())


async def test_fields_that_a_class_refuses_are_an_error_for_the_awaiter():
    async def tokens(metadata):
        yield "x"

    async with MiniAgents():
        with pytest.raises(ValidationError):
            await Task.promise(message_token_streamer=tokens, steps=7)


def test_messages_that_differ_in_their_text_differ_in_their_hash():
    assert hash(Message("a")) == hash(Message("a")) != hash(Message("b"))


def test_a_changed_copy_is_frozen_too():
    assert Message("x").model_copy(update={"steps": ["a"]}).steps == ("a",)


def test_fields_can_be_looked_up_by_name():
    message = Message("x", n=1)
    assert (message["n"], message.get("text"), message.get("copy"), message.get("m", 2)) == (
        1,
        "x",
        None,
        2,
    )
    assert "n" in message
    assert "copy" not in message


async def test_the_promise_of_a_message_that_is_there_reads_as_its_text():
    async with MiniAgents():
        with MessageSequence() as sequence:
            sequence.append(["hi", Message("hi")])
        assert [str(promise) async for promise in sequence.sequence_promise] == ["hi", "hi"]
        with StreamAppender[str]() as tokens:
            promise = Message.promise(message_token_streamer=tokens)
            assert str(promise) == repr(promise)
            tokens.append("a").append("b")
        assert (str(await promise), str(promise)) == ("ab", "ab")


async def test_an_appender_of_tokens_may_be_opened_after_the_promise_is_made():
    async with MiniAgents():
        tokens = StreamAppender[str]()
        promise = Message.promise(message_token_streamer=tokens)
        with tokens:
            tokens.append("a")
        assert await promise == Message("a")
