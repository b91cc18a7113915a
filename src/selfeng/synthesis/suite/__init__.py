"""The source of suites: what they may not do, and edits that leave the rest unchanged."""
