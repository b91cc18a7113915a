"""Agents: they work on a message step by step, and send messages to each other."""

from selfeng.agents.agent import (
    AgentReply,
    FunctionArguments,
    FunctionCallingAgent,
    Task,
    TurnAgent,
)
from selfeng.agents.coder import coder
from selfeng.agents.delegation import USER, Delegation
from selfeng.agents.proxy import proxy

__all__ = [
    "USER",
    "AgentReply",
    "Delegation",
    "FunctionArguments",
    "FunctionCallingAgent",
    "Task",
    "TurnAgent",
    "coder",
    "proxy",
]
