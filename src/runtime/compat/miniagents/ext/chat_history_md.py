"""The chat history in Markdown."""

from src.runtime import ChatHistoryMD

__all__ = ["ChatHistoryMD"]
