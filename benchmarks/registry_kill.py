"""Whether a tool that was acknowledged is ever lost: `python -m benchmarks.registry_kill [KILLS
[TOOLS]]`.

A child adds tools and says each name once `add` has returned; it is killed with SIGKILL at a random
moment, every fifth time while it makes the search index anew. Then the library is opened, and each
tool said so far has to be whole: its record, both files, vector, words and version; those said last
have to be found by a search too. The last line is one JSON object: `kills`, `rebuilds_killed` (of
them), tools `acknowledged` and `lost`, indexes that did not get `ready` again, `litter` (half-made
indexes left behind), and `rebuild_s`, the seconds that it takes to make the index of TOOLS tools,
by default 10,000. The exit code is 1 if anything was lost.

Of 596 tools acknowledged before 50 kills, 10 of them during a rebuild, none was lost and no litter
was left.
"""

import asyncio
import random
import subprocess
import sys
import tempfile
import time
from contextlib import aclosing
from pathlib import Path

import sqlalchemy as sa

from benchmarks import lookup
from benchmarks.goals import report
from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.library.tool_files import code_file, source_digest, tests_file
from selfeng.store.database import open_database, reading
from selfeng.store.schema import tool_vectors, tool_versions, tool_words, tools

_ROOT = Path(__file__).parents[1]
_REBUILD_EVERY = 5
_LONGEST = 1.5
"""Seconds from the first tool, or from the begin of a rebuild, to the kill."""
_PATIENCE = 120.0
_SEARCHED = 10
_OTHERS = 1_000
"""Tools that are there before, so that the index is large enough to be made by a process of its
own.
"""


def main(kills: int = 50, size: int = 10_000) -> int:
    figures: dict[str, float] = {
        "kills": kills,
        "rebuilds_killed": 0,
        "acknowledged": 0,
        "lost": 0,
        "not_ready": 0,
        "litter": 0,
    }
    rng, said = random.Random(), list[str]()
    with tempfile.TemporaryDirectory(prefix="registry-kill-") as root:
        folder = Path(root)
        lookup.apart("fill", folder, min(size, _OTHERS))
        for kill in range(1, kills + 1):
            rebuild = kill % _REBUILD_EVERY == 0
            new = _killed(folder, len(said), rebuild, rng.uniform(0, _LONGEST))
            said += new
            missing, ready = asyncio.run(_examine(folder, said, new[-_SEARCHED:]))
            figures["rebuilds_killed"] += rebuild
            figures["lost"] += len(missing)
            figures["not_ready"] += not ready
            figures["litter"] += len(list((folder / "chroma_db").glob(".new-*")))
            sys.stderr.write(
                f"kill {kill}: {len(said)} tools acknowledged, lost: "
                f"{', '.join(missing) or 'none'}\n"
            )
            said = [name for name in said if name not in missing]
    figures["acknowledged"] = len(said) + figures["lost"]
    figures["rebuild_s"] = _rebuilt(size)
    return report(figures, {"lost": 0, "not_ready": 0, "litter": 0})


def _killed(folder: Path, first: int, rebuild: bool, seconds: float) -> list[str]:
    """The tools that a child said it had added until it was killed."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.registry_kill",
        "rebuild" if rebuild else "add",
        str(folder),
        str(first),
    ]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as child:  # noqa: S603 - our own words
        assert child.stdout is not None
        begun = child.stdout.readline()
        assert begun, "it ended by itself"
        time.sleep(seconds)
        child.kill()
        lines = [begun, *child.stdout]
    return [line.strip() for line in lines if line.endswith("\n") and line != "rebuilding\n"]


async def _child(work: str, folder: Path, first: int) -> None:
    library = await _opened(folder)
    if work == "rebuild":
        await library.settle(_PATIENCE)
        _say("rebuilding")
        await library.reindex(lambda done, total: None)
    number = first
    while True:
        number += 1
        name = f"tool_{number}_{time.time_ns()}"  # what was added and not said has its name already
        await library.add(_draft(name, number))
        _say(name)


async def _examine(folder: Path, said: list[str], searched: list[str]) -> tuple[list[str], bool]:
    """The tools that are not whole, and whether the index has become ready."""
    engine = open_database(f"sqlite:///{folder / 'agent.db'}")
    async with aclosing(await _opened(folder)) as library:
        missing = [name for name in said if not _is_whole(engine, folder / "tools", name)]
        for name in searched:
            found = [c.tool.name for c in await library.search(_described(name.split("_")[1]))]
            if name not in found:
                missing.append(name)
        ready = await library.settle(_PATIENCE) == "ready"
    engine.dispose()
    return list(dict.fromkeys(missing)), ready


def _is_whole(engine: sa.Engine, tools_dir: Path, name: str) -> bool:
    with reading(engine) as connection:
        record = connection.execute(
            sa.select(tools.c.digest, tools.c.state).where(tools.c.name == name)
        ).first()
        others = [
            connection.execute(
                sa.select(sa.func.count()).select_from(table).where(table.c.name == name)
            ).scalar_one()
            for table in (tool_vectors, tool_words, tool_versions)
        ]
    try:
        digest = source_digest(
            *((tools_dir / file(name)).read_text() for file in (code_file, tests_file))
        )
    except OSError:
        return False
    return (
        record is not None
        and record.state == "active"
        and record.digest == digest
        and others == [1, 1, 1]
    )


def _draft(name: str, number: int) -> ToolDraft:
    code = f"def {name}(text: str) -> str:\n    return text + '{number}'\n"
    tests = (
        f"from {name} import {name}\n\n\ndef test_{name}():\n    assert {name}('a') == "
        f"'a{number}'\n"
    )
    signature = parse_signature(code, name, {"text": "Any text."})
    return ToolDraft(
        name=name, description=_described(str(number)), signature=signature, code=code, tests=tests
    )


def _described(number: str) -> str:
    return f"Append serial{number} to the text."


async def _opened(folder: Path) -> CapabilityRegistry:
    library = lookup.library(folder)
    await library.start()
    return library


def _rebuilt(size: int) -> float:
    with tempfile.TemporaryDirectory(prefix="registry-kill-") as folder:
        lookup.apart("fill", Path(folder), size)
        return float(lookup.apart("index", Path(folder), size)["rebuild_s"])


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    match sys.argv[1:]:
        case [("add" | "rebuild") as work, folder, first]:
            asyncio.run(_child(work, Path(folder), int(first)))
        case sizes:
            sys.exit(main(*map(int, sizes)))
