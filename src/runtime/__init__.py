"""The agent runtime: promises, replayable streams, immutable messages, and agents as functions. See docs/runtime.md."""

from src.runtime.agent import AgentCallNode, AgentInteractionNode, AgentReplyNode, MiniAgent, miniagent
from src.runtime.context import PromisingContext
from src.runtime.error_message import ErrorMessage
from src.runtime.errors import EndOfLoop
from src.runtime.frozen import Frozen
from src.runtime.history import ChatHistory, ChatHistoryMD, InMemoryChatHistory
from src.runtime.interaction import AgentCall, InteractionContext
from src.runtime.loops import achain, achain_loop, adialog_loop
from src.runtime.message import Message, MessagePromise, MessageTokenAppender, StrictMessage
from src.runtime.miniagents import MiniAgents
from src.runtime.promise import Promise, StreamedPromise
from src.runtime.sentinels import AWAIT, CLEAR, DEFAULT, NO_VALUE
from src.runtime.sequence import MessageSequence, MessageSequencePromise, MessageType
from src.runtime.stream import StreamAppender
from src.runtime.text import join_messages, split_messages

__all__ = [
    "AWAIT",
    "CLEAR",
    "DEFAULT",
    "NO_VALUE",
    "AgentCall",
    "AgentCallNode",
    "AgentInteractionNode",
    "AgentReplyNode",
    "ChatHistory",
    "ChatHistoryMD",
    "EndOfLoop",
    "ErrorMessage",
    "Frozen",
    "InMemoryChatHistory",
    "InteractionContext",
    "Message",
    "MessagePromise",
    "MessageSequence",
    "MessageSequencePromise",
    "MessageTokenAppender",
    "MessageType",
    "MiniAgent",
    "MiniAgents",
    "Promise",
    "PromisingContext",
    "StreamAppender",
    "StreamedPromise",
    "StrictMessage",
    "achain",
    "achain_loop",
    "adialog_loop",
    "join_messages",
    "miniagent",
    "split_messages",
]
