"""What models have in common."""

from src.runtime.compat.agents import message_to_llm_dict
from src.runtime.models import AssistantMessage, ChatMessage, SystemMessage, UserMessage

LLMMessage = ChatMessage

__all__ = ["AssistantMessage", "ChatMessage", "LLMMessage", "SystemMessage", "UserMessage", "message_to_llm_dict"]
