"""Types."""

from src.runtime import MessageType
from src.runtime.agent import Body as AgentFunction
from src.runtime.message import TokenStreamer as MessageTokenStreamer
from src.runtime.miniagents import PersistMessageHandler as PersistMessageEventHandler
from src.runtime.miniagents import PersistMessagesHandler as PersistMessagesEventHandler

__all__ = ["AgentFunction", "MessageTokenStreamer", "MessageType", "PersistMessageEventHandler", "PersistMessagesEventHandler"]
