"""The sandbox's report of a job: a verdict on a suite, or the outcome of one execution."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal

from pydantic import Field

from selfeng.core.files import File
from selfeng.core.http import Exchange, NetworkAccess
from selfeng.core.package_lock import PackageLock
from selfeng.core.result import Result, ResultReference
from selfeng.core.value import StrictlyOptional, Value

TestOutcome = Literal["passed", "failed", "error", "skipped"]
TestOrder = Literal["given", "reversed", "shuffled"]


class CallLimits(Value):
    """The limits of a call, where they exceed the usual; null: the usual limit."""

    seconds: StrictlyOptional[Annotated[int, Field(gt=0)] | None] = None
    memory: StrictlyOptional[Annotated[int, Field(gt=0)] | None] = None
    """Megabytes, as `space`, that of temporary files."""
    space: StrictlyOptional[Annotated[int, Field(gt=0)] | None] = None

    @property
    def name(self) -> str:
        return "limits"

    @property
    def key(self) -> str:
        return f"{self.name} {dict(self)}"

    def __str__(self) -> str:
        units = {"seconds": "s", "memory": "MB of memory", "space": "MB of temporary files"}
        return ", ".join(f"{amount:,} {units[name]}" for name, amount in self if amount)


MUTANT_SEED = 0
"""By which mutants are drawn."""
USUAL = CallLimits()


class Replay(Value):
    """Whether tests notice when the tool's outcomes are altered: see
    `sandbox_worker.replay`.
    """

    tried: int = 0
    """Alterations of outcomes that are not empty."""
    noticed: int = 0
    refused: tuple[tuple[str, str], ...] = ()
    """The tests that prove nothing, each with the reason."""
    gaps: tuple[str, ...] = ()
    """The faults that no test of the suite would notice, in sentences."""


@dataclass(frozen=True)
class SandboxJob:
    """Code for the sandbox to run: the module `name`, and for a verdict the suite `tests` (pytest
    source).
    """

    name: str
    code: str = ""
    """Of no use where versions are passed beside it."""
    tests: str = ""
    library: Mapping[str, str] = field(default_factory=dict)
    """The sources, by name, of modules that the code may import in addition to the sandbox's own.
    They shadow nothing, are loaded when imported, and the suite can't import them. A name that the
    sandbox already has raises RequestError; more modules than the sandbox takes is the problem of
    the verdict, or the end of the execution.
    """
    lock: PackageLock | None = None
    """Further packages that the code, and its tests, may import; installed on first use."""
    session: str = ""
    """Of an execution: the next one of the same session runs in the process and the folder of this
    one, if it comes within a second and this one left the folder as it was.
    """
    exchanges: tuple[Exchange, ...] = ()
    """They answer the requests of the code, in every run that gets no network. A request that
    matches none is an error and fails its test. A request that was recorded several times gets its
    responses in order in each call; the last one stays.
    """
    limits: CallLimits | None = None
    """Of an execution: one with more than usual waits for room, and has a container of its own."""
    on_line: Callable[[str, int], object] | None = field(default=None, repr=False, compare=False)
    """Of an execution: gets the line that was printed last, about once a second, and its place
    among those that wait for room, 0 once it runs.
    """


class Version(Value):
    """A version of a tool to run a suite against, and how: the tool again, a stub of it, or a
    mutant.
    """

    code: str
    order: TestOrder = "given"
    """Order of the tests: the suite's own, reversed, or random for this run."""
    whole: bool = False
    """Run every test, even after one that did not pass."""
    replay: Literal["", "quick", "thorough"] = ""
    """Run the tests that passed again on altered outcomes: until an alteration of each is noticed,
    or on all.
    """
    apart: bool = True
    """Run in its own processes. Code that is expected to fail, such as stubs and mutants, may share
    processes with others of its kind, which is several times faster: module and suite are loaded
    again, but what a version did to the interpreter stays for the next.
    """


class Alterations(Value):
    """How many alterations of a tool its suite notices: of its mutants, or of its outcomes where
    there are too few mutants.
    """

    noticed: int
    tried: int

    @property
    def score(self) -> float:
        """0..1; 1 where there is nothing to alter."""
        return self.noticed / self.tried if self.tried else 1.0


class TestResult(Value):
    """One finished test."""

    __test__ = False  # not a test class, whatever pytest thinks of its name

    test: str
    """Name of the test function, with its parameters in brackets as pytest prints them."""
    outcome: TestOutcome
    seconds: float
    message: str = ""
    """Why it did not pass, shortened to a few lines; "" if it passed."""


NoExchange = Annotated[str, Field(exclude=True)]
"""The first request that matches no exchange of the job, and what differs; "" if all do. The run
shows nothing about the code, even if it has caught the error.
"""


class Verdict(Value):
    """The result of a suite on a tool. `passed` only if every expected test ran once and passed."""

    passed: bool
    tests: tuple[TestResult, ...] = ()
    problem: str | None = None
    """Why there is no proper result (syntax error, nothing collected, timeout, memory, forged
    report); None if there is one.
    """
    output: str = ""
    """The output of code and tests, capped."""
    loaded: bool = Field(True, exclude=True)
    """Whether the code could be loaded."""
    overdue: bool = Field(False, exclude=True)
    """Whether it took too long without using its processor time: it waited, or the machine was
    slow.
    """
    replay: Replay | None = Field(None, exclude=True)
    """The report of replays, if they were asked for and every test passed."""
    strength: Alterations | None = Field(None, exclude_if=lambda strength: strength is None)
    """None if it was not measured."""
    no_exchange: NoExchange = ""
    seconds: float = 0.0
    image: Annotated[str, Field(exclude_if=lambda image: not image)] = ""
    """The image or environment of its container; "" if that is not known."""


Files = Annotated[tuple[File, ...], Field(exclude=True)]
"""The files that the call made or changed. The JSON of an execution never contains them: they may
be large, and an event reports them.
"""


Exchanges = Annotated[tuple[Exchange, ...], Field(exclude=True)]
"""The requests that the call sent, and their responses. The JSON of an execution never contains
them.
"""


class RunEnded(Value):
    """An execution, however it ended."""

    stdout: str = ""
    seconds: float = 0.0
    no_exchange: NoExchange = ""


class CallEnded(RunEnded):
    """An execution that the tool itself ended. `refused_files`: name and reason of each file that
    the sandbox does not hand out.
    """

    files: Files = ()
    exchanges: Exchanges = ()
    refused_files: tuple[str, ...] = ()


class Returned(CallEnded):
    """The tool returned a value."""

    outcome: Literal["returned"] = "returned"
    type_name: str
    """Name of the value's type in the sandbox, such as `int` or `Decimal`."""
    text: str
    """The value for people: a string as it is, anything else as its `repr`; capped."""
    data: str | None = Field(None, exclude=True)
    """The value as JSON text; None if it is not plain JSON (NaN, sets, objects) or too large, and
    in the JSON of an execution, where a reference stands for it.
    """
    readable: str | None = Field(None, exclude=True)
    """JSON text of a value that is not plain JSON, with text in place of what JSON lacks, such as
    dates; None if `data` says it, or if there is none.
    """
    value: ResultReference | None = None
    """Refers to what `data` or `readable` says; None if neither does."""
    too_large: int = 0
    """Characters of the JSON of a value that is too large to be kept; 0 for any other."""
    truncated: bool = False

    @property
    def result(self) -> Result | None:
        """The value whole; None if it is not kept, or if this was read from JSON."""
        content = self.readable if self.data is None else self.data
        if self.value is None or content is None:
            return None
        return Result(reference=self.value, content=content)


class Raised(CallEnded):
    """The tool raised an exception."""

    outcome: Literal["raised"] = "raised"
    type_name: str
    message: str
    traceback: str = ""
    lacks: Annotated[NetworkAccess | None, Field(exclude_if=lambda access: access is None)] = None
    """The host that a redirect led to and that a person can allow, if the call failed by that."""


class Killed(RunEnded):
    """The sandbox ended the tool: it was too slow, used too much memory, or its process died."""

    outcome: Literal["killed"] = "killed"
    reason: str
    """One sentence that names the limit, such as `It used 30 s of processor time.`"""


Execution = Annotated[Returned | Raised | Killed, Field(discriminator="outcome")]


class SandboxStatus(Value):
    """Whether code can run, and where."""

    available: bool
    backend: str
    """`docker`, `bubblewrap` or `none`."""
    detail: str
    """For people: engine version and image, or why nothing can run and what to do."""
    not_guaranteed: Mapping[str, str] = {}
    """The guarantees that containers of this backend lack on this machine: a sentence each, by a
    name.
    """
