"""Composing: what a synthesis offers of the library for import, and what the new tool is pinned to."""

from src.core.composition import Importable
from src.core.errors import SynthesisFailed
from src.core.protocols import ToolLibrary
from src.core.spec import Specification
from src.core.tool import Requirement, Tool
from src.core.turn import Turn

MOST = 4
"""Tools that are offered because they are near."""
NEAR = 0.4
"""Cosine between a specification and a tool that may help with it."""


async def offered(library: ToolLibrary, turn: Turn, spec: Specification) -> str:
    """The tools of a plan that is kept, and those near the specification, a line each; "" if there are none."""
    tools = {step.tool: await library.get(step.tool) for step in turn.kept}
    for candidate in await library.search(spec.description, MOST):
        if candidate.similarity >= NEAR:
            tools.setdefault(candidate.tool.name, candidate.tool)
    return "\n".join(_line(tool) for tool in tools.values() if tool.standing != "retired" and tool.name != spec.name)


async def steady_requirements(library: ToolLibrary, before: Importable, code: str) -> tuple[Requirement, ...]:
    """What the code is pinned to, by the tools as they were `before` it was verified.

    Raises:
        SynthesisFailed: they have changed since, so nobody knows with which versions it was verified.
    """
    requires = before.requires(code)
    if requires != Importable(await library.tools()).requires(code):
        names = ", ".join(pin.name for pin in requires)
        raise SynthesisFailed(f"the tools that it imports ({names}) have changed meanwhile", "ask again", where="registration")
    return requires


def _line(tool: Tool) -> str:
    return f"from {tool.name} import {tool.name}  # {tool.signature}: {tool.description}"
