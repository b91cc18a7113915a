"""Whether a tool of the library does what a specification asks for, or what another tool does,
decided by running it on the examples, on the whole suite, or on recorded calls.
"""

import ast
import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Literal, NamedTuple, Self

from selfeng.core.files import File
from selfeng.core.protocols import Sandbox
from selfeng.core.signature import Parameter, Signature
from selfeng.core.spec import SpecExample, Specification
from selfeng.core.tool import Tool
from selfeng.core.verdict import SandboxJob, Version
from selfeng.synthesis.before import INPUTS, KnownCall
from selfeng.synthesis.examples import arguments_of, exception_of
from selfeng.synthesis.inputs import Arguments, calls_in, mutations
from selfeng.synthesis.probe import CallOutcome, outcome_of, probe, same
from selfeng.synthesis.suite.editing import retargeted
from selfeng.synthesis.suite.joining import joined

Likeness = Literal["same", "other", "unknown"]

_LEAST = 3
"""Number of examples that distinguish two meanings well enough; they must have at least two
different results.
"""
_EARLY, _BATCH = 8, 400
"""Calls of each tool that all with the same parameters run first, and calls of one run."""
_MOST_FILES = 10
"""Recorded calls of a tool with files that others run, each by itself."""
_MOST_RUNS = 2_000
"""Runs of the sandbox in one comparison; what is not reached by then is not compared."""


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


def joint_suite(target: Tool, tool: Tool) -> str | None:
    """The tests of both tools, all for the target; None if it can't take the tool's arguments."""
    names = _renamed(tool.signature.parameters, target.signature.parameters)
    if names is None:
        return None
    return joined(target.tests, retargeted(tool.tests, tool.name, target.name, names))


class Twins(NamedTuple):
    """Two tools that agree on so many calls of both, of which so many are `recorded`."""

    first: str
    second: str
    calls: int
    recorded: int


class _Call(NamedTuple):
    """A call by the places of its arguments, for tools whose parameters have other names."""

    key: str
    values: Mapping[int, Any]
    files: tuple[File, ...]


class Compared:
    """A tool that runs on the calls of others; once on each."""

    def __init__(
        self, sandbox: Sandbox, tool: Tool, job: SandboxJob, recorded: Sequence[KnownCall] = ()
    ) -> None:
        """`job` runs the tool, `recorded` are its earlier calls. Blocking: its suite is parsed."""
        self._sandbox, self._job, self.tool = sandbox, job, tool
        suite = [KnownCall(arguments=call) for call in calls_in(tool.tests, tool.signature)]
        on_files = [call for call in recorded if call.files][:_MOST_FILES]
        self.recorded = self.placed([*(c for c in recorded if not c.files), *on_files])
        self.calls = self.recorded | self.placed(suite)
        self.early = [call for call in self.calls.values() if not call.files][:_EARLY]
        self.outcomes: dict[str, CallOutcome | None] = {}
        """By the calls' keys; None for a call that shows nothing about the tool."""

    def placed(self, calls: Iterable[KnownCall]) -> dict[str, _Call]:
        """The calls that fit the signature, by their keys."""
        names = [p.name for p in self.tool.signature.parameters]
        placed_calls = [
            _Call(
                repr((values, [file.reference().sha256 for file in call.files])), values, call.files
            )
            for call in calls
            if call.arguments.keys() <= {*names}
            for values in [
                {n: call.arguments[p] for n, p in enumerate(names) if p in call.arguments}
            ]
        ]
        return {call.key: call for call in placed_calls}

    def arguments(self, call: _Call) -> Arguments:
        return {self.tool.signature.parameters[n].name: v for n, v in call.values.items()}

    def agrees(self, tool: Self, calls: Iterable[_Call], *, if_returned: bool = False) -> bool:
        """Whether both do the same for calls that ran; with `if_returned` only where both return
        something.
        """
        pairs = ((self.outcomes.get(call.key), tool.outcomes.get(call.key)) for call in calls)
        return all(
            same(first, second)
            for first, second in pairs
            if first and second
            if not if_returned or "raised" not in (first.kind, second.kind)
        )

    async def run(self, calls: Iterable[_Call], runs: Iterator[int]) -> None:
        """Run it on what it did not run on yet, up to the last of the `runs`. Raises:
        SandboxError.
        """
        new = [call for call in calls if call.key not in self.outcomes]
        plain = [call for call in new if not call.files]
        parts = [plain[start : start + _BATCH] for start in range(0, len(plain), _BATCH)]
        for part in [*parts, *([call] for call in new if call.files)]:
            if next(runs) > _MOST_RUNS:
                break
            inputs = list(map(self.arguments, part))
            if files := part[0].files:
                execution = await self._sandbox.execute(self._job, inputs[0], files)
                outcomes: Sequence[CallOutcome | None] = [outcome_of(execution)]
            else:
                outcomes = await probe(self._sandbox, self._job, inputs) or [None for _ in part]
            pairs = zip(part, outcomes, strict=True)
            self.outcomes |= {c.key: o if o and o.reached else None for c, o in pairs}


async def twins(tools: Sequence[Compared]) -> tuple[list[Twins], int]:
    """Tools that do the same: their parameters have the same annotations in the same order, and
    they agree on the recorded calls of both, and on those of both suites; where both return
    something for mutations of these, it is the same. Also the number of tools that were compared.
    Of several that agree, each is paired with the first.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    groups: dict[tuple[str, ...], list[Compared]] = defaultdict(list)
    for compared in tools:
        groups[tuple(p.annotation for p in compared.tool.signature.parameters)].append(compared)
    alike = [group for shape, group in groups.items() if shape and len(group) > 1]
    pairs, paired, runs = list[Twins](), set[str](), count(1)
    for group in alike:
        early = {call.key: call for compared in group for call in compared.early}
        for compared in group:
            await compared.run(early.values(), runs)
        for n, first in enumerate(group):
            await asyncio.sleep(0)  # the loop serves others meanwhile
            for second in group[n + 1 :] if first.tool.name not in paired else ():
                if (
                    second.tool.name not in paired
                    and first.agrees(second, [*first.early, *second.early])
                    and (pair := await _twins(first, second, runs))
                ):
                    paired.add(pair.second)
                    pairs.append(pair)
    return pairs, sum(map(len, alike))


async def _twins(first: Compared, second: Compared, runs: Iterator[int]) -> Twins | None:
    """The pair if it agrees on all calls of both, and these show enough. Raises: SandboxError."""
    calls = first.calls | second.calls
    plain = [call for call in calls.values() if not call.files]
    inputs = await asyncio.to_thread(mutations, list(map(first.arguments, plain)), INPUTS)
    mutated = [*first.placed(KnownCall(arguments=i) for i in inputs).values()]
    for part in (plain, mutated, *([call] for call in calls.values() if call.files)):
        await first.run(part, runs)
        await second.run(part, runs)
        if not first.agrees(second, part, if_returned=part is mutated):
            return None
    outcomes = {k: o for k in calls if (o := first.outcomes.get(k)) and second.outcomes.get(k)}
    texts = [outcome.text for outcome in outcomes.values() if outcome.kind != "raised"]
    if len(texts) < _LEAST or len(set(texts)) < 2:
        return None
    recorded = (first.recorded | second.recorded).keys() & outcomes.keys()
    return Twins(first.tool.name, second.tool.name, len(outcomes), len(recorded))


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
