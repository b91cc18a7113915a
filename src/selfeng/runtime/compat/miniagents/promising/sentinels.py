"""Markers."""

from selfeng.runtime.sentinels import AWAIT, CLEAR, DEFAULT, NO_VALUE, Sentinel

__all__ = ["AWAIT", "CLEAR", "DEFAULT", "NO_VALUE", "Sentinel"]
