"""A prompt: the messages of one model call, with the name of their template."""

import hashlib
from typing import Any, Literal

from pydantic import Field

from selfeng.core.value import Value

PROMPT_NAME = "x-prompt-name"
"""Header in which a model call names its prompt. The offline model tells prompts apart by it; other
servers ignore it.
"""


class ChatMessage(Value):
    role: Literal["system", "user", "assistant"]
    content: str
    pictures: tuple[str, ...] = Field(default=(), exclude=True, repr=False)
    """Data URLs of the images that the model sees in addition to the text; never stored."""


class Prompt(Value):
    """The messages of one model call, oldest first."""

    name: str
    """Name of the template: `decide`, `specification`, `tests`, `implementation`, `repair`,
    `arguments`, `answer`, `results`.
    """
    messages: tuple[ChatMessage, ...]
    streamed: bool = False
    """Whether the reply may be long and is best gathered piece by piece: the time limit then holds
    between two pieces, and the budget while it comes.
    """

    def showing(self, pictures: tuple[str, ...]) -> "Prompt":
        """The prompt with pictures in its last message."""
        *before, last = self.messages
        newest = last.model_copy(update={"pictures": pictures})
        return self.model_copy(update={"messages": (*before, newest)})

    @property
    def digest(self) -> str:
        """sha256 of the messages' text."""
        return hashlib.sha256(
            "\0".join(message.model_dump_json() for message in self.messages).encode()
        ).hexdigest()


class AgentThread(Value):
    """The messages from one sender to one agent in a conversation, and the agent's actions."""

    id: str
    conversation_id: str
    sender: str
    """`user` or the name of an agent."""
    agent: str
    """Its kind."""
    messages: tuple[ChatMessage, ...] = ()
    """Oldest first, beginning with the system prompt; empty in a new thread."""


class FunctionSchema(Value):
    """A function that the model may call."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema of an object."""
    repeatable: bool = Field(default=False, exclude=True)
    """Whether one reply may call it several times; no part of what is sent."""


class FunctionCall(Value):
    """The function that the model chose."""

    name: str
    arguments: dict[str, Any]
    """Parsed JSON; not yet checked against the function's schema."""
    further: tuple[dict[str, Any], ...] = ()
    """The arguments of further calls of the same function, in the order of the reply."""
