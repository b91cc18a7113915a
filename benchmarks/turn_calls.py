"""How many Python calls a turn takes, and through how many files: `python -m
benchmarks.turn_calls`. The last line is JSON.

Counted are the calls of functions, methods and lambdas below src/selfeng, on the thread of the
event loop, of a turn on a scripted model, a scripted sandbox and a library in memory. A coroutine
or generator counts once, however often it goes on; comprehensions count as part of their function.
Each turn runs once before, so that nothing is counted that is done once per process.
"""

import asyncio
import json
import sys
from collections import Counter
from opcode import opmap
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Self

import selfeng
from selfeng.core.events import Event, TurnFinished
from selfeng.core.prompt import FunctionCall
from selfeng.orchestrator import Orchestrator
from selfeng.stages.executor import Executor
from selfeng.stages.response_synthesizer import ResponseSynthesizer
from selfeng.synthesis_engine import SynthesisEngine
from tests.doubles import (
    CODE,
    TESTS,
    ListedLibrary,
    ScriptedModel,
    ScriptedSandbox,
    failing,
    fenced,
    handled,
    passing,
    returned,
    specified,
    tool,
)

ROOT = f"{Path(selfeng.__file__).parent}/"
_COMPREHENSIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"}
_RESUME = opmap["RESUME"]


class Calls:
    """Counts, while it is entered, the calls of each function below src/selfeng."""

    def __init__(self) -> None:
        self.counts: Counter[CodeType] = Counter()

    @property
    def total(self) -> int:
        return self.counts.total()

    @property
    def files(self) -> Counter[str]:
        """Calls by file, the file with most calls first."""
        files: Counter[str] = Counter()
        for code, count in self.counts.most_common():
            files[code.co_filename.removeprefix(ROOT)] += count
        return Counter(dict(files.most_common()))

    def functions(self, file: str) -> str:
        mine = [
            (code.co_qualname, n)
            for code, n in self.counts.most_common()
            if code.co_filename == ROOT + file
        ]
        return ", ".join(f"{name} {n}" for name, n in mine)

    def __enter__(self) -> Self:
        sys.setprofile(self._profile)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)

    def _profile(self, frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and _counts(frame):
            self.counts[frame.f_code] += 1


def _counts(frame: FrameType) -> bool:
    code = frame.f_code
    return (
        code.co_filename.startswith(ROOT)
        and code.co_name not in _COMPREHENSIONS
        and not _goes_on(frame)
    )


def _goes_on(frame: FrameType) -> bool:
    """Whether a coroutine or generator continues that was counted at its start."""
    code, at = frame.f_code.co_code, frame.f_lasti
    return at >= 0 and code[at] == _RESUME and code[at + 1] & 3 != 0


class DeepSandbox(ScriptedSandbox):
    """Notes how many functions below src/selfeng wait for a call of a tool, those before its task
    included.
    """

    hops = 0

    async def execute(self, *arguments: Any, **more: Any) -> Any:
        task: Any = asyncio.current_task()
        self.hops = _depth(sys._getframe()) + getattr(task, "depth", 0)
        return await super().execute(*arguments, **more)


class _DeepTask(asyncio.Task[Any]):
    """Knows how deep the function was that began it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        above = asyncio.current_task()
        self.depth = _depth(sys._getframe()) + (above.depth if isinstance(above, _DeepTask) else 0)
        super().__init__(*arguments, **options)


def _depth(frame: FrameType | None) -> int:
    depth = 0
    while frame is not None:
        depth += (
            frame.f_code.co_filename.startswith(ROOT)
            and frame.f_code.co_name not in _COMPREHENSIONS
        )
        frame = frame.f_back
    return depth


def reuse() -> tuple[Orchestrator, DeepSandbox]:
    call = FunctionCall(name="add_numbers", arguments={"a": 2, "b": None})
    sandbox = DeepSandbox(returned("3"))
    return _orchestrator(ScriptedModel(call, "It is\n3."), sandbox, ListedLibrary(tool())), sandbox


def synthesis() -> tuple[Orchestrator, DeepSandbox]:
    call = FunctionCall(name="double_number", arguments={"number": 4})
    sandbox = DeepSandbox(failing(), passing(), returned("8"))
    model = ScriptedModel(specified(), fenced(TESTS), fenced(CODE), call, "It is\n8.")
    return _orchestrator(model, sandbox, ListedLibrary()), sandbox


def _orchestrator(
    model: ScriptedModel, sandbox: ScriptedSandbox, library: ListedLibrary
) -> Orchestrator:
    engine = SynthesisEngine(model, sandbox, library, model_name="scripted")
    return Orchestrator(
        library, Executor(model, sandbox, library), engine, ResponseSynthesizer(model)
    )


async def _counted(make: Any) -> tuple[Calls, int]:
    """The calls of a turn that ends as it should, and the hops from the orchestrator's door to the
    sandbox.
    """

    async def run(orchestrator: Orchestrator) -> None:
        events: list[Event] = []
        await handled(orchestrator, "double 4", events.append)
        assert isinstance(events[-1], TurnFinished), events[-1]

    loop = asyncio.get_running_loop()
    loop.set_task_factory(lambda loop, work, **options: _DeepTask(work, loop=loop, **options))
    await run(make()[0])
    orchestrator, sandbox = make()
    await run(orchestrator)
    loop.set_task_factory(None)
    orchestrator, _ = make()
    with Calls() as calls:
        await run(orchestrator)
    return calls, sandbox.hops


def measure_turns() -> dict[str, int]:
    """`reuse_calls` and `reuse_files`, the same for `synthesis`, and `turn_hops` from the
    orchestrator to the sandbox.
    """
    (reused, hops), (built, _) = asyncio.run(_counted(reuse)), asyncio.run(_counted(synthesis))
    figures = {"reuse_calls": reused.total, "reuse_files": len(reused.files), "turn_hops": hops}
    return figures | {"synthesis_calls": built.total, "synthesis_files": len(built.files)}


def main() -> None:
    for make in (reuse, synthesis):
        calls, _ = asyncio.run(_counted(make))
        sys.stdout.write(f"{make.__name__}: {calls.total} calls in {len(calls.files)} files\n")
        for file, count in calls.files.items():
            sys.stdout.write(f"{count:6} {file}: {calls.functions(file)}\n")
    sys.stdout.write(json.dumps(measure_turns()) + "\n")


if __name__ == "__main__":
    main()
