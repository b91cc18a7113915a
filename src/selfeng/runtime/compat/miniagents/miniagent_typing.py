"""Types."""

from selfeng.runtime import MessageType
from selfeng.runtime.agent import Body as AgentFunction
from selfeng.runtime.message import TokenStreamer as MessageTokenStreamer
from selfeng.runtime.miniagents import PersistMessageHandler as PersistMessageEventHandler
from selfeng.runtime.miniagents import PersistMessagesHandler as PersistMessagesEventHandler

__all__ = ["AgentFunction", "MessageTokenStreamer", "MessageType", "PersistMessageEventHandler", "PersistMessagesEventHandler"]
