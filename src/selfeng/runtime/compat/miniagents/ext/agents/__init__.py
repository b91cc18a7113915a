"""Agents, by what they do."""

__all__ = []
