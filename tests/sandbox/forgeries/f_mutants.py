"""Mechanism."""

from tests.sandbox.forgeries import Case

CASES: list[Case] = []
