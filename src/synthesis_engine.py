"""`selfeng.synthesis_engine`; `python src/synthesis_engine.py` shows it at work."""

from selfeng.synthesis_engine import SynthesisEngine

CapabilitySynthesisEngine = SynthesisEngine

if __name__ == "__main__":
    from selfeng.cli.app import self_test

    self_test("synthesis_engine")
