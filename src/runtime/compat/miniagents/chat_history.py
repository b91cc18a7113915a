"""Chat histories."""

from src.runtime import ChatHistory, InMemoryChatHistory

__all__ = ["ChatHistory", "InMemoryChatHistory"]
