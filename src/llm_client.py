"""`selfeng.llm_client`; `python src/llm_client.py` shows it at work."""

from selfeng.llm_client import LLMClient  # noqa: F401

if __name__ == "__main__":
    from selfeng.cli.app import self_test

    self_test("llm_client")
