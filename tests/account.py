"""What tests cost, and what they could not prove on this machine: written down as they run, and told in the end.

Where `--account FILE` is given, every phase of a test is a line of JSON in it, for whoever ran several sessions (see `__main__`);
else the session itself tells.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

SLOWEST, FILES = 20, 15


@dataclass(frozen=True)
class Phase:
    """A test's setup, call or teardown; `lacking` is why it was skipped, "" if it was not."""

    test: str
    when: str
    seconds: float
    lacking: str = ""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--account", type=Path, help="write down what each test costs, and why one was skipped, instead of telling it")


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Account(config.getoption("account")), "account-of-this-session")


class _Account:
    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._phases: list[Phase] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not report.when:
            return
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) and not hasattr(report, "wasxfail") else ""
        self._phases.append(Phase(report.nodeid, report.when, report.duration, reason.removeprefix("Skipped: ")))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> Iterator[None]:
        yield
        if self._file:
            self._file.write_text("".join(json.dumps(asdict(phase)) + "\n" for phase in self._phases), encoding="utf-8")
            return
        for line in unproven(self._phases):
            terminalreporter.write_line(line)


def read(files: Iterable[Path]) -> list[Phase]:
    """The phases of all sessions; one that ended early has written none."""
    return [Phase(**json.loads(line)) for file in files if file.exists() for line in file.read_text(encoding="utf-8").splitlines()]


def told(phases: list[Phase]) -> Iterator[str]:
    """What took longest, by test and by file, and at the very end what was not proven."""
    yield f"The {SLOWEST} slowest, in seconds:"
    for phase in sorted(phases, key=lambda phase: -phase.seconds)[:SLOWEST]:
        yield f"{phase.seconds:8.1f} {phase.when:8} {phase.test}"
    files: Counter[str] = Counter()
    for phase in phases:
        files[phase.test.partition("::")[0]] += phase.seconds  # type: ignore[assignment]
    yield f"The {FILES} dearest files of {len(files)}, in seconds of {files.total():.0f}:"
    for file, seconds in files.most_common(FILES):
        yield f"{seconds:8.1f} {file}"
    yield from unproven(phases)


def unproven(phases: list[Phase]) -> Iterator[str]:
    """A line for each reason why tests were skipped, if any were."""
    reasons = Counter(phase.lacking for phase in phases if phase.lacking)
    if reasons:
        yield "Not proven here:"
    for reason, count in reasons.most_common():
        yield f"{count:6} test{'s' if count > 1 else ' '} {reason}"
