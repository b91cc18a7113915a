"""`selfeng.stages.response_synthesizer`; `python src/response_synthesizer.py` shows it at work."""

from selfeng.stages.response_synthesizer import ResponseSynthesizer  # noqa: F401

if __name__ == "__main__":
    from selfeng.cli.app import self_test

    self_test("response_synthesizer")
