"""`python -m src`: the command line."""

from src.cli import app
from src.leaving import leave

try:
    app(prog_name="python -m src")
except SystemExit as end:
    leave(end.code if isinstance(end.code, int) else 1)
