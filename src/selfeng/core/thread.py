"""A thread: what one sender told one agent in a conversation, and what the agent did about it."""

from selfeng.core.prompt import ChatMessage
from selfeng.core.value import Value


class AgentThread(Value):
    """The conversation of an agent with one sender."""

    id: str
    conversation_id: str
    sender: str
    """`user` or the name of an agent."""
    agent: str
    """Its kind."""
    messages: tuple[ChatMessage, ...] = ()
    """Oldest first, beginning with the system prompt; empty in a new thread."""
