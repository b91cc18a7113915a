"""Agents that go with the others."""

from selfeng.runtime.compat.agents import (
    agent_chain,
    agent_loop,
    dialog_loop,
    in_memory_history_agent,
    markdown_history_agent,
    prompt_agent,
    user_agent,
)
from selfeng.runtime.console import console_user_agent
from selfeng.runtime.sentinels import AWAIT, CLEAR

__all__ = [
    "AWAIT",
    "CLEAR",
    "agent_chain",
    "agent_loop",
    "console_user_agent",
    "dialog_loop",
    "in_memory_history_agent",
    "markdown_history_agent",
    "prompt_agent",
    "user_agent",
]
