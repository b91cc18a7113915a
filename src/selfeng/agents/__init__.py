"""Agents: they work on a message step by step, and send messages to each other."""

from selfeng.agents.agent import Agent, AgentReply, FunctionCallingAgent, Task
from selfeng.agents.coder import coder
from selfeng.agents.delegation import USER, Delegation
from selfeng.agents.proxy import proxy

__all__ = [
    "USER",
    "Agent",
    "AgentReply",
    "Delegation",
    "FunctionCallingAgent",
    "Task",
    "coder",
    "proxy",
]
