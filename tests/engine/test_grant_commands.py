"""The commands for grants: a call that lacks consent names the command that gives it."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from selfeng.bootstrap import build_engine
from selfeng.cli.app import app
from selfeng.core.http import NetworkAccess
from selfeng.core.package_lock import PackageLock
from selfeng.core.settings import load_settings
from selfeng.core.tool import ToolDraft
from selfeng.core.verdict import CallLimits
from tests.home import Home
from tests.registry.drafts import REVERSE

LOCK = PackageLock(
    requirements=("humanize>=4",), text=f"humanize==4.9.0 \\\n    --hash=sha256:{'0' * 64}\n"
)
HOSTS = tuple(NetworkAccess(host=f"{name}.example.org") for name in ("api", "other"))
DRAFT = REVERSE.model_copy(update={"network": HOSTS, "lock": LOCK})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    home = Home(tmp_path / "home", bubblewrap=True)
    for name, value in home.environment().items():
        monkeypatch.setenv(name, value)
    return home


def run(command: str) -> Result:
    return CliRunner().invoke(app, command.split()[1:])


async def add(draft: ToolDraft) -> None:
    async with aclosing(await build_engine(load_settings())) as engine:
        await engine.library.add(draft)


@pytest.mark.bubblewrap
@pytest.mark.parametrize(
    ("draft", "command"),
    [
        (
            DRAFT,
            "selfeng grants allow reverse_text api.example.org other.example.org humanize",
        ),
        (
            REVERSE.model_copy(update={"limits": CallLimits(seconds=600)}),
            "selfeng grants allow reverse_text limits",
        ),
    ],
    ids=["hosts and packages", "limits"],
)
def test_a_call_without_consent_names_the_command_that_allows_all_it_needs(
    home: Home, draft: ToolDraft, command: str
) -> None:
    asyncio.run(add(draft))
    refused = run("selfeng call reverse_text text=abc")
    assert (refused.exit_code, f"`{command}`" in refused.stderr) == (1, True), refused.stderr
    allowed = run(command).stdout.splitlines()
    assert allowed == [f"reverse_text may have {need}" for need in draft.needs]
    assert len(run("selfeng grants list").stdout.splitlines()) == len(draft.needs)
    if not draft.lock:
        assert run("selfeng call reverse_text text=abc").exit_code == 0
    assert run("selfeng grants revoke reverse_text").stdout.split()[1] in ("grant", "grants")
    assert f"`{command}`" in run("selfeng call reverse_text text=abc").stderr
