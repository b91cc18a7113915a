"""Types."""

from src.runtime import MessageType
from src.runtime.agent import Body
from src.runtime.message import TokenStreamer
from src.runtime.miniagents import PersistMessageHandler, PersistMessagesHandler

__all__ = ["Body", "MessageType", "PersistMessageHandler", "PersistMessagesHandler", "TokenStreamer"]
