"""`selfeng.capability_registry`; `python src/capability_registry.py` shows it at work."""

from selfeng.capability_registry import CapabilityRegistry  # noqa: F401

if __name__ == "__main__":
    from selfeng.cli.app import self_test

    self_test("capability_registry")
