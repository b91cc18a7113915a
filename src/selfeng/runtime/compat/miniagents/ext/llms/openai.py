"""OpenAI's models."""

from selfeng.runtime.compat.agents import create_openai_agent
from selfeng.runtime.models import OpenAIMessage, openai_agent

OpenAIAgent = openai_agent

__all__ = ["OpenAIAgent", "OpenAIMessage", "create_openai_agent", "openai_agent"]
