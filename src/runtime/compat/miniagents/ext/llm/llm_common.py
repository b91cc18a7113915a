"""What models have in common."""

from src.runtime.compat.agents import message_to_llm_dict
from src.runtime.models import AssistantMessage, SystemMessage, UserMessage

__all__ = ["AssistantMessage", "SystemMessage", "UserMessage", "message_to_llm_dict"]
