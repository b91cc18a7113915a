"""The agent runtime: promises, replayable streams, immutable messages, and agents as functions. See
docs/runtime.md.
"""

from selfeng_agents.error_message import ErrorMessage
from selfeng_agents.frozen import Frozen
from selfeng_agents.history import ChatHistory, ChatHistoryMD, InMemoryChatHistory
from selfeng_agents.interaction import AgentCall, InteractionContext
from selfeng_agents.loops import achain, achain_loop, adialog_loop
from selfeng_agents.message import Message, MessagePromise, MessageTokenAppender, StrictMessage
from selfeng_agents.message_text import join_messages, split_messages
from selfeng_agents.mini_agent import (
    AgentCallNode,
    AgentInteractionNode,
    AgentReplyNode,
    MiniAgent,
    MiniAgents,
    miniagent,
)
from selfeng_agents.promise import Promise, StreamedPromise
from selfeng_agents.promising_context import PromisingContext
from selfeng_agents.promising_errors import EndOfLoop
from selfeng_agents.sentinels import AWAIT, CLEAR, DEFAULT, NO_VALUE
from selfeng_agents.sequence import MessageSequence, MessageSequencePromise, MessageType
from selfeng_agents.streams import StreamAppender

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
