"""Flat sequences."""

from src.runtime.compat.later import FlatSequence

__all__ = ["FlatSequence"]
