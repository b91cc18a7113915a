"""Whether a tool of the library does what a specification asks for, told by running it on the specification's own examples."""

import ast
from collections.abc import Sequence
from typing import Literal

from src.core.protocols import Sandbox
from src.core.spec import SpecExample, Specification
from src.core.tool import Tool
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
    names = [p.name for p in spec.parameters]
    theirs = tool.signature.parameters
    if len(theirs) < len(names) or any(p.required for p in theirs[len(names) :]):
        return "other"
    if any(p.annotation != q.annotation for p, q in zip(spec.parameters, theirs, strict=False)):
        return "other"
    renamed = {name: other.name for name, other in zip(names, theirs, strict=False)}
    told = list(_told(spec))
    if len(told) < _LEAST or len({example.result for example, _ in told}) < 2:
        return "unknown"
    inputs = [{renamed[name]: value for name, value in arguments.items()} for _, arguments in told]
    outcomes = await probe(sandbox, tool.code, tool.name, inputs)
    if outcomes is None:
        return "other"
    return "same" if all(_fulfils(o, example) for o, (example, _) in zip(outcomes, told, strict=True)) else "other"


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
