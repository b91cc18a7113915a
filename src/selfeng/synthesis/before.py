"""The previous version, as a reference: the next one returns the same values, unless a test
distinguishes the two.
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from selfeng.core.files import File
from selfeng.core.http import Exchange
from selfeng.core.package_lock import PackageLock
from selfeng.core.protocols import Sandbox
from selfeng.core.provenance import Behaviour, ChangedCall
from selfeng.core.signature import Signature
from selfeng.core.tool import ToolDraft
from selfeng.core.value import Value
from selfeng.core.verdict import SandboxJob, Version
from selfeng.core.words import shortened
from selfeng.synthesis.inputs import Arguments, calls_in, mutations
from selfeng.synthesis.probe import SAYS, CallOutcome, outcome_of, probe, same, shown_call
from selfeng.synthesis.suite.editing import names_of, without

INPUTS = 200
"""Mutated inputs on which the two are compared, besides the calls of their tests."""
_NAMED, _SHOWN = 10, 300
"""Changed calls that are shown, and characters of each part of them."""
SECONDS = 10.0
"""Time limit of the previous version's run of the next one's suite."""


class Before(Value):
    version: int
    signature: Signature
    code: str
    tests: str
    library: Mapping[str, str] = {}
    """The modules that it imports, in the versions it uses."""
    exchanges: tuple[Exchange, ...] = ()
    """The recorded exchanges that answer its requests."""
    lock: PackageLock | None = None

    def job(self, name: str, code: str = "", tests: str = "") -> SandboxJob:
        """A job with its modules, exchanges and packages."""
        return SandboxJob(name, code, tests, self.library, exchanges=self.exchanges, lock=self.lock)


class KnownCall(Value):
    """A call of an earlier answer."""

    arguments: Arguments
    files: tuple[File, ...] = ()
    """Those that it names."""


def earlier_tests(name: str, tests: str, names: Mapping[str, str]) -> dict[str, str]:
    """The tests of a version, by their names in the suite that they were joined to."""
    original_names: dict[str, str] = {}
    for test in sorted(names_of(tests, name)) if tests else ():
        head, separator, method = test.partition("::")
        original_names[f"{names.get(head, head)}{separator}{method}"] = test
    return original_names


async def failing(
    sandbox: Sandbox,
    name: str,
    tests: str,
    before: Before,
    selection: Collection[str] | None = None,
) -> str:
    """The first of the tests `selection`, by default all, that fails on the previous version, and
    how; "" if none does.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    if not tests or (selection is not None and not selection):
        return ""
    suite = (
        tests
        if selection is None
        else without(tests, name, names_of(tests, name).difference(selection))
    )
    (verdict,) = await sandbox.verify_versions(
        before.job(name, tests=suite),
        [Version(code=before.code, apart=False)],
        SECONDS,
    )
    failed = next((t for t in verdict.tests if t.outcome != "passed"), None)
    if failed is None:
        return "" if verdict.passed else f"the tests do not run ({verdict.problem})"
    lines = failed.message.strip().splitlines()
    return f"{failed.test} fails ({lines[-1].strip() if lines else failed.outcome})"


async def difference(
    sandbox: Sandbox,
    before: Before,
    signature: Signature,
    job: SandboxJob,
) -> str:
    """A call for which the previous version returns something else than a module that passes the
    suite; "" if none is found.

    Nothing is compared if the previous version fails the suite: then the change is intended.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    if (stand_in := _stand_in(before, signature, job.code)) is None:
        return ""
    function, versions = signature.function, [Version(code=stand_in, apart=False)]
    (verdict,) = await sandbox.verify_versions(
        replace(job, library=before.library), versions, SECONDS
    )
    inputs = await asyncio.to_thread(_inputs, before, job.tests) if verdict.passed else []
    if not inputs:
        return ""
    returned, again = [
        await probe(sandbox, before.job(function, before.code), inputs) for _ in range(2)
    ]
    if returned is None or again is None:
        return ""
    if (outcomes := await probe(sandbox, job, inputs)) is None:
        return (
            "it can't be run on the calls on which it is compared with version "
            f"{before.version}; keep to plain functions"
        )

    def first_change() -> str:
        for arguments, old, once_more, new in zip(inputs, returned, again, outcomes, strict=True):
            if old.kind == "returned" and same(old, once_more) and not same(old, new):
                return _message(before, shown_call(function, arguments), old, new)
        return ""

    return await asyncio.to_thread(first_change)


async def behaviour(
    sandbox: Sandbox,
    before: Before | None,
    draft: ToolDraft,
    library: Mapping[str, str],
    recorded: Sequence[KnownCall],
) -> Behaviour:
    """How a draft differs from the version before it, if there is one, on recorded calls, on those
    of both suites, and on mutations of these.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    reference = before or Before(
        version=0, signature=draft.signature, code=draft.code, tests=draft.tests
    )
    generated = await asyncio.to_thread(_inputs, reference, draft.tests)
    plain = [call.arguments for call in recorded if not call.files]
    on_files = [call for call in recorded if call.files]
    calls = list({repr(call): call for call in (*plain, *generated)}.values())
    every = [*(call.arguments for call in on_files), *calls]

    async def outcomes(job: SandboxJob) -> list[CallOutcome | None]:
        runs = [await sandbox.execute(job, call.arguments, call.files) for call in on_files]
        probed = await probe(sandbox, job, calls)
        return [*map(outcome_of, runs), *(probed or (None for _ in calls))]

    job = draft.job(library=library)
    now = await outcomes(job)
    if before is None:
        firsts = [(call, "", new) for call, new in zip(every, now, strict=True) if new]
        return Behaviour(
            compared=0, recorded=0, changed=0, calls=_changes(draft.name, firsts[:_NAMED])
        )
    old = await outcomes(before.job(draft.name, before.code))
    pairs = zip(every, old, now, strict=True)
    compared = [(call, then, new) for call, then, new in pairs if then and new]
    changes = [
        (call, SAYS[then.kind](then.text), new)
        for call, then, new in compared
        if not same(then, new)
    ]
    return Behaviour(
        compared=len(compared),
        recorded=len({repr(call) for call in plain}) + len(on_files),
        changed=len(changes),
        calls=_changes(draft.name, changes[:_NAMED]),
    )


def _changes(
    function: str, changes: Sequence[tuple[Arguments, str, CallOutcome]]
) -> tuple[ChangedCall, ...]:
    return tuple(
        ChangedCall(
            call=shortened(shown_call(function, call), _SHOWN),
            before=shortened(before, _SHOWN),
            after=shortened(SAYS[now.kind](now.text), _SHOWN),
        )
        for call, before, now in changes
    )


def _message(before: Before, call: str, old: CallOutcome, new: CallOutcome) -> str:
    return (
        f"for {call} version {before.version} returns {old.text} and this one "
        f"{SAYS[new.kind](new.text)}, and the tests accept both; "
        "keep what it did, or add a test that says which is right"
    )


def _inputs(before: Before, tests: str) -> Sequence[Arguments]:
    names = {p.name for p in before.signature.parameters}
    calls = [*calls_in(tests, before.signature), *calls_in(before.tests, before.signature)]
    distinct_calls = list({repr(call): call for call in calls if call.keys() <= names}.values())
    return [*distinct_calls, *mutations(distinct_calls, INPUTS)]


def _stand_in(before: Before, signature: Signature, code: str) -> str | None:
    """The previous version as a module with the new signature; calls with new parameters go to the
    new code.

    None if the new code does not accept all calls of the old: that is another function.
    """
    old, new = before.signature.parameters, signature.parameters
    if [p.name for p in new[: len(old)]] != [p.name for p in old]:
        return None
    if len(new) == len(old):
        return before.code
    if any(p.required for p in new[len(old) :]):
        return None
    name, further = signature.function, [p.name for p in new[len(old) :]]
    return f"{code}\n\n\n{_DISPATCH.format(name=name, further=further, source=before.code, places=len(old))}"  # noqa: E501


_DISPATCH = """
def _both():
    import functools

    before = {{"__name__": __name__}}
    exec(compile({source!r}, "before", "exec"), before)
    then, now = before[{name!r}], {name}

    @functools.wraps(now)
    def either(*given, **named):
        return (now if len(given) > {places} or set(named) & set({further!r}) else then)(*given, **named)

    return either


{name} = _both()
"""  # noqa: E501
