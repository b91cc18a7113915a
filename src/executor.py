"""`selfeng.stages.executor`; `python src/executor.py` shows it at work."""

from selfeng.stages.executor import Executor

ToolExecutor = Executor

if __name__ == "__main__":
    from selfeng.cli.app import self_test

    self_test("executor")
