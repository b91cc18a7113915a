"""Conversations, turns, events and tools in one SQL database."""
