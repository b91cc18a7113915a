"""The toolsmith: the agent that serves a message with one tool of the library, and builds the tool where it lacks."""

from dataclasses import replace

from selfeng.agents import AgentReply, Task
from selfeng.core.prompt import ChatMessage
from selfeng.stages.plan_runner import PlanRunner


class Toolsmith:
    """Implements `Agent` on the stages of a turn; its thread with a sender is the conversation that a request goes on from."""

    name = "toolsmith"
    description = "Computes one thing with a tested tool of the library, and builds the tool if there is none; it needs the values."

    def __init__(self, plans: PlanRunner) -> None:
        self._plans = plans

    async def work(self, task: Task) -> AgentReply:
        """Raises: AgentError: no tool serves the message, or one failed."""
        files = task.workspace.files
        turn = replace(
            task.turn, request=task.message, history=tuple(task.thread), files=files, asked=[], agent="", answers=(), delegated=True
        )
        task.thread.append(ChatMessage(role="user", content=task.message))
        result, _ = await self._plans.result_of(turn)
        task.thread.append(ChatMessage(role="assistant", content=result.text))
        return AgentReply(outcome="done", text=result.text)
