# `python src/llm_client.py` shows this part at work.
from selfeng.cli.app import self_test

self_test("llm_client")
