"""The builder among the agents, with a scripted build: what it is given, what it costs the turn,
and what becomes of its end.
"""

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest

from selfeng.agents import Delegation
from selfeng.core.errors import SandboxError
from selfeng.core.events import BudgetSpent, Event, FilesMade, Limits
from selfeng.core.project_events import ProjectFailed, ProjectFinished, ProjectStarted
from selfeng.core.stage_event import Usage
from selfeng.core.turn import Budget, Request, Turn
from selfeng.durable.doors import DurableThreads
from selfeng.projects.options import ProjectOptions
from selfeng.projects.project_agent import ProjectAgent, keep_projects
from selfeng.projects.state import ProjectState, ProjectStore
from selfeng.store.threads import Threads
from selfeng_agents import MiniAgents
from tests.agents.workshop import Hall
from tests.doubles import ScriptedSandbox

SPENT = {"steps": 1, "usage": Usage(calls=2), "seconds": 1.0}
DONE = ProjectFinished(project="p", summary="It sings.", **SPENT)


class ScriptedBuilder:
    """Two model calls and a file, then the scripted end."""

    def __init__(self, *ends: Any) -> None:
        self._ends = list(ends)
        self.options: list[ProjectOptions] = []

    async def build(self, options: ProjectOptions, emit: Any, *, parent: Budget) -> Any:
        self.options.append(options)
        emit(ProjectStarted(project="p", goal=options.goal, path="p", file_count=0, resumed=False))
        for calls in (1, 2):
            parent.charge(100, 10, None)
            usage = Usage(calls=calls, input_tokens=100 * calls, output_tokens=10 * calls)
            emit(BudgetSpent(usage=usage, limits=options.limits, seconds=1.0))
        folder = options.project_dir / options.project_name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "main.py").write_text("print(1)\n")
        return self._ends.pop(0)


class Site:
    """A builder among the agents, for one conversation."""

    def __init__(self, hall: Hall, folder: Any, *ends: Any) -> None:
        self.builder = ScriptedBuilder(*ends)
        self.agents = Delegation(
            ScriptedSandbox(),
            (ProjectAgent(self.builder, folder),),
            DurableThreads(Threads(hall.database)),
        )
        self.conversation = folder.name

    async def ask(self, message: str) -> tuple[Any, list[Event], Budget]:
        events: list[Event] = []
        budget = Budget(Limits(calls=9))
        turn = Turn(Request(message, conversation_id=self.conversation), events.append, budget)
        async with MiniAgents():
            return await self.agents.hand_over(turn, "builder", message), events, budget


async def test_a_project_is_built_on_the_turns_budget_and_handed_over_as_a_zip(hall, tmp_path):
    site = Site(hall, tmp_path, DONE, DONE)
    reply, events, budget = await site.ask("Sing a song!")
    name = f"sing-a-song-{tmp_path.name[:8]}"
    assert (reply.outcome, reply.text) == ("done", f"It sings.\n\nThe project is in {name}.zip.")
    assert budget.usage == Usage(calls=2, input_tokens=200, output_tokens=20)
    assert [(e.type, e.within) for e in events] == [
        ("delegation", ""),
        ("project_started", "1"),
        ("files_made", "1"),
        ("delegation", ""),
    ]
    (packed,) = next(e.contents for e in events if isinstance(e, FilesMade))
    assert zipfile.ZipFile(io.BytesIO(packed.content)).namelist() == ["main.py"]
    await site.ask("Louder.")
    first, second = site.builder.options
    assert (first.goal, first.max_calls, second.goal, second.project_name) == (
        "Sing a song!",
        9,
        "Sing a song!\n\nLouder.",
        name,
    )


async def test_a_build_that_fails_is_a_reply_and_one_that_something_broke_is_an_error(
    hall, tmp_path
):
    failed = {"message": "no goal", "remedy": "", "reached": "1 file", **SPENT}
    site = Site(
        hall,
        tmp_path,
        ProjectFailed(project="p", kind="task", **failed),
        ProjectFailed(project="p", kind="sandbox", **failed),
    )
    reply, _, _ = await site.ask("Sing")
    assert (reply.outcome, reply.text) == ("failed", "no goal. 1 file")
    with pytest.raises(SandboxError) as caught:
        await site.ask("Sing")
    assert (caught.value.message, caught.value.where) == ("no goal", "builder")


def test_projects_of_agents_go_with_their_conversation(tmp_path: Path) -> None:
    store = ProjectStore(tmp_path)
    for name in ("counter-0123abcd", "other-4567abcd", "by-hand"):
        store.save(name, ProjectState(goal="count"))
        store.workspace(name).write("main.py", b"")
    keep_projects(tmp_path, {"0123abcd"})
    assert store.names() == ("by-hand", "counter-0123abcd")
    assert {path.name for path in tmp_path.iterdir()} == {".builds", "by-hand", "counter-0123abcd"}
