"""Loops of agents, and messages as one text."""

from src.runtime import MessageSequence, achain_loop, adialog_loop, join_messages, split_messages

__all__ = ["MessageSequence", "achain_loop", "adialog_loop", "join_messages", "split_messages"]
