"""`python -m selfeng`: the command line."""

from selfeng.cli.app import main

main()
