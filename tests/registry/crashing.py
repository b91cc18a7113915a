"""Programs that die while they change a library; run by test_crashes.py in processes of their own.

`steps ROOT add|revise|remove` forks a process for every step of adding, revising or removing a
tool, which kills itself right after that step, and prints the steps. `endless ROOT` adds, revises
and removes tools, printing a line per step, until it is killed.
"""

import asyncio
import itertools
import os
import signal
import sys
from pathlib import Path

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.provenance import Provenance, Repaired
from selfeng.library.tool_files import Checkpoint, ToolFiles
from selfeng.library.tool_writer import ToolWriter
from selfeng.library.vectors import Vectors
from selfeng.store.database import open_database
from tests.embedding.hashing import HashingEmbedder
from tests.registry.drafts import REPAIRED, REVERSE, draft


def steps(root: Path, action: str) -> None:
    for number in itertools.count():
        place = root / str(number)
        place.mkdir(parents=True)
        read, write = os.pipe()
        child = os.fork()
        if not child:
            _die_at(place, action, number, write)
            os._exit(0)
        os.close(write)
        step = os.fdopen(read).read()
        _, status = os.waitpid(child, 0)
        if not step:
            assert status == 0, "it ended without an error before it came to that step"
            return
        assert os.WTERMSIG(status) == signal.SIGKILL
        print(f"{number} {step}", flush=True)


def _die_at(place: Path, action: str, number: int, write: int) -> None:
    counter = itertools.count()

    def die(step: str) -> None:
        if next(counter) == number:
            os.write(write, step.encode())
            os.kill(os.getpid(), signal.SIGKILL)

    quiet = lambda _: None  # noqa: E731
    writer, vectors = _tool_writer(place, die if action == "add" else quiet)
    writer.add(REVERSE, Provenance(), vectors.of_new(REVERSE)[1])
    writer, vectors = _tool_writer(place, die)
    match action:
        case "revise":
            writer.revise(REPAIRED, Provenance(origin=Repaired()), 1, vectors.of_next(REPAIRED))
        case "remove":
            writer.remove(REVERSE.name)


def _tool_writer(place: Path, checkpoint: Checkpoint) -> tuple[ToolWriter, Vectors]:
    engine = open_database(f"sqlite:///{place / 'agent.db'}")
    writer = ToolWriter(engine, ToolFiles(place / "tools", checkpoint), checkpoint)
    writer.recover()
    return writer, Vectors(engine, HashingEmbedder())


async def endless(root: Path) -> None:
    engine = open_database(f"sqlite:///{root / 'agent.db'}")
    say = lambda step: print(step, flush=True)  # noqa: E731
    library = CapabilityRegistry(
        engine, root / "tools", root / "chroma_db", HashingEmbedder(), checkpoint=say
    )
    await library.start()
    taken = {tool.name: tool.version for tool in await library.tools()}
    for number in itertools.count():
        name = f"tool_{number % 12}"
        written = draft(name, f"Tool number {number}.", body=f"return '{number}'")
        if name not in taken:
            taken[name] = (await library.add(written)).version
        elif number % 5:
            taken[name] = (
                await library.revise(written, taken[name], Provenance(origin=Repaired()))
            ).version
        else:
            await library.remove(name)
            del taken[name]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["steps", root, action]:
            steps(Path(root), action)
        case ["endless", root]:
            asyncio.run(endless(Path(root)))
