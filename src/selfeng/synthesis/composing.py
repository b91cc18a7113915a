"""Composing: the alternatives to one tool per request, the library tools that may be imported, and
the versions that a new tool is pinned to.
"""

import ast
import re
from collections.abc import Container, Iterable, Sequence

from selfeng.core.composition import NEAR, Importable, lines
from selfeng.core.errors import SynthesisFailed
from selfeng.core.plan import PlannedStep, SavedPlan, plan_problem
from selfeng.core.protocols import ToolLibrary
from selfeng.core.question import ROUNDS, Question, questions_problem
from selfeng.core.spec import Specification
from selfeng.core.tool import Requirement, Tool
from selfeng.core.turn import AgentPart, PlanPart, Request
from selfeng.core.words import shortened

MOST = 4
"""Number of tools offered because they are near the specification."""
LONGEST_SOURCE = 6000
"""Characters of a tool's code, and of its tests, that are shown."""
_CONTRACT = 200
"""Characters of the code, docstring or names of tests of a tool that is near."""
_TEST = re.compile(r"^def test_(\w+)", re.MULTILINE)


async def offered(library: ToolLibrary, request: Request, spec: Specification) -> str:
    """The tools of a plan that is kept, and those near the specification, one per line; "" if there
    are none.
    """
    tools = {step.tool: await library.get(step.tool) for step in request.saved_steps}
    for candidate in await library.search(spec.description, MOST):
        if candidate.similarity >= NEAR:
            tools.setdefault(candidate.tool.name, candidate.tool)
    return lines(
        tool for tool in tools.values() if tool.standing != "retired" and tool.name != spec.name
    )


def sources_of(tools: Iterable[Tool]) -> str:
    """Tools with description, code and tests, each shortened; "" if there are none."""
    return "\n\n".join(
        f"# {tool.name}, version {tool.version}: {tool.description}\n"
        f"{shortened(tool.code, LONGEST_SOURCE)}\n# its tests:\n"
        f"{shortened(tool.tests, LONGEST_SOURCE)}"
        for tool in tools
    )


def nearest(tools: Iterable[Tool], likely: Container[str]) -> str:
    """One line for each tool, and for the `likely` names also its code if that is short, what else
    its docstring says, or the names of its tests.
    """
    return "\n".join(
        f"{tool.signature}: {tool.description}" + (_contract(tool) if tool.name in likely else "")
        for tool in tools
    )


def _contract(tool: Tool) -> str:
    if len(tool.code) <= _CONTRACT:
        return f"\n{tool.code.strip()}"
    module = ast.parse(tool.code)
    functions = [n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == tool.name]
    documented = " ".join(ast.get_docstring(f) or "" for f in functions).partition("\n")[2]
    tests = f"Tests: {', '.join(_TEST.findall(tool.tests))}".replace("_", " ")
    return f"\n  {' '.join(documented.split())[:_CONTRACT] or tests[:_CONTRACT]}"


def steps_problem(request: Request, steps: Sequence[PlannedStep]) -> str:
    """Why the request can't be split into these steps, in words that the model can act on; "" if it
    can.
    """
    if isinstance(request.kind, PlanPart):
        return (
            "this is a step of a plan already, and can't be a plan itself; specify one tool for it"
        )
    if isinstance(request.kind, AgentPart):
        return "an agent has asked for this as one operation; specify one tool for it"
    if isinstance(request.kind, SavedPlan):
        return "one tool is wanted for all of the plan; specify it"
    return plan_problem(steps)


def asking_problem(request: Request, questions: Sequence[Question]) -> str:
    """Why the person can't be asked this; "" if they can."""
    if request.rounds >= ROUNDS:
        return (
            f"the person was asked {ROUNDS} times already; continue with what is known, and "
            "make the most likely assumption for the rest"
        )
    return questions_problem(questions)


async def steady_requirements(
    library: ToolLibrary, before: Importable, code: str
) -> tuple[Requirement, ...]:
    """The versions that the code is pinned to, from the tools as they were `before` it was
    verified.

    Raises:
        SynthesisFailed: they have changed since, so it is unknown which versions it was verified
            with.
    """
    requires = before.requires(code)
    if requires and requires != Importable(await library.tools()).requires(code):
        names = ", ".join(pin.name for pin in requires)
        raise SynthesisFailed(
            f"the tools that it imports ({names}) have changed meanwhile",
            "ask again",
            where="register",
        )
    return requires
