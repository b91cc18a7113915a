"""The engine of the Self-Engineering Agent; it knows nothing of the web."""
