"""`selfeng.sandbox`; `python src/sandbox.py` shows it at work."""

from selfeng.sandbox import SecureSandbox  # noqa: F401

if __name__ == "__main__":
    from selfeng.cli.app import self_test

    self_test("sandbox")
