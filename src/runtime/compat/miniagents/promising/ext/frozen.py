"""Frozen values."""

from src.runtime import Frozen

__all__ = ["Frozen"]
