"""Limits and thresholds of a synthesis, see `config.Settings`."""

from selfeng.core.value import Value


class SynthesisPolicy(Value):
    max_repairs: int = 3
    """How often an implementation may be repaired."""
    candidates: int = 1
    """Implementations that are drawn at once and compared; with one, nothing is compared."""
    mutation_score: float = 0.5
    """Share of the mutants, 0..1, that a suite should notice; below it, more tests are requested
    once; 0: no mutants are made.
    """
    least_tests: int = 3
    """Tests that must remain when candidates have refuted the others."""
    max_rewrites: int = 2
    """How often a refused specification or suite may be rewritten."""
