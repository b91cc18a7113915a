"""Anthropic's models."""

from selfeng.runtime.compat.agents import create_anthropic_agent
from selfeng.runtime.models import AnthropicMessage, anthropic_agent

AnthropicAgent = anthropic_agent

__all__ = ["AnthropicAgent", "AnthropicMessage", "anthropic_agent", "create_anthropic_agent"]
