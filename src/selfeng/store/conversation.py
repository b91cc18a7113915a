"""What is told of a conversation without its events."""

from datetime import datetime

from selfeng.core.value import Value


class ConversationSummary(Value):
    """One line in the list of somebody's conversations."""

    id: str
    title: str
    created_at: datetime
    """UTC."""
