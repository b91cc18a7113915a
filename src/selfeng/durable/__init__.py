"""Turns that outlive their process: every use of a door to the world is a recorded step."""
