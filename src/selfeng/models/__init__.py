"""The parts of the model client: connection, ladders of strategies, JSON in text, prices and
failures.
"""
