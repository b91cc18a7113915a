"""Who a container belongs to, written on it as labels, so that what a dead server left behind can be removed."""

import time
from collections.abc import Mapping

from selfeng.core.process import is_running, this_process

SANDBOX = "self-engineering-agent.sandbox"
"""Marks every container of ours."""
OWNER = "self-engineering-agent.owner"
"""The server that made it, see `selfeng.core.process`."""
GROUP = "self-engineering-agent.group"
"""Which of its server's sandboxes made it."""
DEADLINE = "self-engineering-agent.deadline"
"""Unix time after which nobody can be waiting for it any more."""


def labels(lifetime: float, group: str = "") -> dict[str, str]:
    """Labels for a container that nobody needs in `lifetime` seconds."""
    return {SANDBOX: "1", GROUP: group, OWNER: this_process(), DEADLINE: str(int(time.time() + lifetime))}


def abandoned(found: Mapping[str, str]) -> bool:
    """Whether the container with these labels has lost its server, or is past its deadline.

    Where the owner can't be asked, as on another machine that shares the engine, its deadline decides.
    """
    try:
        late = time.time() > float(found.get(DEADLINE, "inf"))
    except ValueError:
        late = False
    return late or is_running(found.get(OWNER, "")) is False
