"""The agent runtime: promises, replayable streams, immutable messages, and agents as functions. See
docs/runtime.md.
"""

from selfeng.runtime.error_message import ErrorMessage
from selfeng.runtime.frozen import Frozen
from selfeng.runtime.history import ChatHistory, ChatHistoryMD, InMemoryChatHistory
from selfeng.runtime.interaction import AgentCall, InteractionContext
from selfeng.runtime.loops import achain, achain_loop, adialog_loop
from selfeng.runtime.message import Message, MessagePromise, MessageTokenAppender, StrictMessage
from selfeng.runtime.message_text import join_messages, split_messages
from selfeng.runtime.mini_agent import (
    AgentCallNode,
    AgentInteractionNode,
    AgentReplyNode,
    MiniAgent,
    MiniAgents,
    miniagent,
)
from selfeng.runtime.promise import Promise, StreamedPromise
from selfeng.runtime.promising_context import PromisingContext
from selfeng.runtime.promising_errors import EndOfLoop
from selfeng.runtime.sentinels import AWAIT, CLEAR, DEFAULT, NO_VALUE
from selfeng.runtime.sequence import MessageSequence, MessageSequencePromise, MessageType
from selfeng.runtime.streams import StreamAppender

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
