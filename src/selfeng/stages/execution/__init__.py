"""The parts of an execution: checking arguments against a signature."""
