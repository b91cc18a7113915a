"""Results of jobs: the worker's frames become a verdict or an execution. They fail closed.

A suite has passed only if the tests that its source defines, the tests that were collected and the
tests that were reported are the same, each was reported once and passed, and the report has exactly
one proper end.
"""

import binascii
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sandbox_worker.frames import Message
from sandbox_worker.http_transport import MOST_REQUESTS
from sandbox_worker.job_folder import NAMED
from selfeng.core.errors import SandboxFailed
from selfeng.core.files import File, FileLimits, name_problem, shown_name
from selfeng.core.verdict import Execution, Killed, Replay, TestResult, Verdict
from selfeng.core.visible import one_line
from selfeng.sandboxes import reported

_SHOWN = 3
_KIND = 40
_LONG = 500
_COUNTED = 1_000_000

FORGED = "The report from the sandbox is not in order: "
"""Prefix of every problem that only tampering, or a defect of the worker, can explain."""


class JobResult:
    """Collects the frames of one job."""

    def __init__(self, nonce: str) -> None:
        self.nonce = nonce
        self._end: Message | None = None
        self.image = ""
        """The image or environment of its container."""
        self.disorder: str | None = None
        """The problem of the frames themselves; None if there is none."""
        self.late = False
        """The host ended it, as its judge did not."""
        self.requests: list[tuple[int, Message]] = []
        """Requests of the tool by number, not yet taken."""
        self.request_count = 0

    @property
    def complete(self) -> bool:
        return self._end is not None or self.disorder is not None

    @property
    def orderly(self) -> bool:
        """Whether the processes of the job are unharmed and can do another job of the same tool."""
        return self.disorder is None and self._field("orderly") is True

    @property
    def overdue(self) -> bool:
        """Whether it took too long without using its processor time. The machine may be busy."""
        return self.disorder is None and (self.late or self._field("overdue") is True)

    @property
    def starved(self) -> bool:
        """Whether the machine was too busy for it, which shows nothing about the code."""
        return self.disorder is None and self._field("starved") is True

    @property
    def receiving(self) -> bool:
        """Whether only the files of the call are still to come, which may take a while."""
        return False

    def take(self, frame: Message) -> None:
        """Add a frame.

        Raises:
            SandboxFailed: the worker reports that it failed.
        """
        if frame.get("nonce") != self.nonce:
            self.disorder = "a frame does not carry this job's nonce"
        elif self._end is not None:
            self.disorder = "a frame follows the end"
        elif frame.get("kind") == "broken":
            detail = reported.text(frame.get("detail"), reported.SENTENCE)
            raise SandboxFailed(
                f"the sandbox's worker broke: {detail}",
                "this is a defect of the sandbox; please report it",
            )
        elif frame.get("kind") == "end":
            self._end = frame
        else:
            self._take(frame)

    def _take(self, frame: Message) -> None:
        self.disorder = f"a frame has the unknown kind {reported.text(frame.get('kind'), _KIND)!r}"

    def _field(self, name: str) -> Any:
        return (self._end or {}).get(name)

    def _no_exchange(self) -> str:
        return reported.text(self._field("no_exchange"), reported.SENTENCE)

    def _output(self) -> str:
        return reported.text(self._field("output"), reported.OUTPUT)

    def _seconds(self, measured: float) -> float:
        seconds = reported.seconds(self._field("seconds"))
        return measured if seconds is None else seconds


class SuiteResult(JobResult):
    """The result of a suite; `on_test` gets each valid test result as it comes."""

    def __init__(
        self,
        nonce: str,
        expected: frozenset[str],
        on_test: Callable[[TestResult], None],
        stop_early: bool = False,
        replayed: bool = False,
    ) -> None:
        """`stop_early`: the run may end with the first test that did not pass; `replayed`: a report
        of replays has to come.
        """
        super().__init__(nonce)
        self._replayed = replayed
        self._stop_early = stop_early
        self._expected = expected
        self._on_test = on_test
        self._collected: tuple[str, ...] | None = None
        self._names: frozenset[str] = frozenset()
        self._results: dict[str, TestResult] = {}
        self._replay: Replay | None = None

    def verdict(self, killed: str | None, measured: float) -> Verdict:
        """The verdict; `killed` is why the host ended the job, or how its container ended before
        the report did.
        """
        results = tuple(self._results.values())
        problem = f"{FORGED}{self.disorder}." if self.disorder else killed or self._problem()
        passed = problem is None and bool(results) and self._all_passed()
        return Verdict(
            passed=passed,
            tests=results,
            problem=problem,
            output=self._output(),
            seconds=self._seconds(measured),
            loaded=self._field("loaded") is not False,
            replay=self._replay,
            overdue=self.overdue,
            no_exchange=self._no_exchange(),
            image=self.image,
        )

    def _take(self, frame: Message) -> None:
        match frame:
            case {"kind": "collected", "collected": names} if self._collected is None:
                self._collected = reported.names(names)
                self._names = frozenset(self._collected or ())
                if self._collected is None:
                    self.disorder = (
                        "the list of tests is malformed or too long, or the name of a test is"
                    )
            case {"kind": "result", "result": fields}:
                self._take_result(reported.result(fields))
            case {"kind": "replayed"} if self._replay is None:
                self._replay = reported.replay(frame)
                if self._replay is None:
                    self.disorder = "the report of replays is malformed"
            case _:
                super()._take(frame)

    def _take_result(self, result: TestResult | None) -> None:
        if result is None:
            self.disorder = "a test's result is malformed"
        elif result.test in self._results:
            self.disorder = f"{_short(result.test)} was reported twice"
        elif result.test not in self._names:
            self.disorder = f"{_short(result.test)} was reported but never collected"
        else:
            self._results[result.test] = result
            self._on_test(result)

    def _problem(self) -> str | None:
        if self._end is None:
            return f"{FORGED}it has no end."
        if stated := self._field("problem"):
            return reported.text(stated) or f"{FORGED}its problem is not text."
        collected = self._collected or ()
        defined = {name.partition("[")[0] for name in collected}
        if missing := self._expected - defined:
            return (
                f"pytest did not collect every test that the suite defines: {_some(missing)} "
                f"{_is(missing)} missing."
            )
        if unknown := defined - self._expected:
            return (
                f"pytest collected tests that the suite's source does not define: {_some(unknown)}."
            )
        if len(set(collected)) != len(collected):
            return f"{FORGED}a test was collected twice."
        stopped = self._stop_early and any(
            r.outcome in ("failed", "error") for r in self._results.values()
        )
        if not stopped and (lost := set(collected) - self._results.keys()):
            return (
                f"The run ended before every test had a result: {_some(lost)} {_is(lost)} missing."
            )
        if skipped := [r.test for r in self._results.values() if r.outcome == "skipped"]:
            return f"Tests must not be skipped or expected to fail: {_some(skipped)}."
        if self._replayed and not self._replay and not stopped and self._all_passed():
            return f"{FORGED}the report of replays is missing."
        return None

    def _all_passed(self) -> bool:
        return all(r.outcome == "passed" for r in self._results.values())


class CallResult(JobResult):
    """The result of one call, with the files that it leaves."""

    def __init__(
        self,
        nonce: str,
        limits: FileLimits,
        input_files: Sequence[File] = (),
        network: bool = False,
        on_line: Callable[[str, int], object] | None = None,
    ) -> None:
        """`network`: whether it may send requests; `on_line` as in `SandboxJob`."""
        super().__init__(nonce)
        self._most_requests = MOST_REQUESTS if network else 0
        self._limits, self._on_line = limits, on_line
        self._input_files = input_files
        self._pieces: dict[str, bytearray] = {}

    def _take(self, frame: Message) -> None:
        match frame:
            case {"kind": "file", "name": str(name), "data": str(data)}:
                try:
                    self._pieces.setdefault(name, bytearray()).extend(
                        binascii.a2b_base64(data, strict_mode=True)
                    )
                except ValueError:
                    self.disorder = "a piece of a file is not valid base64"
                if (
                    len(self._pieces) > self._limits.count
                    or sum(map(len, self._pieces.values())) > self._limits.size
                ):
                    self.disorder = "there are more files than were asked for"
            case {"kind": "line", "line": str(line)} if self._on_line:
                self._on_line(one_line(reported.text(line, _LONG)), 0)
            case {"kind": "request", "number": int(number), "request": dict(request)}:
                self.request_count += 1
                self.requests.append((number, request))
                if number != self.request_count or number > self._most_requests:
                    self.disorder = "a request was not to be expected"
            case _:
                super()._take(frame)

    @property
    def receiving(self) -> bool:
        return bool(self._pieces)

    @property
    def repeatable(self) -> bool:
        """Whether the process of the call can do another job in the same folder, which the call
        left as it was.
        """
        return self.orderly and self._field("refused") is None

    def execution(self, killed: str | None, measured: float) -> Execution:
        """The outcome; `killed` as for `SuiteResult.verdict`."""
        frame: dict[str, Any] = {
            "stdout": self._output(),
            "seconds": self._seconds(measured),
            "no_exchange": self._no_exchange(),
        }
        reason = f"{FORGED}{self.disorder}." if self.disorder else killed or self._field("killed")
        if reason is None and self._end is None:
            reason = f"{FORGED}it has no end."
        if reason is not None:
            return Killed(
                reason=reported.text(reason, reported.SENTENCE)
                or f"{FORGED}its reason is not text.",
                **frame,
            )
        files, refused = self._files()
        outcome = reported.outcome(
            self._field("execution"), **frame, files=files, refused_files=refused
        )
        return outcome or Killed(
            reason="The tool's process reported a malformed outcome.",
            **frame,
        )

    def _files(self) -> tuple[tuple[File, ...], tuple[str, ...]]:
        """The files that the call has left, and a sentence for each file that is refused."""
        odd = {name: problem for name in self._pieces if (problem := name_problem(name))}
        files = tuple(
            File(name=name, content=bytes(content))
            for name, content in self._pieces.items()
            if name not in odd
        )
        refused = [*odd.items(), *reported.pairs(self._field("refused"), NAMED)]
        unnamed = self._field("unnamed")
        more = (
            (f"{unnamed} more files are refused.",)
            if isinstance(unnamed, int) and 0 < unnamed < _COUNTED
            else ()
        )
        refusals = tuple(f"{shown_name(name) or 'all'}: {reason}." for name, reason in refused)
        return tuple(f for f in files if f not in self._input_files), (*refusals, *more)


def _some(names: Iterable[str]) -> str:
    ordered = sorted(map(_short, names))
    more = f" and {len(ordered) - _SHOWN} more" if len(ordered) > _SHOWN else ""
    return ", ".join(ordered[:_SHOWN]) + more


def _short(name: str) -> str:
    return reported.text(name, _LONG)


def _is(names: Iterable[str]) -> str:
    return "is" if len(list(names)) == 1 else "are"
