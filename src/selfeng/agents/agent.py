"""Agents: one gets a message, works on it, and replies once, when the work is done, has failed, or
needs an answer. The person sends the first message, and agents send others to each other.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, Protocol

from pydantic import ValidationError

from selfeng.agents.agent_workspace import AgentWorkspace
from selfeng.core.errors import (
    AgentError,
    BudgetExceeded,
    ModelError,
    NotConsented,
    RequestError,
    SandboxError,
    stage,
)
from selfeng.core.events import DelegationChanged, Event, FilesMade
from selfeng.core.lesson import AgentKind
from selfeng.core.prompt import AgentThread, ChatMessage, FunctionSchema, Prompt
from selfeng.core.protocols import ModelClient, Sandbox
from selfeng.core.question import Question, questions_text
from selfeng.core.stage_event import StageEvent
from selfeng.core.turn import Turn
from selfeng.core.value import Coded, Value, first_problem
from selfeng.core.words import count, shortened
from selfeng.prompts import render
from selfeng.prompts.agent_thread import Recipient, called, recipients, result, within_limits
from selfeng.prompts.request import described, lessons_shown

USER = "user"
DEEPEST = 4
"""The longest chain of messages from the person to the working agent."""
MOST_MESSAGES = 20
"""Messages of one turn."""
_SHOWN = 2_000
"""Characters of a message in an event."""


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


class ThreadStore(Protocol):
    async def open(self, conversation_id: str, sender: str, agent: str) -> AgentThread: ...

    async def append(self, thread: AgentThread, exchange: tuple[ChatMessage, ...]) -> None: ...


@dataclass
class _Exchanges:
    conversation_id: str
    workspace: AgentWorkspace
    threads: dict[tuple[str, str], AgentThread] = field(default_factory=dict)
    count: int = 0


@dataclass(frozen=True)
class _Sender:
    """The sender of a message, and the work it is sent from."""

    name: str
    turn: Turn
    """The turn whose events belong to the sender's work."""
    exchanges: _Exchanges
    path: tuple[tuple[str, str], ...] = ()
    """Sender and recipient of every message that waits for this work, the person's first."""


class Delegation:
    """The agents of an engine. A pair has one thread in a conversation, which continues from turn
    to turn if there is a store.
    """

    def __init__(
        self, sandbox: Sandbox, agents: Sequence[TurnAgent] = (), store: ThreadStore | None = None
    ) -> None:
        """Without a `store`, threads last as long as their turn."""
        self._sandbox, self._store = sandbox, store
        self._agents = {agent.name: agent for agent in agents}

    async def hand_over(self, turn: Turn, recipient: str, message: str) -> AgentReply:
        """Send an agent the person's message.

        Raises:
            RequestError: there is no such agent.
            ModelError, SandboxError, BudgetExceeded: the model or the sandbox is unavailable, or
                the budget is used up.
            NotConsented: the person has to be asked first.
        """
        exchanges = _Exchanges(
            turn.request.conversation_id, await AgentWorkspace.of(turn.request, self._sandbox)
        )
        return await self._send(_Sender(USER, turn, exchanges), recipient, message)

    async def _send(self, sender: _Sender, recipient: str, message: str) -> AgentReply:
        """Raises: RequestError: the message can't be sent, which the sender reads; and what
        `hand_over` raises.
        """
        self._check(sender, recipient)
        sender.exchanges.count += 1
        thread, emit, started = (
            await self._thread(sender, recipient),
            sender.turn.emit,
            time.monotonic(),
        )
        change = DelegationChanged(
            id=str(sender.exchanges.count),
            sender=sender.name,
            recipient=recipient,
            thread=thread.id,
            state="started",
            text=shortened(message, _SHOWN),
        )
        emit(change)

        def end(state: str, text: str) -> None:
            update = {
                "state": state,
                "text": shortened(text, _SHOWN),
                "seconds": time.monotonic() - started,
            }
            emit(change.model_copy(update=update))

        try:
            reply = await self._replied(sender, thread, change.id, message)
        except AgentError as error:
            end("failed", error.message)
            raise
        end("failed" if reply.outcome == "failed" else "finished", str(reply))
        return reply

    def _check(self, sender: _Sender, recipient: str) -> None:
        if recipient not in self._agents or recipient == sender.name:
            valid = ", ".join(name for name in self._agents if name != sender.name)
            raise RequestError(
                f"unknown agent {recipient[:40]!r}",
                f"valid recipients: {valid}",
            )
        if (sender.name, recipient) in sender.path:
            raise RequestError(
                f"{recipient} is waiting for the result of an earlier message",
                "do your part, and exit with the result",
            )
        if len(sender.path) == DEEPEST:
            raise RequestError(
                f"the message would be the {DEEPEST + 1}th on the way from the person",
                "do it yourself, or exit",
            )
        if sender.exchanges.count == MOST_MESSAGES:
            raise RequestError(
                f"the turn has sent its {MOST_MESSAGES} messages",
                "continue with what is known, or exit",
            )

    async def _thread(self, sender: _Sender, recipient: str) -> AgentThread:
        pair, exchanges = (sender.name, recipient), sender.exchanges
        if pair not in exchanges.threads:
            thread = AgentThread(
                id="",
                conversation_id=exchanges.conversation_id,
                sender=sender.name,
                agent=recipient,
            )
            if self._store and exchanges.conversation_id:
                thread = await self._store.open(exchanges.conversation_id, sender.name, recipient)
            exchanges.threads[pair] = thread
        return exchanges.threads[pair]

    async def _replied(
        self, sender: _Sender, thread: AgentThread, key: str, message: str
    ) -> AgentReply:
        workspace, recipient = sender.exchanges.workspace, thread.agent
        turn = _within(sender.turn, key, workspace)
        itself = _Sender(
            recipient, turn, sender.exchanges, (*sender.path, (sender.name, recipient))
        )
        recipients = tuple(
            Recipient(name=a.name, description=a.description)
            for a in self._agents.values()
            if a.name != recipient
        )
        task = Task(
            turn,
            sender.name,
            message,
            list(thread.messages),
            workspace,
            recipients,
            partial(self._send, itself),
        )
        reply = await self._work(self._agents[recipient], task)
        await self._keep(sender.exchanges, thread, task.thread)
        return reply

    @staticmethod
    async def _work(agent: TurnAgent, task: Task) -> AgentReply:
        """A failure of the agent is a reply, too; a broken model, sandbox or budget is not, nor is
        what the person can be asked before all is done again.
        """
        try:
            with stage(agent.name):
                return await agent.work(task)
        except (ModelError, BudgetExceeded, SandboxError):
            raise
        except AgentError as error:
            if isinstance(error, NotConsented) and error.asks and not task.turn.sent:
                raise
            reply = AgentReply(
                outcome="failed", text=". ".join(filter(None, (error.message, error.remedy)))
            )
            task.thread.append(ChatMessage(role="assistant", content=reply.text))
            return reply

    async def _keep(
        self, exchanges: _Exchanges, thread: AgentThread, messages: Sequence[ChatMessage]
    ) -> None:
        """Store a finished exchange; an unfinished one leaves nothing behind."""
        exchange = tuple(messages[len(thread.messages) :])
        exchanges.threads[thread.sender, thread.agent] = thread.model_copy(
            update={"messages": tuple(messages)}
        )
        if self._store and thread.conversation_id and exchange:
            await self._store.append(thread, exchange)


def _within(turn: Turn, key: str, workspace: AgentWorkspace) -> Turn:
    """The turn as seen from a delegation: its events have the delegation's id, and files that are
    made reach the workspace.
    """

    def emit(event: Event) -> object:
        assert isinstance(event, StageEvent), event
        if isinstance(event, FilesMade):
            workspace.put(event.contents)
        return turn.emit(event if event.within else event.model_copy(update={"within": key}))

    return turn.part(turn.request, emit)
