"""The doors of programs, over the engine."""
