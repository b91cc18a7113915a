# `python src/synthesis_engine.py` shows this part at work.
from selfeng.cli.app import self_test

self_test("synthesis_engine")
