"""The functions that every agent has: to send a message, to ask the person, and to end; and the
user proxy, which has no others.
"""

from typing import Literal

from pydantic import Field

from selfeng.agents.agent import (
    AgentReply,
    Function,
    FunctionArguments,
    FunctionCallingAgent,
    Outcome,
    Task,
)
from selfeng.core.errors import RequestError
from selfeng.core.protocols import ModelClient
from selfeng.core.question import Question, questions_problem

_MOST_STEPS = 12
"""Calls of the proxy for one message."""


class SendMessage(FunctionArguments):
    """Send another agent a message and wait for its reply. The two of you keep one thread, so say
    only what is new.
    """

    function = "SendMessage"
    recipient: str = Field(description="Name of the agent.")
    message: str = Field(
        description="What it is to do, with everything that it needs to know.", min_length=1
    )


class AskPerson(FunctionArguments):
    """End for now and ask the person up to three questions, of which the work can't do without the
    answers.
    """

    function = "ask_person"
    intro: str = Field(description="One sentence: what the answers are for.")
    questions: tuple[Question, ...]


class Exit(FunctionArguments):
    """End the work."""

    function = "exit"
    outcome: Literal["done", "failed"]
    result: str = Field(
        description="The result, or why it failed, in Markdown for whoever sent the message.",
        min_length=1,
    )


def common(task: Task) -> tuple[Function, ...]:
    """The functions for one message; to send or ask only if there is a recipient."""

    async def send(call: SendMessage) -> Outcome:
        try:
            reply = await task.send(call.recipient, call.message)
        except RequestError as error:
            return {"error": error.message, "remedy": error.remedy}
        return {"from": call.recipient, **reply.model_dump(exclude_defaults=True)}

    async def ask(call: AskPerson) -> Outcome:
        if problem := questions_problem(call.questions):
            return {"error": problem, "remedy": "call it again"}
        return AgentReply(outcome="asks", text=call.intro, questions=call.questions)

    async def end(call: Exit) -> Outcome:
        return AgentReply(outcome=call.outcome, text=call.result)

    sending = (Function(SendMessage, send),) if task.recipients else ()
    return (*sending, Function(AskPerson, ask), Function(Exit, end))


def proxy(model: ModelClient) -> FunctionCallingAgent:
    """The front agent of a conversation: it relays messages, and answers only when the work is
    done, failed or needs an answer.
    """
    does = "Speaks for the person, and knows what they asked for."
    return FunctionCallingAgent("proxy", does, model, common, _MOST_STEPS)
