"""What tests cost, and what they could not prove on this machine: written down as they run, and
told in the end.

Where `--account FILE` is given, every phase of a test is a line of JSON in it, for whoever ran
several sessions (see `__main__`); else the session itself tells.
"""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

SLOWEST, FILES = 20, 15
_SPENT = pytest.StashKey[float]()


@dataclass(frozen=True)
class Phase:
    """A test's setup, call or teardown.

    `processor` is seconds of the processor, of the test and of what it started and ended: these
    don't depend on what else the machine does. A Docker engine's containers are not among them.
    `lacking` is why it was skipped, "" if it was not.
    """

    test: str
    when: str
    seconds: float
    processor: float = 0.0
    lacking: str = ""
    failed: bool = False


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--account",
        type=Path,
        help="write down what each test costs, and why one was skipped, instead of telling it",
    )


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(
            _Account(config.getoption("account")), "account-of-this-session"
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Tell in each report what was spent since the one before."""
    report = yield
    before, now = item.config.stash.get(_SPENT, 0.0), sum(os.times()[:4])
    item.config.stash[_SPENT] = now
    report.processor = now - before
    return report


class _Account:
    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._phases: list[Phase] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.when:
            return
        reason = (
            report.longrepr[2]
            if isinstance(report.longrepr, tuple) and not hasattr(report, "wasxfail")
            else ""
        )
        spent = getattr(report, "processor", 0.0)
        reason = reason.removeprefix("Skipped: ")
        phase = Phase(
            report.nodeid, report.when, report.duration, spent, reason, failed=report.failed
        )
        self._phases.append(phase)
        if self._file:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(phase)) + "\n")

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
        yield
        if self._file is None:
            for line in unproven(self._phases):
                terminalreporter.write_line(line)


def machine_seconds() -> float:
    """What this machine's processors have worked since it started, in seconds, for whatever it ran:
    also containers, browsers and databases, which a test's account may lack. 0 where the system
    does not count it.
    """
    counted = Path("/proc/stat")
    words = counted.read_text().splitlines()[0].split() if counted.exists() else []
    work = [int(ticks) for ticks in (*words[1:4], *words[6:8])]  # user to system, interrupts
    return sum(work) / os.sysconf("SC_CLK_TCK")


def read(file: Path) -> list[Phase]:
    """The phases of a session, as far as it has come."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else ()
    return [Phase(**json.loads(line)) for line in lines]


def failures(phases: Iterable[Phase]) -> list[str]:
    """The tests that failed, in the order in which they ran."""
    return list(dict.fromkeys(phase.test for phase in phases if phase.failed))


def told(phases: list[Phase]) -> Iterator[str]:
    """What took longest, by test and by file, and at the very end what was not proven."""
    yield f"The {SLOWEST} slowest, in seconds:"
    for phase in sorted(phases, key=lambda phase: -phase.seconds)[:SLOWEST]:
        yield f"{phase.seconds:8.1f} {phase.when:8} {phase.test}"
    files: dict[str, list[float]] = {}
    for phase in phases:
        costs = files.setdefault(phase.test.partition("::")[0], [0.0, 0.0])
        costs[0] += phase.seconds
        costs[1] += phase.processor
    total, spent = (sum(costs[which] for costs in files.values()) for which in (0, 1))
    yield (
        f"The {FILES} dearest files of {len(files)}, in seconds of {total:.0f}, and of the "
        f"processor's {spent:.0f}:"
    )
    for file, (seconds, processor) in sorted(files.items(), key=lambda item: -item[1][0])[:FILES]:
        yield f"{seconds:8.1f} {processor:8.1f} {file}"
    yield from unproven(phases)


def unproven(phases: list[Phase]) -> Iterator[str]:
    """A line for each reason why tests were skipped, if any were."""
    reasons = Counter(phase.lacking for phase in phases if phase.lacking)
    if reasons:
        yield "Not proven here:"
    for reason, count in reasons.most_common():
        yield f"{count:6} test{'s' if count > 1 else ' '} {reason}"
