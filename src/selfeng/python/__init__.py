"""The agent for Python programs: `Agent`, and `AsyncAgent` for those with an event loop."""

from selfeng.python.async_agent import AsyncAgent
from selfeng.python.reply import Reply, RequestFailed, ToolFailed
from selfeng.python.sync_agent import Agent

__all__ = ["Agent", "AsyncAgent", "Reply", "RequestFailed", "ToolFailed"]
