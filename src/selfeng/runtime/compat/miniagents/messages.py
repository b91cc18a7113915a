"""Messages and sequences of them."""

from selfeng.runtime import (
    ErrorMessage,
    Message,
    MessagePromise,
    MessageSequence,
    MessageSequencePromise,
    MessageTokenAppender,
    StrictMessage,
)
from selfeng.runtime.compat.values import TextMessage, TextToken, Token

__all__ = [
    "ErrorMessage",
    "Message",
    "MessagePromise",
    "MessageSequence",
    "MessageSequencePromise",
    "MessageTokenAppender",
    "StrictMessage",
    "TextMessage",
    "TextToken",
    "Token",
]
