"""kill -9 at any instant leaves the whole tool or nothing, the whole new version or the whole old
one.
"""

import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from selfeng.capability_registry import CapabilityRegistry
from selfeng.library.tool_files import source_digest
from selfeng.store.database import open_database, reading
from selfeng.store.schema import tool_vectors, tool_versions, tools
from tests.registry.conftest import Place
from tests.registry.drafts import REPAIRED, REVERSE

ROOT = Path(__file__).parents[2]
WHOLE = ["reverse_text.py", "test_reverse_text.py"]


def _steps(root: Path, action: str) -> dict[str, str]:
    """The directory of each death by the step after which it came."""
    command = [sys.executable, "-m", "tests.registry.crashing", "steps", str(root), action]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return {
        step: number for number, step in (line.split(" ", 1) for line in done.stdout.splitlines())
    }


@contextmanager
def _place(root: Path) -> Iterator[Place]:
    engine = open_database(f"sqlite:///{root / 'agent.db'}")
    try:
        yield Place(root, engine)
    finally:
        engine.dispose()


def _records(engine: sa.Engine) -> tuple[list[str], list[str]]:
    with reading(engine) as connection:
        states = connection.execute(
            sa.select(tools.c.name, tools.c.state).order_by(tools.c.name)
        ).all()
        vectors = connection.execute(
            sa.select(tool_vectors.c.name).order_by(tool_vectors.c.name)
        ).scalars()
        return [f"{name} {state}" for name, state in states], list(vectors)


async def test_a_death_at_any_step_of_adding_leaves_the_whole_tool(tmp_path: Path) -> None:
    deaths = _steps(tmp_path, "add")
    assert list(deaths) == [
        "recorded",
        "staged reverse_text.py",
        "staged test_reverse_text.py",
        "placed reverse_text.py",
        "placed test_reverse_text.py",
        "active",
    ]
    for step, number in deaths.items():
        with _place(tmp_path / number) as place:
            async with place.open() as library:
                assert [t.name for t in await library.tools()] == ["reverse_text"], step
                assert (await library.get("reverse_text")).code == REVERSE.code
                assert [c.tool.name for c in await library.search("reverse the word banana")] == [
                    "reverse_text"
                ]
            assert place.python_files() == WHOLE, step
            assert (place.tools_dir / WHOLE[0]).read_text() + (
                place.tools_dir / WHOLE[1]
            ).read_text() == REVERSE.code + REVERSE.tests
            assert place.heard == ([] if step == "active" else [("added", "reverse_text")])
            assert _records(place.engine) == (["reverse_text active"], ["reverse_text"])


@pytest.mark.extended
async def test_a_death_at_any_step_of_revising_leaves_the_old_version_or_the_new_one(
    tmp_path: Path,
) -> None:
    deaths = _steps(tmp_path, "revise")
    assert list(deaths) == [
        "staged reverse_text.py",
        "staged test_reverse_text.py",
        "revised",
        "placed reverse_text.py",
        "placed test_reverse_text.py",
        "active",
    ]
    for step, number in deaths.items():
        drafts = [REVERSE] if step.startswith("staged") else [REPAIRED, REVERSE]
        with _place(tmp_path / number) as place:
            async with place.open() as library:
                tool = await library.get("reverse_text")
                assert (tool.draft(), tool.version) == (drafts[0], len(drafts)), step
                assert [v.draft() for v in await library.versions("reverse_text")] == drafts, step
                assert [c.tool for c in await library.search("reverse the word banana")] == [tool]
            assert place.python_files() == WHOLE, step
            assert [(place.tools_dir / file).read_text() for file in WHOLE] == [
                tool.code,
                tool.tests,
            ]
            assert not list((place.tools_dir / ".staging").iterdir())
            assert place.heard == []
            assert _records(place.engine) == (["reverse_text active"], ["reverse_text"])


@pytest.mark.extended
async def test_a_death_at_any_step_of_removing_leaves_nothing(tmp_path: Path) -> None:
    deaths = _steps(tmp_path, "remove")
    assert list(deaths) == [
        "removing",
        "deleted reverse_text.py",
        "deleted test_reverse_text.py",
        "removed",
    ]
    for step, number in deaths.items():
        with _place(tmp_path / number) as place:
            async with place.open() as library:
                assert await library.tools() == (), step
                await library.check_name("reverse_text")
            assert place.python_files() == [], step
            assert _records(place.engine) == ([], [])


@pytest.mark.everywhere
async def test_deaths_at_random_instants_leave_whole_tools_only(tmp_path: Path) -> None:
    random_steps = random.Random(11)
    for _ in range(5):
        _kill_after(tmp_path, random_steps.randint(1, 40))
        with _place(tmp_path) as place:
            async with place.open() as library:
                await _assert_whole(place, library)


def _kill_after(root: Path, lines: int) -> None:
    command = [sys.executable, "-m", "tests.registry.crashing", "endless", str(root)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        for _ in range(lines):
            assert child.stdout.readline(), "it ended by itself"
        child.kill()


async def _assert_whole(place: Place, library: CapabilityRegistry) -> None:
    held = await library.tools()
    assert place.python_files() == sorted(
        f"{prefix}{t.name}.py" for t in held for prefix in ("", "test_")
    )
    for tool in held:
        texts = [
            (place.tools_dir / f"{prefix}{tool.name}.py").read_text() for prefix in ("", "test_")
        ]
        assert source_digest(*texts) == tool.digest
        newest = await library.version(tool.name, tool.version)
        assert (newest.draft(), newest.digest) == (tool.draft(), tool.digest)
    names = [t.name for t in held]
    assert _records(place.engine) == ([f"{name} active" for name in names], names)
    with reading(place.engine) as connection:  # a gap would be a version that was never whole
        numbers = connection.execute(sa.select(tool_versions.c.name, tool_versions.c.version)).all()
    for name in {n for n, _ in numbers}:
        own = sorted(version for n, version in numbers if n == name)
        assert own == list(range(1, len(own) + 1))
    assert await library.settle() == "ready"
    assert sorted(c.tool.name for c in await library.search("tool number", limit=20)) == names
