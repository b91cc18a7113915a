"""A turn that runs: told by events, recorded, stopped."""
