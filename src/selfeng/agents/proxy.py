"""The user proxy: the front agent of a conversation. It relays messages, and answers only when the
work is done, failed or needs an answer.
"""

from selfeng.agents.agent import FunctionCallingAgent
from selfeng.agents.agent_functions import common
from selfeng.core.protocols import ModelClient

MOST_STEPS = 12
"""Calls for one message."""


def proxy(model: ModelClient, most_steps: int = MOST_STEPS) -> FunctionCallingAgent:
    does = "Speaks for the person, and knows what they asked for."
    return FunctionCallingAgent("proxy", does, model, common, most_steps)
