"""The health of the library at the terminal: twins are listed, merged, and parted again."""

import asyncio
import json
from contextlib import aclosing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from selfeng.bootstrap import build_engine
from selfeng.cli.app import app
from selfeng.core.settings import Settings
from tests.engine.test_merging import LINK, SLUG
from tests.home import Home

TWIN = LINK.model_copy(
    update={"code": LINK.code.replace('title.lower().replace(" ", "-")', '"-".join(title.lower().split())')}
)  # fmt: skip


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["health", *arguments])


@pytest.mark.bubblewrap
def test_twins_are_listed_merged_and_parted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in Home(tmp_path, bubblewrap=True).environment().items():
        monkeypatch.setenv(name, value)

    async def add() -> None:
        async with aclosing(await build_engine(Settings(_env_file=None))) as engine:
            for tool in (SLUG, TWIN):
                await engine.library.add(tool)

    asyncio.run(add())
    report = run("--json")
    assert report.exit_code == 1
    twins = json.loads(report.stdout)["findings"][0]
    assert (twins["kind"], twins["tools"]) == ("twins", ["make_slug", "link_name"])
    assert (twins["evidence"], twins["proposal"]) == ({"inputs": 3.0, "recorded": 0.0}, "merge")
    assert run().stdout.splitlines()[0] == (
        f"{'make_slug':32} link_name does the same for all 3 inputs, 0 of them recorded; `selfeng "
        "health merge make_slug link_name` makes one of them"
    )
    unused = [line for line in run("--days", "0").stdout.splitlines() if "nobody" in line]
    assert [line.split()[0] for line in unused] == ["make_slug", "link_name"]

    merged = run("merge", "make_slug", "link_name")
    assert merged.stderr.splitlines()[-1] == (
        "link_name is merged into make_slug; `selfeng health undo link_name` takes it back."
    )
    kinds = [finding["kind"] for finding in json.loads(run("--json").stdout)["findings"]]
    assert "twins" not in kinds
    assert run("undo", "link_name").stderr.splitlines()[-1] == "link_name is provisional."
    refused = run("undo", "link_name")
    assert (refused.exit_code, refused.stderr) == (
        1, "error: link_name is merged into no tool\n`selfeng tools` shows which are\n",
    )  # fmt: skip
