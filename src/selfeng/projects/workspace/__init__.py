"""A workspace: a folder that agents, the command line and the page work in by typed actions, and whose files run in the sandbox only."""
