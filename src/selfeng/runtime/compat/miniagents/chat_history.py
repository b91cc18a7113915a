"""Chat histories."""

from selfeng.runtime import ChatHistory, InMemoryChatHistory

__all__ = ["ChatHistory", "InMemoryChatHistory"]
