"""kill -9 at any point of a synthesis leaves the whole tool or nothing, and no container."""

import asyncio
import signal
from contextlib import aclosing

import docker
import pytest

from selfeng.bootstrap import build_engine
from selfeng.core.settings import load_settings
from selfeng.sandboxes.docker_engine import OWNER
from tests.home import Home, events

pytestmark = [pytest.mark.docker, pytest.mark.bubblewrap, pytest.mark.extended]

POINTS = [
    pytest.param("test_finished", "implementation", marks=pytest.mark.everywhere),
    pytest.param("searching", None, marks=pytest.mark.everywhere),
    pytest.param("synthesis_step", "test", marks=pytest.mark.everywhere),
    pytest.param("test_finished", "stub", marks=pytest.mark.everywhere),
    ("synthesis_step", "register"),
    pytest.param("executing", None, marks=pytest.mark.everywhere),
    pytest.param("answer_token", None, marks=pytest.mark.everywhere),
]

WITH_CONTAINERS = {
    ("test_finished", "stub"),
    ("test_finished", "implementation"),
    ("synthesis_step", "register"),
}
"""Points at which containers are there that could stay; the others are tried on bubblewrap, which
takes half the time.
"""


@pytest.mark.parametrize(("kind", "detail"), POINTS)
def test_a_killed_synthesis_leaves_the_whole_tool_or_nothing(tmp_path, monkeypatch, kind, detail):
    home = Home(tmp_path / "home", bubblewrap=True)
    sandbox = "docker" if (kind, detail) in WITH_CONTAINERS else "bubblewrap"
    gate = {"SANDBOX": sandbox, "SYNTHESIS_CANDIDATES": "1"}
    process = home.start(
        "-m", "selfeng", "ask", "Reverse the string 'hello world'", "--json", **gate
    )
    for event in events(process):
        if event["type"] == kind and detail in (None, event.get("step"), event.get("against")):
            process.send_signal(signal.SIGKILL)
            break
    process.communicate()
    assert process.returncode == -signal.SIGKILL

    for name, value in home.environment(**gate).items():
        monkeypatch.setenv(name, value)
    for _ in range(
        3
    ):  # the engine may just then have been making a container that nobody waits for any more
        names = asyncio.run(library_after_restart())
        if not containers_of(process.pid):
            break
    assert sorted(p.name for p in home.tools.iterdir() if not p.name.startswith(".")) == [
        file for name in names for file in (f"{name}.py", f"test_{name}.py")
    ]
    if kind in ("executing", "answer_token"):
        assert names == ["reverse_string"]
    elif kind != "synthesis_step" or detail != "register":
        assert names == []
    assert containers_of(process.pid) == []


def containers_of(server: int) -> list[str]:
    """Short ids of the containers that a process started."""
    ours = docker.from_env().containers.list(
        all=True, ignore_removed=True, filters={"label": OWNER}
    )
    return [c.short_id for c in ours if f":{server}:" in c.labels[OWNER]]


async def library_after_restart() -> list[str]:
    async with aclosing(await build_engine(load_settings(None))) as engine:
        await engine.sandbox.reap()
        tools = await engine.library.tools()
        for tool in tools:
            assert await engine.library.get(tool.name) == tool
        return [tool.name for tool in tools]
