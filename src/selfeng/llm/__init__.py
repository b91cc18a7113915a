"""What stands behind the model client: connection, ladders of ways to ask, JSON in text, prices and
failures.
"""
