"""Flat sequences."""

from selfeng.runtime.compat.values import FlatSequence

__all__ = ["FlatSequence"]
