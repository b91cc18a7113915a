"""Chat models as agents."""

from selfeng.runtime.models.anthropic_agent import AnthropicMessage, anthropic_agent
from selfeng.runtime.models.chat_messages import (
    AssistantMessage,
    RoleMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from selfeng.runtime.models.openai_agent import (
    OpenAIMessage,
    openai_agent,
    openai_embedding_agent,
)

__all__ = [
    "AnthropicMessage",
    "AssistantMessage",
    "OpenAIMessage",
    "RoleMessage",
    "SystemMessage",
    "ToolCall",
    "ToolMessage",
    "UserMessage",
    "anthropic_agent",
    "openai_agent",
    "openai_embedding_agent",
]
