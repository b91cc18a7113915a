"""Histories as agents."""

from selfeng.runtime.compat.agents import in_memory_history_agent, markdown_history_agent

MarkdownHistoryAgent = markdown_history_agent

__all__ = ["MarkdownHistoryAgent", "in_memory_history_agent", "markdown_history_agent"]
