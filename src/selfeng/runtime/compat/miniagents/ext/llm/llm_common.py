"""What models have in common."""

from selfeng.runtime.compat.agents import message_to_llm_dict
from selfeng.runtime.models import AssistantMessage, SystemMessage, UserMessage

__all__ = ["AssistantMessage", "SystemMessage", "UserMessage", "message_to_llm_dict"]
