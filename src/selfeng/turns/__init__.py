"""A running turn: its events, its record, and how it is stopped."""
