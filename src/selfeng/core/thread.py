"""A thread: what one agent has been told by one sender in a conversation, and what it did about
it.
"""

from selfeng.core.prompt import ChatMessage
from selfeng.core.value import Value


class AgentThread(Value):
    """An instance of an agent, as its conversation with one sender."""

    id: str
    conversation_id: str
    sender: str
    """`user` or the name of an agent."""
    agent: str
    """Its kind."""
    messages: tuple[ChatMessage, ...] = ()
    """Oldest first, the system prompt before all; none in a new thread."""
