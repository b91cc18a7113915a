"""Frozen values."""

from selfeng.runtime import Frozen

__all__ = ["Frozen"]
