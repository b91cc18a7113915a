"""Consent: what a build asks the person for, through the terminal, a program or the page."""

from typing import Literal, Protocol

from src.core.project_events import ProjectActChosen

Decision = Literal["act", "act_on", "stop"]
"""Do it; do it and don't ask again; end the build."""


class Consent(Protocol):
    async def to_act(self, act: ProjectActChosen) -> Decision:
        """Step mode: whether to do what was chosen."""
        ...

    async def to_package(self, package: str, reasoning: str) -> bool:
        """Whether a package that the options allow may be installed for this project."""
        ...


class Given:
    """Consent to every step, and to no package."""

    async def to_act(self, act: ProjectActChosen) -> Decision:
        return "act"

    async def to_package(self, package: str, reasoning: str) -> bool:
        return False
