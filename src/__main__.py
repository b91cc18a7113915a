"""`python -m src`: the command line."""

from src.cli import app

app(prog_name="python -m src")
