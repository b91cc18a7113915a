"""How much trouble a synthesis takes, see `config.Settings`."""

from selfeng.core.value import Value


class SynthesisPolicy(Value):
    max_repairs: int = 3
    """How often an implementation may be repaired."""
    candidates: int = 1
    """Implementations that are drawn at once and compared; one leaves nothing to compare."""
    mutation_score: float = 0.5
    """Part of the mutants, 0..1, that a suite should notice; below it further tests are asked for,
    once; 0: no mutants are made.
    """
    least_tests: int = 3
    """Tests that must be left when candidates have refuted the others."""
    max_rewrites: int = 2
    """How often a specification or a suite that was refused may be written again."""
