"""What models have in common."""

from selfeng.runtime.compat.agents import message_to_llm_dict
from selfeng.runtime.models import AssistantMessage, ChatMessage, SystemMessage, UserMessage

LLMMessage = ChatMessage

__all__ = ["AssistantMessage", "ChatMessage", "LLMMessage", "SystemMessage", "UserMessage", "message_to_llm_dict"]
