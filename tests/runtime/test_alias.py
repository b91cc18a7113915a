"""The runtime under the names of the package `miniagents`, as its users import it."""

import importlib
import sys

import pytest

import selfeng_agents
from miniagents import MODULES


@pytest.fixture
def imported():
    """Imports a module below `miniagents` as a program would that has imported nothing yet."""

    def forget():
        for name in [name for name in sys.modules if name.partition(".")[0] == "miniagents"]:
            del sys.modules[name]

    forget()
    yield importlib.import_module
    forget()


@pytest.mark.parametrize("module", MODULES)
def test_a_module_that_is_imported_first_has_its_names(module, imported):
    name = f"miniagents.{module}".rstrip(".")
    there = imported(name)
    assert (there.__name__, there.__all__) == (name, sorted(MODULES[module].split()))
    assert [name for name in there.__all__ if not hasattr(there, name)] == []


def test_there_are_all_modules_and_no_others(imported):
    assert len(MODULES) == 36
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'miniagents\.unknown'"):
        imported("miniagents.unknown")


def test_a_module_is_found_in_the_one_that_it_is_in(imported):
    top = imported("miniagents")
    assert top.ext.llm.openai is imported("miniagents.ext.llm.openai")


def test_the_names_are_the_runtimes_own_objects(imported):
    for module in (
        "miniagents",
        "miniagents.miniagents",
        "miniagents.messages",
        "miniagents.promising.promising",
        "miniagents.utils",
    ):
        there = imported(module)
        shared = set(there.__all__) & set(selfeng_agents.__all__)
        assert len(shared) >= 4
        assert all(getattr(there, name) is getattr(selfeng_agents, name) for name in shared)


@pytest.mark.parametrize("module", ["", "ext.llm", "ext.misc_agents", "ext.history_agents"])
def test_a_name_is_found_in_any_module(module, imported):
    there = imported(f"miniagents.{module}".rstrip("."))
    assert there.ChatHistoryMD is selfeng_agents.ChatHistoryMD
    assert there.AWAIT is selfeng_agents.AWAIT
    assert there.openai_agent.alias == "OPENAI_AGENT"
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        exec(f"from {there.__name__} import nothing")


async def test_programs_for_early_versions_run(imported):
    core, utils = imported("miniagents.miniagents"), imported("miniagents.utils")
    default = imported("miniagents.promising.sentinels").DEFAULT

    @core.miniagent
    async def agent(ctx):
        ctx.reply([ctx.messages, core.Message(text="hi", role="assistant")])

    async with core.MiniAgents(start_everything_asap_by_default=False):
        replies = agent.inquire("hello", start_asap=default)
        assert [message.text for message in await replies.aresolve_messages()] == ["hello", "hi"]
        assert "".join([token async for token in utils.join_messages(replies)]) == "hello\n\nhi"


async def test_programs_for_later_versions_run(imported):
    later = imported("miniagents")
    no_value = imported("miniagents.promising.sentinels").NO_VALUE

    @later.miniagent
    async def agent(ctx):
        ctx.reply([ctx.message_promises, later.TextMessage("hi", role="assistant")])

    async with later.MiniAgents(start_everything_soon_by_default=False):
        replies = agent.trigger("hello", start_soon=no_value)
        assert await replies == (
            later.TextMessage(content="hello"),
            later.TextMessage("hi", role="assistant"),
        )
        assert all(isinstance(message, later.TextMessage) for message in await replies)
        assert str(await replies.as_single_text_promise()) == "hello\n\nhi"


async def test_a_text_message_is_known_by_its_content(imported):
    message = imported("miniagents.messages").TextMessage("hi", n=1)
    assert message.serialize() == {
        "class_": "TextMessage",
        "content": "hi",
        "content_template": None,
        "n": 1,
    }
    assert message == selfeng_agents.Message("hi", n=1)
    assert message != selfeng_agents.Message("hi")


async def test_a_flat_sequence_has_any_number_of_pieces_for_each(imported):
    flat, promising = (
        imported("miniagents.promising.sequence"),
        imported("miniagents.promising.promising"),
    )

    async def times(_, number):
        for _ in range(number):
            yield number

    async with promising.PromisingContext():
        with promising.StreamAppender() as appender:
            appender.append(0).append(2).append(1)
        assert await flat.FlatSequence(appender, flattener=times).sequence_promise == (2, 2, 1)


async def test_a_dialog_of_agents_has_its_prompt_at_the_end(imported):
    agents, markdown = (
        imported("miniagents.ext"),
        imported("miniagents.ext.history_agents").MarkdownHistoryAgent,
    )
    heard, typed = [], iter(["one", "two"])

    @selfeng_agents.miniagent
    async def person(ctx):
        ctx.reply(ctx.message_promises)
        try:
            ctx.reply(next(typed))
        except StopIteration:
            raise KeyboardInterrupt from None

    @selfeng_agents.miniagent
    async def assistant(ctx):
        heard.append([str(message) for message in await ctx.message_promises])
        ctx.reply("answer")

    remembered = agents.in_memory_history_agent.fork(message_list=[])
    user = agents.user_agent.fork(output_agent=None, input_agent=person, history_agent=remembered)
    async with selfeng_agents.MiniAgents():
        assert (
            await agents.dialog_loop.inquire("Be kind.", user_agent=user, assistant_agent=assistant)
            == ()
        )
    assert heard == [["one", "Be kind."], ["one", "answer", "two", "Be kind."]]
    assert markdown.alias == "MARKDOWN_HISTORY_AGENT"


async def test_a_markdown_history_agent_keeps_and_gives_back(imported, tmp_path):
    markdown = imported("miniagents.ext.history_agents").MarkdownHistoryAgent.fork(
        history_md_file=str(tmp_path / "CHAT.md")
    )
    async with selfeng_agents.MiniAgents():
        said = selfeng_agents.Message("hello", role="user")
        assert await markdown.inquire([said, selfeng_agents.Message("aside", no_history=True)])
        assert await markdown.inquire(return_full_history=True) == (said,)


def test_agents_know_their_trace(imported):
    utils = imported("miniagents.utils")

    @selfeng_agents.miniagent
    async def agent(ctx):
        ctx.reply(utils.display_agent_trace())

    assert [str(message) for message in selfeng_agents.MiniAgents().run_agent(agent)] == ["AGENT"]


async def test_what_has_two_names_is_the_same_under_both(imported):
    messages = imported("miniagents.messages")
    async with selfeng_agents.MiniAgents():
        with messages.MessageTokenAppender() as tokens:
            promise = messages.Message.promise(message_token_streamer=tokens, role="user")
            tokens.append(messages.TextToken("hi"))
            tokens.auxiliary_field_collector["n"] = 1
        assert promise.preliminary_metadata is promise.known_beforehand
        message = await promise
        assert (message.n, message.as_string, message.content) == (1, "hi", "hi")
        assert message.frozen_fields_and_values() == message.as_kwargs()
        with messages.MessageSequence().message_appender as sequence:
            sequence.append(message)
        assert await sequence.sequence_promise == (message,)
