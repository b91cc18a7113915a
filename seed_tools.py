"""`python seed_tools.py`: add the seed tools that are missing, each through the gate that generated
tools pass.
"""

import sys

import src  # noqa: F401 - finds the package where it is not installed
from selfeng.cli.app import app
from selfeng.core.process import run_and_exit

if __name__ == "__main__":
    run_and_exit(lambda: app(["seed", *sys.argv[1:]], prog_name="python seed_tools.py"))
