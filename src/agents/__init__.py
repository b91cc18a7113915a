"""Agents: who works on a message step by step, and how they hand work to each other."""

from src.agents.agent import Agent, AgentReply, FunctionCallingAgent, Task
from src.agents.coder import coder
from src.agents.delegation import USER, Delegation
from src.agents.proxy import proxy

__all__ = ["USER", "Agent", "AgentReply", "Delegation", "FunctionCallingAgent", "Task", "coder", "proxy"]
