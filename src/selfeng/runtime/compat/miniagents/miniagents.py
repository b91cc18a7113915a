"""Agents and their context."""

from selfeng.runtime import (
    AgentCall,
    AgentCallNode,
    AgentInteractionNode,
    AgentReplyNode,
    InteractionContext,
    Message,
    MessagePromise,
    MessageSequence,
    MessageSequencePromise,
    MessageType,
    MiniAgent,
    MiniAgents,
    miniagent,
)

__all__ = [
    "AgentCall",
    "AgentCallNode",
    "AgentInteractionNode",
    "AgentReplyNode",
    "InteractionContext",
    "Message",
    "MessagePromise",
    "MessageSequence",
    "MessageSequencePromise",
    "MessageType",
    "MiniAgent",
    "MiniAgents",
    "miniagent",
]
