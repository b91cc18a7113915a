"""Chat histories give back what they were given."""

import pytest

from selfeng_agents import ChatHistoryMD, InMemoryChatHistory, Message, MiniAgents
from selfeng_agents.history import RULE


@pytest.fixture(params=["memory", "markdown"])
def history(request, tmp_path):
    return (
        InMemoryChatHistory()
        if request.param == "memory"
        else ChatHistoryMD(tmp_path / "new" / "CHAT.md")
    )


async def test_a_history_passes_messages_on_and_keeps_them(history):
    said = (Message("hello", role="user"), Message("hi", role="assistant", model="gpt-x"))
    assert await history.aload_chat_history() == ()
    async with MiniAgents():
        for message in said:
            assert await history.logging_agent.inquire(message) == (message,)
    assert await history.aload_chat_history() == said


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "\n",
            "\n\n",
            "a\n",
            "\na",
            " a ",
            "a\r\nb\r",
            "\u2028\x0b",
            "# user",
            "user\n----",
            "Grüße 🎉",
        ),
        f"user\n{RULE}\nnot a message",
        f"\nassistant / gpt\n{RULE}\n",
        f"a\n\\{RULE}\n\\\\{RULE}  \n\\",
        "user\n===\n===",
        RULE,
        f"```\n{RULE}\n```",
    ],
)
async def test_any_text_comes_back_from_markdown(text, tmp_path):
    history = ChatHistoryMD(tmp_path / "CHAT.md")
    said = (
        Message(text, role="user"),
        Message(text, role="assistant", model="a / b"),
        Message("end", role="user"),
    )
    await history.akeep(said[:1])
    await history.akeep(said[1:])
    assert await ChatHistoryMD(tmp_path / "CHAT.md").aload_chat_history() == said


async def test_a_file_that_a_person_wrote_is_read(tmp_path):
    (tmp_path / "CHAT.md").write_text(
        "Notes\n\nuser\n=====\nHello\n\nTitle\n=====\nthere\n\nassistant / gpt-x\n====\nHi",
        encoding="utf-8",
    )
    assert await ChatHistoryMD(tmp_path / "CHAT.md").aload_chat_history() == (
        Message("Hello\n\nTitle\n=====\nthere", role="user"),
        Message("Hi", role="assistant", model="gpt-x"),
    )


async def test_a_message_without_role_gets_the_default_one(tmp_path):
    history = ChatHistoryMD(tmp_path / "CHAT.md", default_role="user")
    await history.akeep((Message("x"),))
    assert await history.aload_chat_history() == (Message("x", role="user"),)


@pytest.mark.parametrize(
    "fields", [{"role": "a / b"}, {"role": "a\nb"}, {"role": " a"}, {"role": "a", "model": "b\n"}]
)
async def test_what_does_not_fit_into_a_heading_is_refused(fields, tmp_path):
    with pytest.raises(ValueError, match="heading"):
        await ChatHistoryMD(tmp_path / "CHAT.md").akeep((Message("x", **fields),))
    assert not (tmp_path / "CHAT.md").exists()
