"""Chat models as agents."""

from selfeng_agents.models.anthropic_agent import AnthropicMessage, anthropic_agent
from selfeng_agents.models.chat_messages import (
    AssistantMessage,
    RoleMessage,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from selfeng_agents.models.openai_agent import (
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
