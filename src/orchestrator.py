"""`selfeng.orchestrator`; `python src/orchestrator.py` shows it at work."""

from selfeng.orchestrator import Orchestrator

AgentOrchestrator = Orchestrator

if __name__ == "__main__":
    from selfeng.cli.app import self_test

    self_test("orchestrator")
