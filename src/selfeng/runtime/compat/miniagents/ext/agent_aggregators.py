"""Chains and loops as agents."""

from selfeng.runtime.compat.agents import agent_chain, agent_loop, dialog_loop, prompt_agent, user_agent
from selfeng.runtime.console import console_user_agent
from selfeng.runtime.sentinels import AWAIT, CLEAR

__all__ = ["AWAIT", "CLEAR", "agent_chain", "agent_loop", "console_user_agent", "dialog_loop", "prompt_agent", "user_agent"]
