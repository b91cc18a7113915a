"""Agents: they work on a message step by step, and send messages to each other."""

from selfeng.agents.agent import (
    USER,
    AgentReply,
    Delegation,
    FunctionArguments,
    FunctionCallingAgent,
    Task,
    TurnAgent,
)
from selfeng.agents.agent_functions import proxy
from selfeng.agents.coder import coder

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
