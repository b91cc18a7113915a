"""The parts of a synthesis: reading replies, checking the model's output, reporting steps."""
