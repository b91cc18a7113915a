"""Programs that die while they change a library; run by test_crashes.py in processes of their own.

`steps ROOT add|remove` forks a process for every step of adding or removing a tool, which kills itself right after that
step, and prints the steps. `endless ROOT` adds and removes tools, printing a line per step, until it is killed.
"""

import asyncio
import itertools
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

from src.capability_registry import CapabilityRegistry
from src.core.tool import Tool
from src.registry.files import Checkpoint, ToolFiles
from src.registry.fusion import tool_vector
from src.registry.registrar import Registrar
from src.registry.sources import source_digest
from src.store.database import open_database
from tests.embedding.hashing import HashingEmbedder
from tests.registry.drafts import REVERSE, draft


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

    _registrar(place, (lambda _: None) if action == "remove" else die, add=True)
    if action == "remove":
        _registrar(place, die, add=False).remove(REVERSE.name)


def _registrar(place: Path, checkpoint: Checkpoint, add: bool) -> Registrar:
    files = ToolFiles(place / "tools", checkpoint)
    registrar = Registrar(open_database(f"sqlite:///{place / 'agent.db'}"), files, checkpoint)
    registrar.recover()
    if add:
        embedder = HashingEmbedder()
        vector = tool_vector(embedder, REVERSE.name, REVERSE.description, REVERSE.example_requests)
        digest = source_digest(REVERSE.code, REVERSE.tests)
        registrar.add(Tool(**dict(REVERSE), created_at=datetime.now(UTC), digest=digest), embedder.id, vector)
    return registrar


async def endless(root: Path) -> None:
    engine = open_database(f"sqlite:///{root / 'agent.db'}")
    say = lambda step: print(step, flush=True)  # noqa: E731
    library = CapabilityRegistry(engine, root / "tools", root / "chroma_db", HashingEmbedder(), checkpoint=say)
    await library.start()
    taken = {tool.name for tool in await library.tools()}
    for number in itertools.count():
        name = f"tool_{number % 12}"
        if name in taken:
            await library.remove(name)
            taken.remove(name)
        else:
            await library.add(draft(name, f"Tool number {number}.", body=f"return '{number}'"))
            taken.add(name)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["steps", root, action]:
            steps(Path(root), action)
        case ["endless", root]:
            asyncio.run(endless(Path(root)))
