"""Agents and tools that programs for the package `miniagents` find ready, early and later ones."""

import logging
import sys

import pytest

from miniagents import MiniAgents, TextMessage, cached_privately, ext, miniagent, utils
from miniagents.chat_history import InMemoryChatHistory
from miniagents.ext import user_agents
from miniagents.ext.agents import history_agents
from miniagents.ext.chat_history_md import ChatHistoryMD
from miniagents.ext.llms import LLMAgent, UserMessage
from miniagents.promising.ext.frozen import Frozen
from miniagents.promising.promising import PromisingContext
from selfeng_agents import AWAIT, EndOfLoop
from tests.runtime.test_console import Console

STYLED = "\n\x1b[92;1mBOT: \x1b[0m\x1b[92;1mhi\x1b[0m\n"


@miniagent
async def parrot(ctx):
    *_, last = await ctx.message_promises
    ctx.reply(TextMessage(f"{last}!", role="assistant"))


async def test_what_is_said_is_shown_in_a_style_and_passed_on():
    console = Console()
    said = TextMessage("hi", agent_alias="BOT")
    async with MiniAgents():
        echoed = user_agents.echo_agent.inquire(said, assistant_style="92;1", write=console.write)
        assert await echoed == (said,)
        assert console.shown == STYLED
        console.shown = ""
        await ext.console_output_agent.trigger(said, mention_aliases=False, write=console.write)
    assert console.shown == "hi\n"


async def test_the_person_is_greeted_where_nothing_was_said_and_asked_after_what_came():
    console = Console("one", "two")
    ask = ext.console_input_agent.fork(greeting="Hello.", read=console.read, write=console.write)
    async with MiniAgents():
        first = await ask.trigger()
        assert (*first, TextMessage("x")) == (UserMessage(text="one"), TextMessage("x"))
        assert [str(message) for message in await ask.trigger("x")] == ["x", "two"]
    assert console.shown == "Hello.\n\nUSER: \nUSER: "


@pytest.mark.parametrize("agent", [user_agents.file_agent, ext.file_output_agent])
async def test_messages_are_written_to_a_file_and_passed_on(agent, tmp_path):
    file = tmp_path / "new" / "said.txt"
    async with MiniAgents():
        passed = await agent.trigger(["one", "two"], file=str(file))
    assert [str(message) for message in passed] == ["one", "two"]
    assert file.read_text() == "one\n\ntwo"


async def test_a_dialog_of_a_later_version_is_in_its_markdown_file(tmp_path):
    console, file = Console("one", "exit"), tmp_path / "CHAT.md"
    user = ext.console_user_agent.fork(
        history_agent=ext.MarkdownHistoryAgent.fork(history_md_file=str(file)),
        read=console.read,
        write=console.write,
    )
    async with MiniAgents():
        assert (
            await ext.dialog_loop.trigger("Be kind.", user_agent=user, assistant_agent=parrot) == ()
        )
        kept = await ext.MarkdownHistoryAgent.trigger(
            history_md_file=str(file), return_full_history=True
        )
    assert [f"{message.role}: {message}" for message in kept] == [
        "user: one",
        "assistant: Be kind.!",
    ]


async def test_a_dialog_of_an_early_version_is_in_its_history(tmp_path):
    console, history = Console("one", "exit"), ChatHistoryMD(tmp_path / "CHAT.md")
    user = user_agents.console_user_agent.fork(
        chat_history=history, read=console.read, write=console.write
    )
    async with MiniAgents():
        await utils.adialog_loop(user_agent=user, assistant_agent=parrot)
    assert [str(message) for message in await history.aload_chat_history()] == ["one", "one!"]


async def test_without_a_history_of_its_own_a_console_remembers_the_dialog():
    console, history = Console("one", "two", "exit"), InMemoryChatHistory()
    heard = []

    @miniagent
    async def listener(ctx):
        heard.append([str(message) for message in await ctx.message_promises])
        ctx.reply("yes")

    user = ext.console_user_agent.fork(chat_history=history, read=console.read, write=console.write)
    async with MiniAgents():
        await ext.agent_loop.trigger(agents=[user, AWAIT, listener])
    assert heard == [["one"], ["one", "yes", "two"]]
    assert isinstance(user_agents.GLOBAL_CHAT_HISTORY, InMemoryChatHistory)


async def test_a_person_of_parts_remembers_in_the_global_list(monkeypatch):
    console, kept = Console("one"), []
    ask = ext.console_input_agent.fork(read=console.read)
    user = ext.user_agent.fork(
        output_agent=None,
        input_agent=ask,
        history_agent=ext.in_memory_history_agent.fork(message_list=kept),
    )
    async with MiniAgents():
        assert await user.trigger() == (UserMessage(text="one"),)
    assert kept == [UserMessage(text="one")]
    assert history_agents.GLOBAL_MESSAGE_HISTORY == []


async def test_a_markdown_history_begins_anew_and_gives_blank_messages_on_request(tmp_path):
    agent = ext.MarkdownHistoryAgent.fork(
        history_md_file=tmp_path / "a.md", return_full_history=True
    )
    async with MiniAgents():
        await agent.trigger("gone")
        said = [TextMessage(" ", role="user"), TextMessage("aside", no_history=True, role="user")]
        assert await agent.trigger(said, append=False) == ()
        kept = await agent.trigger(said[1], skip_empty=False, ignore_no_history=True)
    assert [str(message) for message in kept] == [" ", "aside"]


async def test_a_loop_inside_a_running_one_is_refused_with_what_to_write():
    async def work():
        return 1

    with pytest.raises(RuntimeError, match=r"await MiniAgents\(\)\.arun\(\.\.\.\)"):
        MiniAgents().run(work())
    with pytest.raises(RuntimeError, match="arun"):
        MiniAgents().run_agent(parrot, "x")
    assert await MiniAgents().arun(work()) == 1


async def test_replies_are_persisted_before_their_agent_ends_on_request():
    kept = []
    context = MiniAgents(await_reply_persistence_before_agent_finish=True)

    @context.on_persist_messages
    async def keep(messages):
        kept.extend(map(str, messages))

    async with context:
        await parrot.trigger("x")
        await context.aflush_tasks()
        message = TextMessage("y")
        assert await message.aset_persistence_not_needed()
        assert message.persistence_not_needed
        assert await context.apersist_messages(message) == []
        assert await message.aset_persistence_not_needed(False)
        assert await context.apersist_messages([message], parallelise_handlers=True) == [message]
    assert {"x!", "y"} <= set(kept)


async def test_an_error_of_a_handler_is_raised_or_logged(caplog):
    async def refuse(messages):
        raise OSError("no room")

    async with MiniAgents(
        on_persist_messages=refuse, log_level_for_errors=logging.WARNING
    ) as context:
        with pytest.raises(OSError, match="no room"):
            await context.apersist_messages(TextMessage("x"))
        await context.apersist_messages(TextMessage("y"), raise_on_error=False)
    assert [(record.levelname, record.message) for record in caplog.records] == [
        ("WARNING", "A message could not be persisted")
    ]


async def test_tasks_are_gathered_and_their_errors_logged(caplog):
    async def work(number):
        return 1 // number

    async with PromisingContext() as context:
        one, error = await context.agather(work(1), work(0))
        assert await context.start_soon(work(0), suppress_errors=True) is None
    assert (one, type(error)) == (1, ZeroDivisionError)
    assert [record.message for record in caplog.records] == ["A task in the background failed"]


async def test_a_model_of_ones_own_is_an_agent_as_a_class():
    @miniagent
    class Shouter(LLMAgent):
        async def _aproduce_tokens(self, message_dicts, token_appender):
            for one in message_dicts:
                token_appender.append(f"{one['role']}: {one['content'].upper()}\n")

    async with MiniAgents():
        (reply,) = await Shouter.trigger("hi", model="m", system="Shout.")
    assert (str(reply), reply.role, reply.model, reply.agent_alias) == (
        "system: SHOUT.\nuser: HI\n",
        "assistant",
        "m",
        "SHOUTER",
    )


def test_what_is_cached_privately_is_no_field():
    class Counted(Frozen):
        number: int

        @property
        @cached_privately
        def double(self):
            calls.append(self.number)
            return self.number * 2

    calls: list[int] = []
    counted = Counted(number=2)
    assert (counted.double, counted.double, calls) == (4, 4, [2])
    assert counted.as_kwargs() == {"number": 2}
    assert list(counted.frozen_fields()) == ["class_", "number"]


def test_a_singleton_is_one_object_of_its_class():
    class First(utils.Singleton):
        pass

    class Second(First):
        pass

    class Kept(Frozen, utils.ModelSingleton):
        number: int = 1

    assert (First() is First(), Second() is First(), Kept() is Kept()) == (True, False, True)


async def test_a_log_of_an_error_names_its_agents_and_leaves_out_the_runtime():
    told = []

    @miniagent
    async def broken(ctx):
        try:
            await ext.agent_chain.trigger(agents=["nothing"])
        except ValueError:
            told.append(utils.MiniAgentsLogFormatter().formatException(sys.exc_info()))

    async with MiniAgents():
        await broken.trigger()
    assert told[0].endswith("Agent trace: BROKEN\n")
    assert (told[0].count("selfeng_agents"), "ValueError: A chain has" in told[0]) == (1, True)


async def test_the_end_of_the_input_ends_a_loop_of_parts():
    async with MiniAgents():
        with pytest.raises(EndOfLoop):
            await ext.console_input_agent.trigger(read=Console().read)


@pytest.mark.parametrize("remembers", ["person", "markdown"])
async def test_a_dialog_without_a_person_asks_at_the_console(remembers, tmp_path, monkeypatch):
    console, heard = Console("one", "two", "exit"), []
    monkeypatch.setattr("builtins.input", console.read)
    file = tmp_path / "CHAT.md"

    @miniagent
    async def listener(ctx):
        heard.append([str(message) for message in await ctx.message_promises])
        ctx.reply(TextMessage("yes", role="assistant"))

    history = {"markdown": ext.MarkdownHistoryAgent.fork(history_md_file=file)}.get(remembers)
    async with MiniAgents():
        await ext.dialog_loop.trigger(assistant_agent=listener, history_agent=history)
    assert heard == [["one"], ["one", "yes", "two"]]
    assert file.exists() is (remembers == "markdown")


async def test_a_markdown_history_only_writes_or_gives_back_all(tmp_path):
    agent = ext.MarkdownHistoryAgent.fork(history_md_file=tmp_path / "a.md", default_role="user")
    async with MiniAgents():
        assert await agent.trigger("one", only_write=True) == ()
        kept = await agent.trigger("two", only_write=False)
    assert [str(message) for message in kept] == ["one", "two"]
