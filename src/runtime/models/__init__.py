"""Chat models as agents."""

from src.runtime.models.anthropic import AnthropicMessage, anthropic_agent
from src.runtime.models.chat import AssistantMessage, ChatMessage, SystemMessage, ToolCall, ToolMessage, UserMessage
from src.runtime.models.openai import OpenAIMessage, openai_agent

__all__ = [
    "AnthropicMessage",
    "AssistantMessage",
    "ChatMessage",
    "OpenAIMessage",
    "SystemMessage",
    "ToolCall",
    "ToolMessage",
    "UserMessage",
    "anthropic_agent",
    "openai_agent",
]
