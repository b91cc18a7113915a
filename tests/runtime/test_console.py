"""The person at the console."""

import pytest

from selfeng_agents import AWAIT, EndOfLoop, Message, MiniAgents, achain_loop, miniagent
from selfeng_agents.console import console_user_agent, create_console_user_agent
from selfeng_agents.models import UserMessage


class Console:
    """The output, and the lines that the person types."""

    def __init__(self, *lines: str) -> None:
        self.shown = ""
        self._lines = iter(lines)

    def read(self, asks: str) -> str:
        self.shown += asks
        line = next(self._lines, None)
        if line is None:
            raise EOFError
        return line

    def write(self, text: str) -> None:
        self.shown += text


@miniagent
async def assistant(ctx):
    ctx.reply(Message(f"I have {len(await ctx.message_promises)}.", agent_alias="BOT"))


async def test_a_dialog_shows_what_is_said_and_remembers_it():
    console = Console("one", "two", "exit")
    async with MiniAgents():
        await achain_loop(
            [create_console_user_agent(read=console.read, write=console.write), AWAIT, assistant]
        )
    assert console.shown == "\nUSER: \nBOT: I have 1.\n\nUSER: \nBOT: I have 3.\n\nUSER: "


async def test_without_a_history_the_person_adds_to_what_came(monkeypatch):
    monkeypatch.setattr("builtins.input", Console("hello").read)
    async with MiniAgents():
        shown = []
        assert await console_user_agent.inquire("hi", write=shown.append) == (
            Message("hi"),
            UserMessage(text="hello"),
        )
    assert "".join(shown) == "\nassistant: hi\n"


async def test_nothing_said_adds_nothing():
    async with MiniAgents():
        assert await console_user_agent.inquire(read=Console(" ").read) == ()


@pytest.mark.parametrize("lines", [(), (" exit ",)])
async def test_the_end_of_the_input_ends_the_loop(lines):
    async with MiniAgents():
        with pytest.raises(EndOfLoop):
            await console_user_agent.inquire(read=Console(*lines).read)
