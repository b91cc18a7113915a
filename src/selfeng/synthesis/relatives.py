"""Whether a tool of the library does what a specification asks for, decided by running it on the
examples or on the whole suite.
"""

import ast
from collections.abc import Sequence
from typing import Literal

from selfeng.core.protocols import Sandbox
from selfeng.core.signature import Parameter, Signature
from selfeng.core.spec import SpecExample, Specification
from selfeng.core.tool import Tool
from selfeng.core.verdict import SandboxJob, Version
from selfeng.synthesis.examples import arguments_of, exception_of
from selfeng.synthesis.inputs import Arguments
from selfeng.synthesis.probe import CallOutcome, probe, same

Likeness = Literal["same", "other", "unknown"]

_LEAST = 3
"""Number of examples that distinguish two meanings well enough; they must have at least two
different results.
"""


async def likeness(sandbox: Sandbox, tool: Tool, spec: Specification) -> Likeness:
    """`same`: the tool fulfils every example; `other`: it does not, or takes other parameters;
    `unknown`: too few examples tell.

    Parameters are compared in their order and not by name, so that the same tool with other names
    is found.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    names = _renamed(spec.signature().parameters, tool.signature.parameters)
    if names is None:
        return "other"
    examples = list(_runnable_examples(spec))
    if len(examples) < _LEAST or len({example.result for example, _ in examples}) < 2:
        return "unknown"
    inputs = [
        {names[name]: value for name, value in arguments.items()} for _, arguments in examples
    ]
    if (outcomes := await probe(sandbox, tool.job(), inputs)) is None:
        return "other"
    return (
        "same"
        if all(_fulfils(o, example) for o, (example, _) in zip(outcomes, examples, strict=True))
        else "other"
    )


async def twin(
    sandbox: Sandbox, signature: Signature, code: str, tests: str, tools: Sequence[Tool]
) -> Tool | None:
    """The first of the tools that does the same as a new function: each passes the other's tests.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    for tool in await passing(sandbox, signature, tests, tools):
        if back := _adapter(code, signature, tool.signature):
            (mutual,) = await sandbox.verify_versions(
                tool.job("", tool.tests), [Version(code=back, apart=False)]
            )
            if mutual.passed:
                return tool
    return None


async def passing(
    sandbox: Sandbox, signature: Signature, tests: str, tools: Sequence[Tool]
) -> list[Tool]:
    """Those of the tools that pass the tests of a function.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    adapted = [
        (tool, Version(code=adapter, apart=False))
        for tool in tools
        if (adapter := _adapter(tool.code, tool.signature, signature))
    ]
    if not adapted:
        return []
    job = SandboxJob(signature.function, tests=tests)
    verdicts = await sandbox.verify_versions(job, [version for _, version in adapted])
    return [tool for (tool, _), verdict in zip(adapted, verdicts, strict=True) if verdict.passed]


def renamed(target: Signature, source: Signature, arguments: Arguments | None) -> Arguments | None:
    """Arguments for the target as those for the source; None if it can't take them."""
    names = _renamed(target.parameters, source.parameters)
    return {names[n]: value for n, value in arguments.items()} if names and arguments else None


def _adapter(code: str, source: Signature, target: Signature) -> str | None:
    """A module that wraps a function under another one's name and parameters; None if it can't take
    that one's arguments.
    """
    names = _renamed(target.parameters, source.parameters)
    if names is None or source.function == target.function:
        return None
    arguments = ", ".join(f"{parameter}={argument}" for argument, parameter in names.items())
    head = ", ".join(
        p.name + ("" if p.default is None else f"={p.default}") for p in target.parameters
    )
    return (
        f"{code}\n\n\ndef {target.function}({head}):\n    return {source.function}({arguments})\n"
    )


def _renamed(target: Sequence[Parameter], source: Sequence[Parameter]) -> dict[str, str] | None:
    """The source's parameter names by the target's, matched in order; None if annotations differ or
    more parameters are required.
    """
    if len(source) < len(target) or any(p.required for p in source[len(target) :]):
        return None
    pairs = list(zip(target, source, strict=False))
    return (
        {p.name: q.name for p, q in pairs}
        if all(p.annotation == q.annotation for p, q in pairs)
        else None
    )


def _runnable_examples(spec: Specification) -> Sequence[tuple[SpecExample, dict[str, object]]]:
    """The examples that can be run, with their arguments."""
    signature = spec.signature()
    pairs = [
        (example, arguments_of(example, signature))
        for example in (*spec.user_examples, *spec.examples)
        if "#" not in example.call
    ]
    return [(example, arguments) for example, arguments in pairs if arguments]


def _fulfils(outcome: CallOutcome, example: SpecExample) -> bool:
    if exception := exception_of(example):
        return (outcome.kind, outcome.text) == ("raised", exception)
    try:
        expected = repr(ast.literal_eval(example.result))
    except (ValueError, SyntaxError, TypeError):
        return False
    return same(CallOutcome(kind="returned", text=expected), outcome)
