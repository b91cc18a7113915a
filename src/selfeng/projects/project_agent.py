"""The builder: the agent that makes a project of several files, with the project builder."""

import asyncio
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

from selfeng.agents import AgentReply, Task
from selfeng.core.errors import (
    AgentError,
    BudgetExceeded,
    ModelError,
    SandboxError,
)
from selfeng.core.events import BudgetSpent, FilesMade
from selfeng.core.files import File
from selfeng.core.project_events import AnyProjectEvent, ProjectFailed, ProjectFinished
from selfeng.core.prompt import ChatMessage
from selfeng.durable.outcomes import done_once, name_of
from selfeng.projects.builder import ProjectBuilder
from selfeng.projects.options import ProjectOptions
from selfeng.projects.state import ProjectStore, back_up
from selfeng.store.retention import IN_NAME

NAME = "builder"
_OUT_OF_ORDER: dict[str, type[AgentError]] = {
    error.kind: error for error in (ModelError, SandboxError, BudgetExceeded)
}
_LONGEST_NAME = 30
_OF_CONVERSATION = re.compile(rf".*-[0-9a-f]{{{IN_NAME}}}")


def keep_projects(folder: Path, beginnings: Collection[str]) -> None:
    """Delete the projects in the folder, with their backups, but those of conversations whose ids
    begin so, with `IN_NAME` characters. Blocking.
    """
    store = ProjectStore(folder)
    for name in store.names():
        if _OF_CONVERSATION.fullmatch(name) and name[-IN_NAME:] not in beginnings:
            store.delete(name)


class ProjectAgent:
    """Implements `Agent`. A sender's thread in a conversation is about one project; its messages
    together are the goal.
    """

    name = NAME
    description = (
        "Builds a project of several Python files with tests, step by step; later "
        "messages change the same project."
    )

    def __init__(self, builder: ProjectBuilder, folder: Path) -> None:
        """Projects lie in the folder."""
        self._builder, self._folder = builder, folder

    async def work(self, task: Task) -> AgentReply:
        """Raises: ModelError, SandboxError: what ended the build, unless it was the work itself."""
        task.thread.append(ChatMessage(role="user", content=task.message))
        goals = [message.content for message in task.thread if message.role == "user"]
        options = self._options(task, goals)

        def emit(event: AnyProjectEvent | BudgetSpent) -> None:
            if not isinstance(
                event, BudgetSpent
            ):  # the turn's own budget, which is charged too, reports it
                task.turn.emit(event)

        last = await self._builder.build(options, emit, parent=task.turn.budget)
        match last:
            case ProjectFinished(summary=summary):
                name = options.project_name
                packed = await done_once(
                    name_of("project.packed", name),
                    lambda *_: asyncio.to_thread(self._packed, name),
                )
                task.turn.emit(
                    FilesMade(tool=NAME, files=(packed.reference(),), contents=(packed,))
                )
                reply = AgentReply(
                    outcome="done", text=f"{summary}\n\nThe project is in {packed.name}."
                )
            case ProjectFailed(kind="model" | "sandbox" | "budget" as kind, cause=cause):
                error = _OUT_OF_ORDER[kind]
                raise error(last.message, last.remedy, cause=cause, **dict[str, Any](last.values))
            case ProjectFailed():
                reply = AgentReply(
                    outcome="failed", text=". ".join(filter(None, (last.message, last.reached)))
                )
            case _:
                reply = AgentReply(outcome="failed", text=last.reason)
        task.thread.append(ChatMessage(role="assistant", content=reply.text))
        return reply

    def _options(self, task: Task, goals: list[str]) -> ProjectOptions:
        limits, words = (
            task.turn.budget.limits,
            re.sub(r"[^a-z0-9]+", "-", goals[0].lower()).strip("-"),
        )
        return ProjectOptions(
            project_name="-".join(
                filter(
                    None,
                    (
                        words[:_LONGEST_NAME].strip("-") or "project",
                        task.turn.request.conversation_id[:IN_NAME],
                    ),
                )
            ),
            project_dir=self._folder,
            goal="\n\n".join(goals),
            log_level="quiet",
            max_calls=limits.calls,
            max_tokens=limits.tokens,
            max_seconds=limits.seconds,
            max_cost=limits.cost,
        )

    def _packed(self, project: str) -> File:
        store = ProjectStore(self._folder)
        packed = back_up(store.workspace(project), store.backups(project))
        return File(name=f"{project}.zip", content=packed.read_bytes())
