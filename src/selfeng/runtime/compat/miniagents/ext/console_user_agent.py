"""The person at the console."""

from selfeng.runtime.console import console_user_agent, create_console_user_agent

__all__ = ["console_user_agent", "create_console_user_agent"]
