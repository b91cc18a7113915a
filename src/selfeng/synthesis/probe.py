"""The probe: what candidates return for given inputs, in the sandbox, and where two of them
differ.
"""

import ast
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from selfeng.core.protocols import Sandbox
from selfeng.core.signature import UNREADABLE
from selfeng.core.value import Value
from selfeng.core.verdict import Execution, Raised, Returned, SandboxJob
from selfeng.synthesis.inputs import Arguments

SECONDS_A_CALL = 0.1
"""CPU seconds after which a call counts as slow."""
SECONDS = 2.0
"""CPU seconds for all calls of one candidate; those not reached by then do not count."""
LONGEST = 4000
"""Characters of the `repr` of a value that is not large."""
TOLERANCE = 1e-6
"""Relative and absolute tolerance within which two floats are equal."""
ENTRY = "probe_all_calls"
"""The function that calls a candidate, in its module."""
_DRIVER = rf"""


def {ENTRY}(function, calls, seconds_a_call, seconds):
    import ast, builtins, hashlib, re, resource, signal, time

    class Slow(BaseException):
        pass

    def ring(*_):
        raise Slow

    def shown(kind, text):
        if len(text) <= {LONGEST}:
            return [kind, text]
        rounded = re.sub(r"-?\d+\.\d+(?:e[+-]?\d+)?", lambda n: f"{{float(n[0]):.6g}}", text)
        return ["large", hashlib.sha256(rounded.encode(errors="replace")).hexdigest()]

    def used():  # while a timer runs, Python's clock of the processor time moves in leaps
        usage = resource.getrusage(resource.RUSAGE_SELF)
        return usage.ru_utime + usage.ru_stime

    # gVisor counts processor time in hundredths of a second
    clock = used if round(used() * 1e6) % 10_000 else time.perf_counter
    signal.signal(signal.SIGPROF, ring)
    end, outcomes, called = time.process_time() + seconds, [], globals()[function]
    for call in calls:
        try:
            arguments, took = ast.literal_eval(call), seconds_a_call
            if end - time.process_time() < seconds_a_call:
                took = 0.0
                raise Slow
            signal.setitimer(signal.ITIMER_PROF, seconds_a_call, 0.02)  # again, if caught
            began = clock()
            try:
                returned = called(**arguments)
                took = clock() - began
                outcome = ["returned", builtins.repr(returned)]
            finally:
                signal.setitimer(signal.ITIMER_PROF, 0)
        except Slow:
            signal.setitimer(signal.ITIMER_PROF, 0)
            outcome = ["slow", ""]
        except BaseException as error:
            outcome = ["raised", type(error).__name__]
        outcomes.append([*shown(*outcome), took])
    return outcomes
"""


class CallOutcome(Value):
    kind: Literal["returned", "raised", "slow", "large"]
    text: str = ""
    """The value's `repr`, of a large one its digest after floats are rounded, or the name of the
    exception's class.
    """
    seconds: float = 0.0
    """Processor time until it returned; `SECONDS_A_CALL` where it did not; 0 of a slow call that
    was not reached.
    """

    @property
    def is_answer(self) -> bool:
        """Whether it says something about the function. Of the exceptions, only exhausted resources
        do, because the function may not be meant for the input.
        """
        return {"raised": self.text in _EXHAUSTED, "slow": self.reached}.get(self.kind, True)

    @property
    def reached(self) -> bool:
        return self.kind != "slow" or self.seconds > 0


_OUTCOMES = TypeAdapter(
    list[
        tuple[
            Literal["returned", "raised", "slow", "large"],
            Annotated[str, Field(max_length=LONGEST)],
            Annotated[float, Field(ge=0, le=SECONDS)],
        ]
    ]
)
SAYS: dict[str, Callable[[str], str]] = {
    "returned": lambda text: f"returns {text}",
    "raised": lambda text: f"raises {text}",
    "slow": lambda _: "takes too long",
    "large": lambda _: "returns a very large value",
}
"""A call's outcome in words for people, from its text, by its kind."""
_EXHAUSTED = ("RecursionError", "MemoryError")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def shown_call(function: str, arguments: Arguments) -> str:
    """Python source."""
    return f"{function}({', '.join(f'{name}={value!r}' for name, value in arguments.items())})"


async def probe(
    sandbox: Sandbox, job: SandboxJob, inputs: Sequence[Arguments]
) -> list[CallOutcome] | None:
    """The candidate's outcome for each input; None if it can't be run on them at all.

    All calls run in one process, and the candidate could falsify the outcomes: this is a comparison
    of candidates, not a verdict.

    Raises: SandboxUnavailable, SandboxFailed.
    """
    arguments = {
        "function": job.name,
        "calls": [repr(i) for i in inputs],
        "seconds_a_call": SECONDS_A_CALL,
        "seconds": SECONDS,
    }
    execution = await sandbox.execute(replace(job, name=ENTRY, code=job.code + _DRIVER), arguments)
    if not isinstance(execution, Returned) or execution.data is None:
        return None
    try:
        outcomes = _OUTCOMES.validate_json(execution.data)
    except ValueError:  # the candidate has written it itself
        return None
    return (
        [
            CallOutcome(kind=kind, text=_ADDRESS.sub("", text), seconds=seconds)
            for kind, text, seconds in outcomes
        ]
        if len(outcomes) == len(inputs)
        else None
    )


def outcome_of(run: Execution) -> CallOutcome | None:
    """The outcome that an execution shows of the function; None if it was ended, sent a request
    that is not recorded, or returned no plain value.
    """
    match run:
        case Returned(data=str(data)):
            return CallOutcome(kind="returned", text=repr(json.loads(data)))
        case Raised(type_name=name, no_exchange=""):
            return CallOutcome(kind="raised", text=name)
    return None


def same(first: CallOutcome, second: CallOutcome) -> bool:
    """Whether both outcomes are the same: equal values, with floats nearly equal; for exceptions,
    slow calls and large values, the same kind.
    """
    if first.kind != second.kind or first.kind != "returned" or first.text == second.text:
        return first.kind == second.kind
    try:
        return _equal(ast.literal_eval(first.text), ast.literal_eval(second.text))
    except UNREADABLE:
        return False


def _equal(a: Any, b: Any) -> bool:
    match a, b:
        case (list(), list()) | (tuple(), tuple()):
            return len(a) == len(b) and all(map(_equal, a, b))
        case dict(), dict():
            return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
        case (float() | int(), float()) | (float(), int()):
            try:
                return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
            except OverflowError:  # an integer larger than any float
                return False
    return bool(a == b)
