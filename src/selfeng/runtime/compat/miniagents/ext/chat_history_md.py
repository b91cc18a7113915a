"""The chat history in Markdown."""

from selfeng.runtime import ChatHistoryMD

__all__ = ["ChatHistoryMD"]
