"""Whether a tool of the library does what a specification asks for, told by running it: on the examples, or on the whole suite."""

import ast
from collections.abc import Sequence
from typing import Literal

from src.core.protocols import Sandbox
from src.core.spec import SpecExample, Specification
from src.core.tool import Tool
from src.core.verdict import Version
from src.synthesis.examples import arguments_of, exception_of
from src.synthesis.probe import Outcome, probe, same

Likeness = Literal["same", "other", "unknown"]

_LEAST = 3
"""Examples that tell two meanings apart well enough; they must have two different results at least."""


async def likeness(sandbox: Sandbox, tool: Tool, spec: Specification) -> Likeness:
    """`same`: the tool fulfils every example; `other`: it does not, or takes other parameters; `unknown`: too few examples tell.

    Parameters are compared in their order and not by name, so that the same tool under other words is found.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    renamed = _renamed(tool, spec)
    if renamed is None:
        return "other"
    told = list(_told(spec))
    if len(told) < _LEAST or len({example.result for example, _ in told}) < 2:
        return "unknown"
    inputs = [{renamed[name]: value for name, value in arguments.items()} for _, arguments in told]
    outcomes = await probe(sandbox, tool.code, tool.name, inputs)
    if outcomes is None:
        return "other"
    return "same" if all(_fulfils(o, example) for o, (example, _) in zip(outcomes, told, strict=True)) else "other"


async def passes(sandbox: Sandbox, tool: Tool, spec: Specification, tests: str) -> bool:
    """Whether the tool passes the suite that was written for the specification, under its name and with its parameters.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    renamed = _renamed(tool, spec)
    if renamed is None or tool.name == spec.name:
        return False
    arguments = ", ".join(f"{theirs}={ours}" for ours, theirs in renamed.items())
    head = ", ".join(p.name + ("" if p.default is None else f"={p.default}") for p in spec.parameters)
    adapter = f"{tool.code}\n\n\ndef {spec.name}({head}):\n    return {tool.name}({arguments})\n"
    (verdict,) = await sandbox.verify_versions(spec.name, [Version(code=adapter)], tests)
    return verdict.passed


def _renamed(tool: Tool, spec: Specification) -> dict[str, str] | None:
    """The tool's parameters by the specification's, in their order; None where their kinds differ or the tool needs more."""
    ours, theirs = spec.parameters, tool.signature.parameters
    if len(theirs) < len(ours) or any(p.required for p in theirs[len(ours) :]):
        return None
    pairs = list(zip(ours, theirs, strict=False))
    return {p.name: q.name for p, q in pairs} if all(p.annotation == q.annotation for p, q in pairs) else None


def _told(spec: Specification) -> Sequence[tuple[SpecExample, dict[str, object]]]:
    """The examples that can be run, with their arguments."""
    signature = spec.signature()
    pairs = [(example, arguments_of(example, signature)) for example in (*spec.user_examples, *spec.examples) if "#" not in example.call]
    return [(example, arguments) for example, arguments in pairs if arguments]


def _fulfils(outcome: Outcome, example: SpecExample) -> bool:
    exception = exception_of(example)
    if exception:
        return (outcome.kind, outcome.text) == ("raised", exception)
    try:
        expected = repr(ast.literal_eval(example.result))
    except (ValueError, SyntaxError, TypeError):
        return False
    return same(Outcome(kind="returned", text=expected), outcome)
