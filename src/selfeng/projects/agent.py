"""The builder: the agent that makes a project of several files, on the project builder's loop."""

import asyncio
import re
from pathlib import Path

from selfeng.agents import AgentReply, Task
from selfeng.core.errors import AgentError, BudgetExceeded, ModelUnavailable, SandboxFailed
from selfeng.core.events import BudgetSpent, FilesMade
from selfeng.core.files import File
from selfeng.core.project_events import AnyProjectEvent, ProjectFailed, ProjectFinished
from selfeng.core.prompt import ChatMessage
from selfeng.core.stage_event import Usage
from selfeng.core.turn import Budget
from selfeng.projects.backup import back_up
from selfeng.projects.builder import ProjectBuilder
from selfeng.projects.options import ProjectOptions
from selfeng.projects.store import ProjectStore

NAME = "builder"
_OUT_OF_ORDER: dict[str, type[AgentError]] = {"model": ModelUnavailable, "sandbox": SandboxFailed, "budget": BudgetExceeded}
_LONGEST_NAME = 30


class ProjectAgent:
    """Implements `Agent`; a sender's thread in a conversation is about one project, whose goal its messages add up to."""

    name = NAME
    description = "Builds a project of several Python files with tests, step by step; later messages change the same project."

    def __init__(self, builder: ProjectBuilder, folder: Path) -> None:
        """Projects lie in the folder."""
        self._builder, self._folder = builder, folder

    async def work(self, task: Task) -> AgentReply:
        """Raises: ModelError, SandboxError: what the build ended for, if that was not the work itself."""
        task.thread.append(ChatMessage(role="user", content=task.message))
        goals = [message.content for message in task.thread if message.role == "user"]
        budget, options = task.turn.budget, self._options(task, goals)
        spent = Usage()

        def emit(event: AnyProjectEvent | BudgetSpent) -> None:
            nonlocal spent
            if isinstance(event, BudgetSpent):
                _charge(budget, spent, event.usage)
                spent = event.usage
            else:
                task.turn.emit(event)

        last = await self._builder.build(options, emit)
        match last:
            case ProjectFinished(summary=summary):
                packed = await asyncio.to_thread(self._packed, options.project_name)
                task.turn.emit(FilesMade(tool=NAME, files=(packed.reference(),), contents=(packed,)))
                reply = AgentReply(outcome="done", text=f"{summary}\n\nThe project is in {packed.name}.")
            case ProjectFailed(kind=kind) if kind in _OUT_OF_ORDER:
                raise _OUT_OF_ORDER[kind](last.message, last.remedy)
            case ProjectFailed():
                reply = AgentReply(outcome="failed", text=". ".join(filter(None, (last.message, last.reached))))
            case _:
                reply = AgentReply(outcome="failed", text=last.reason)
        task.thread.append(ChatMessage(role="assistant", content=reply.text))
        return reply

    def _options(self, task: Task, goals: list[str]) -> ProjectOptions:
        """What is left of the turn's budget is the build's."""
        budget, words = task.turn.budget, re.sub(r"[^a-z0-9]+", "-", goals[0].lower()).strip("-")
        limits, usage = budget.limits, budget.usage
        return ProjectOptions(
            project_name="-".join(filter(None, (words[:_LONGEST_NAME].strip("-") or "project", task.turn.request.conversation_id[:8]))),
            project_dir=self._folder,
            goal="\n\n".join(goals),
            log_level="quiet",
            max_calls=max(1, limits.calls - usage.calls),
            max_tokens=max(1, budget.tokens_left),
            max_seconds=max(0.1, budget.seconds_left),
            max_cost=None if limits.cost is None else max(0.0, limits.cost - (usage.cost or 0.0)),
        )

    def _packed(self, project: str) -> File:
        store = ProjectStore(self._folder)
        packed = back_up(store.workspace(project), store.backups(project))
        return File(name=f"{project}.zip", content=packed.read_bytes())


def _charge(budget: Budget, before: Usage, now: Usage) -> None:
    """Charge the turn with the call that lies between the two sums of a build."""
    cost = None if now.cost is None else now.cost - (before.cost or 0.0)
    budget.charge(now.input_tokens - before.input_tokens, now.output_tokens - before.output_tokens, cost)
