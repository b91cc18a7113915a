"""Flat sequences."""

from src.runtime.compat.values import FlatSequence

__all__ = ["FlatSequence"]
