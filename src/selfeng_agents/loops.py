"""Chains and loops of agents, in which each gets the replies of the one before."""

from collections.abc import Callable, Iterable

from selfeng_agents.mini_agent import MiniAgent, MiniAgents
from selfeng_agents.promising_context import PromisingContext
from selfeng_agents.promising_errors import EndOfLoop
from selfeng_agents.sentinels import AWAIT, Sentinel
from selfeng_agents.sequence import MessageSequencePromise, MessageType

Link = MiniAgent | Callable[[MessageType | None], MessageType | None] | Sentinel | None
"""An agent, a function of messages, AWAIT, CLEAR, or None, which is skipped."""


async def achain(agents: Iterable[Link], messages: MessageType | None = None) -> MessageType | None:
    """Send the messages to the first agent, its replies to the second, and so on; returns the last
    agent's replies.

    The agents run at the same time, as far as possible; AWAIT waits for all replies before it, and
    CLEAR drops them.
    """
    for agent in agents:
        match agent:
            case None:
                continue
            case Sentinel.AWAIT:
                messages = (
                    await messages if isinstance(messages, MessageSequencePromise) else messages
                )
            case Sentinel.CLEAR:
                messages = None
            case MiniAgent():
                messages = agent.inquire(messages)
            case _ if callable(agent):
                messages = agent(messages)
            case _:
                raise ValueError(f"A chain has agents, AWAIT, CLEAR and None, not {agent!r}.")
    return messages


async def achain_loop(
    agents: Iterable[Link], initial_input: MessageType | None = None
) -> MessageType | None:
    """Chain the agents repeatedly, the first after the last, until one raises EndOfLoop; returns
    what the last round began with. Outside of a context, the loop runs in one of its own.

    Any other error of an agent ends the loop too, and is raised.

    Raises:
        ValueError: there is no AWAIT or no agent, so the loop would promise rounds without ever
            running one.
    """
    links = list(agents)
    if AWAIT not in links or not any(
        callable(link) or isinstance(link, MiniAgent) for link in links
    ):
        raise ValueError(
            "A loop needs an agent and an AWAIT: without it, rounds would be promised without end "
            "and none would run."
        )
    if PromisingContext.find_current() is None:
        return await MiniAgents().arun(achain_loop(links, initial_input))
    messages = initial_input
    while True:
        try:
            messages = await achain(links, messages)
        except EndOfLoop:
            return messages


async def adialog_loop(user_agent: Link, assistant_agent: Link) -> MessageType | None:
    """A loop of a person's agent and an assistant; it also ends when the person interrupts the
    program.
    """
    try:
        return await achain_loop([user_agent, AWAIT, assistant_agent])
    except KeyboardInterrupt:
        return None
