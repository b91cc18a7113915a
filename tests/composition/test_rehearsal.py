"""A rehearsal: the whole library is verified in a copy, and nothing of the original changes."""

from collections.abc import Mapping
from pathlib import Path

from selfeng.bootstrap import rehearsal
from selfeng.core.settings import load_settings
from selfeng.core.tool import Tool
from selfeng.core.verdict import TestResult, Verdict
from selfeng.library.composition.linked_sandbox import PinnedSources
from selfeng.library.composition.reverification import Rehearsed, Reverification
from selfeng.store.database import open_database
from tests.doubles import passing
from tests.embedding.hashing import hashed_library
from tests.exchange.bundles import draft


async def test_what_would_break_is_named_with_its_first_failing_test(tmp_path: Path) -> None:
    failed = TestResult(test="test_b", outcome="failed", seconds=0.0, message="ImportError: cgi")
    tests = (TestResult(test="test_a", outcome="passed", seconds=0.0), failed)
    verdicts = {
        "breaks_here": Verdict(passed=False, tests=tests, problem="1 of 2 tests failed: test_b"),
        "refused_here": Verdict(passed=False, problem="the suite is flaky"),
        "works_here": passing(),
    }

    async def gate(tool: Tool, library: Mapping[str, str]) -> Verdict:
        return verdicts[tool.name]

    async with hashed_library(tmp_path) as library:
        for name in (*verdicts, "retired_tool"):
            await library.add(draft(name))
        await library.retire("retired_tool")
        before = await library.tools()
        work = Reverification(library, gate, PinnedSources(library), lambda outcome: None)
        outcomes = [outcome async for outcome in work.rehearse()]
        assert await library.tools() == before
    assert outcomes == [
        Rehearsed(name="breaks_here", version=1, test="test_b", problem="ImportError: cgi"),
        Rehearsed(name="refused_here", version=1, problem="the suite is flaky"),
        Rehearsed(name="works_here", version=1),
    ]


def test_a_rehearsal_has_a_copy_that_is_removed(tmp_path: Path) -> None:
    folders = {name: tmp_path / name for name in ("data_dir", "tools_dir", "chroma_persist_dir")}
    settings = load_settings().model_copy(update={**folders, "database_url": ""})
    open_database(settings.database).dispose()
    (folders["tools_dir"] / "a").mkdir(parents=True)
    before = sorted(path for path in tmp_path.rglob("*") if not path.name.startswith("agent.db-"))
    with rehearsal(settings, "python:3.13-slim") as changed:
        assert (changed.data_dir / "agent.db").exists()
        assert (changed.tools_dir / "a").is_dir()
        assert (changed.sandbox, changed.base_image) == ("docker", "python:3.13-slim")
        assert changed.docker_image_name == f"{settings.docker_image_name}-rehearsal"
        assert not changed.data_dir.is_relative_to(tmp_path)
        open_database(changed.database).dispose()
    assert not changed.data_dir.exists()
    after = sorted(path for path in tmp_path.rglob("*") if not path.name.startswith("agent.db-"))
    assert after == before
