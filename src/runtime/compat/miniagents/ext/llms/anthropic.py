"""Anthropic's models."""

from src.runtime.compat.agents import create_anthropic_agent
from src.runtime.models import AnthropicMessage, anthropic_agent

AnthropicAgent = anthropic_agent

__all__ = ["AnthropicAgent", "AnthropicMessage", "anthropic_agent", "create_anthropic_agent"]
