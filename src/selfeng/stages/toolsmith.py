"""The toolsmith: the agent that serves a message with one tool of the library, and builds the tool
if there is none.
"""

from selfeng.agents import AgentReply, Task
from selfeng.core.prompt import ChatMessage
from selfeng.stages.stages import Stages


class Toolsmith:
    """Implements `TurnAgent` on the stages of a turn; its thread with a sender is the earlier
    conversation of a request.
    """

    name = "toolsmith"
    description = (
        "Computes one thing with a tested tool of the library, and builds the tool if "
        "there is none; it needs the values."
    )

    def __init__(self, stages: Stages) -> None:
        self._stages = stages

    async def work(self, task: Task) -> AgentReply:
        """Raises: AgentError: no tool serves the message, or one failed."""
        request = task.turn.request.part(
            task.message, task.workspace.files, history=tuple(task.thread), delegated=True
        )
        task.thread.append(ChatMessage(role="user", content=task.message))
        result, _ = await self._stages.serve_part(task.turn.part(request))
        task.thread.append(ChatMessage(role="assistant", content=result.text))
        return AgentReply(outcome="done", text=result.text)
