"""Promises and streams."""

__all__ = []
