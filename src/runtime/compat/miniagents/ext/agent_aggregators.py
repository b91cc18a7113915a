"""Chains and loops as agents."""

from src.runtime.compat.agents import agent_chain, agent_loop, dialog_loop, prompt_agent, user_agent
from src.runtime.console import console_user_agent
from src.runtime.sentinels import AWAIT, CLEAR

__all__ = ["AWAIT", "CLEAR", "agent_chain", "agent_loop", "console_user_agent", "dialog_loop", "prompt_agent", "user_agent"]
