"""`python -m src`: the command line."""

from src.cli import app
from src.leaving import call_and_leave

call_and_leave(lambda: app(prog_name="python -m src"))
