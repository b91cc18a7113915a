"""The parts of a synthesis: reading replies, checking what the model wrote, reporting steps."""
