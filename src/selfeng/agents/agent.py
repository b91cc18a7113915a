"""An agent: it gets a message, works on it, and replies once, when the work is done, has failed, or
needs an answer.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

from pydantic import ValidationError

from selfeng.agents.agent_workspace import AgentWorkspace
from selfeng.core.lesson import AgentKind
from selfeng.core.prompt import ChatMessage, FunctionSchema, Prompt
from selfeng.core.protocols import ModelClient
from selfeng.core.question import Question, questions_text
from selfeng.core.turn import Turn
from selfeng.core.value import Coded, Value, first_problem
from selfeng.core.words import count
from selfeng.prompts import render
from selfeng.prompts.agent_thread import Recipient, called, recipients, result, within_limits
from selfeng.prompts.request import described, lessons_shown


class AgentReply(Coded):
    """The reply to a message."""

    outcome: Literal["done", "failed", "asks"]
    text: str
    """The result, why it failed, or the introduction to the questions; Markdown."""
    questions: tuple[Question, ...] = ()
    """outcome `asks`: what only the person knows."""
    agent: str = ""
    """The agent that replied to the person and continues with their answers; "" in a reply to
    another agent.
    """

    def __str__(self) -> str:
        return questions_text(self.questions, self.text) if self.questions else self.text


@dataclass
class Task:
    """A message for an agent to work on."""

    turn: Turn
    """The turn whose events belong to this work alone."""
    sender: str
    """`user` or the name of an agent."""
    message: str
    thread: list[ChatMessage]
    """The messages of the two so far, oldest first; the agent adds the new message and its own
    calls.
    """
    workspace: AgentWorkspace
    recipients: tuple[Recipient, ...]
    """The agents that it can send messages to."""
    send: Callable[[str, str], Awaitable[AgentReply]]
    """Sends a message to a recipient; returns the reply. Raises: RequestError: there is no such
    recipient, or it can't be asked now.
    """


class TurnAgent(Protocol):
    """Works on messages; any number of them at once."""

    @property
    def name(self) -> str: ...

    @property
    def description(self) -> str:
        """One sentence for agents that may send it messages."""

    async def work(self, task: Task) -> AgentReply:
        """Raises: AgentError: model, sandbox or budget are unavailable, or there is no result."""


Outcome = AgentReply | Mapping[str, Any]
"""The outcome of a call: the end of the work, or plain JSON data for the model to continue with."""


class FunctionArguments(Value):
    """Arguments of a function of agents; the docstring is the function's description."""

    function: ClassVar[str]


@dataclass(frozen=True)
class Function:
    """Something an agent can do: a function that its model calls with typed arguments."""

    arguments: type[FunctionArguments]
    perform: Callable[[Any], Awaitable[Outcome]]

    @property
    def name(self) -> str:
        return self.arguments.function

    @property
    def schema(self) -> FunctionSchema:
        parameters = self.arguments.model_json_schema()
        description = parameters.pop("description", "")
        return FunctionSchema(name=self.name, description=description, parameters=parameters)

    async def call(self, arguments: Mapping[str, Any]) -> Outcome:
        """Wrong arguments come back as an error that names them; they are never evaluated."""
        try:
            call_arguments = self.arguments.model_validate(arguments)
        except ValidationError as error:
            return {"error": first_problem(error, self.name), "remedy": "call it again"}
        return await self.perform(call_arguments)


class FunctionCallingAgent:
    """An agent on a model that calls functions one after the other, until one of them ends the
    work.
    """

    def __init__(
        self,
        name: AgentKind,
        description: str,
        model: ModelClient,
        functions: Callable[[Task], Sequence[Function]],
        most_steps: int,
    ) -> None:
        """`functions` are created for each message. The prompt has the agent's name."""
        self.name, self.description = name, description
        self._model, self._functions, self._most_steps = model, functions, most_steps

    async def work(self, task: Task) -> AgentReply:
        turn, thread = task.turn, task.thread
        thread += (await self._opening(task))[
            bool(thread) :
        ]  # a continued thread has its system prompt
        functions = {function.name: function for function in self._functions(task)}
        schemas = [function.schema for function in functions.values()]
        for _ in range(self._most_steps):
            call = await self._model.choose(
                Prompt(name=self.name, messages=within_limits(thread), streamed=True),
                schemas,
                turn.budget,
            )
            thread.append(ChatMessage(role="assistant", content=called(call)))
            outcome = await functions[call.name].call(call.arguments)
            if isinstance(outcome, AgentReply):
                return outcome
            thread.append(ChatMessage(role="user", content=result(call.name, outcome)))
        reply = AgentReply(
            outcome="failed",
            text=f"The {self.name} did not finish within {count(self._most_steps, 'step')}.",
        )
        thread.append(ChatMessage(role="assistant", content=reply.text))
        return reply

    async def _opening(self, task: Task) -> tuple[ChatMessage, ...]:
        """The system prompt, and the message with the relevant lessons."""
        lessons = lessons_shown(await task.turn.lessons(self.name, task.message))
        await task.turn.profile(task.workspace.files)
        variables = {
            "sender": task.sender,
            "message": task.message,
            "files": described(task.workspace.files, task.turn.request.profiles),
            "lessons": lessons,
        }
        return render(self.name, recipients=recipients(task.recipients), **variables).messages
