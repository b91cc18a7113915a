"""Models."""

from selfeng.runtime.compat.agents import message_to_llm_dict
from selfeng.runtime.models import (
    AnthropicMessage,
    AssistantMessage,
    ChatMessage,
    OpenAIMessage,
    SystemMessage,
    UserMessage,
    anthropic_agent,
    openai_agent,
)

AnthropicAgent = anthropic_agent
OpenAIAgent = openai_agent
LLMMessage = ChatMessage

__all__ = [
    "AnthropicAgent",
    "AnthropicMessage",
    "AssistantMessage",
    "LLMMessage",
    "OpenAIAgent",
    "OpenAIMessage",
    "SystemMessage",
    "UserMessage",
    "message_to_llm_dict",
]
