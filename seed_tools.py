"""`python seed_tools.py`: add the seed tools that are missing, each through the gate that generated tools pass."""

import sys

from selfeng.cli.app import app
from selfeng.core.leaving import call_and_leave

if __name__ == "__main__":
    call_and_leave(lambda: app(["seed", *sys.argv[1:]], prog_name="python seed_tools.py"))
