"""Loops of agents, and messages as one text."""

from collections.abc import Iterable

from selfeng.runtime import InteractionContext, MiniAgent, achain_loop, adialog_loop, join_messages, split_messages

as_single_text_promise = join_messages


def get_current_agent_trace() -> list[MiniAgent]:
    """The agent that runs here, who called it, and so on."""
    return InteractionContext.get_current().get_agent_trace()


def display_agent_trace(agent_trace: Iterable[MiniAgent] | None = None) -> str:
    """The aliases of the trace in one line."""
    return " <- ".join(agent.alias for agent in (get_current_agent_trace() if agent_trace is None else agent_trace))


__all__ = [
    "achain_loop",
    "adialog_loop",
    "as_single_text_promise",
    "display_agent_trace",
    "get_current_agent_trace",
    "join_messages",
    "split_messages",
]
