"""The command line: commands, and what a terminal shows of a turn."""
