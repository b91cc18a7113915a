"""The process of the tests: pytest, run on a suite that exists only in memory.

pytest is imported and configured, and has run a small suite, before the job arrives. The judge gets
its messages: `collected` in the order in which tests run, `result` per test, `problem`, and
`finished` at the end.
"""

import ast
import contextlib
import copy
import linecache
import random
import socket
import sys
import tempfile
import warnings
from collections import deque
from collections.abc import Generator
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any

import pytest
from _pytest.python import pytest_pyfunc_call
from _pytest.runner import runtestprotocol

from . import codec, report, tool_process
from .asserts import EXPLAIN, Asserts, describe, failed_lines, shorten
from .audit import Audit
from .frames import Channel, Message
from .replay import Ended, Recording, Replays
from .report import missing_package
from .tool_proxy import ProxyModule, ToolLink
from .zygote import ForkServer

_LEFT_OUT = (
    "cacheprovider",
    "faulthandler",
    "junitxml",
    "pastebin",
    "doctest",
    "threadexception",
    "unraisableexception",
)
"""The last two turn exceptions that can't be caught into warnings, which would not be shown."""
_LOGGING = "logging-plugin"
_OPTIONS = (
    "--noconftest",
    "--disable-plugin-autoload",
    "--import-mode=importlib",
    "--capture=no",
    "--config-file=/dev/null",
    "--rootdir=/",
    *(part for name in _LEFT_OUT for part in ("-p", f"no:{name}")),
)


def run(fork_server: ForkServer) -> None:
    """Run the suite that arrives for a process of this zygote, with the tool it can call."""
    plugin = _Run(fork_server)
    # As in use, the names of folders do not say that a test made them.
    folder = f"--basetemp=/tmp/{next(tempfile._get_candidate_names())}"  # type: ignore[attr-defined]
    pytest.main([*_OPTIONS, folder], plugins=[plugin])
    plugin.finish(last=True)  # a test has ended the run


_REHEARSAL = """
import pytest
from rehearsal import tool
@pytest.mark.parametrize("x", [[1], [2]])
def test_a(x):
    assert tool(x) == {"a": 1.0}, "message"
class TestB:
    def test_b(self):
        with pytest.raises(IndexError, match="range"): tool(x=[])
    def test_c(self, capsys, caplog):
        assert tool([3]) == {"a": 2}
"""
"""Calls the tool for the answers of `tool_process.rehearse`."""


class _Suite(pytest.Module):
    """The module of tests, made from its source."""

    suite: ModuleType

    def _getobj(self) -> ModuleType:
        return self.suite


class _Run:
    """The plugin that gives pytest the suite and reports its results."""

    def __init__(self, fork_server: ForkServer) -> None:
        self._fork_server = fork_server
        self._results: dict[str, Message] = {}
        self._filename = ""
        self._code: tuple[str, CodeType] = "", compile("", "", "exec")
        """The suite that was last compiled."""
        self._link: ToolLink | None = None
        self._busy = False
        self._recording: Recording | None = None
        self._failed = ""
        """The test that failed last."""
        self._failure: pytest.ExceptionInfo[BaseException] | None = None
        """Of a replay."""
        self._audit = Audit(tuple(f"{folder}/" for folder in sys.path))

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        self._asserts = Asserts(config)
        config.pluginmanager.unregister(name="terminalreporter")

    @pytest.fixture
    def tmp_path(self, tmp_path_factory: pytest.TempPathFactory) -> Path:
        """Replaces pytest's own, whose folders are named after the test, and so reveal the values
        that it expects. Replays give the same names again.
        """
        name = next(tempfile._get_candidate_names())  # type: ignore[attr-defined]
        return tmp_path_factory.mktemp(name, numbered=False)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self) -> bool:
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._rehearse(session)
        self._control, calls = self._fork_server.wait()
        assert calls is not None
        self._calls = calls
        self._audit.install()
        self._do_jobs(session)
        return True

    def _rehearse(self, session: pytest.Session) -> None:
        """Do a small job, so that what is prepared on first use is ready before the real one."""
        judge, control = socket.socketpair()
        tool, calls = socket.socketpair()
        with judge, control, tool, calls:
            for message in (
                {"name": "rehearsal", "tests": _REHEARSAL, "names": ["tool"], "public": ["tool"]},
                {"go": True},
            ):
                Channel(judge).send(message)
            for reply in tool_process.rehearse():
                Channel(tool).send(reply)
            judge.shutdown(socket.SHUT_WR)
            self._control, self._calls = Channel(control), Channel(calls)
            self._do_jobs(session)
        sys.__stdout__.flush()  # type: ignore[union-attr]
        for name in ("rehearsal", "test_rehearsal"):
            del sys.modules[name]
        del linecache.cache["test_rehearsal.py"]

    def _do_jobs(self, session: pytest.Session) -> None:
        """Do jobs until there are no more: one, or versions of one tool. Only pytest's state lasts
        from one to the next, not the suite's.
        """
        while (job := self._control.receive()) is not None:
            session.items, self._link, self._busy, self._recording = [], None, True, None
            if self._collect(session, job):
                session.items = _in_order(session.items, job.get("order"))
                if job.get("stop_early"):  # it is likely to fail again
                    session.items.sort(key=lambda item: item.nodeid != self._failed)
                self._control.send({"collected": [_name(item.nodeid) for item in session.items]})
                self._run(session, job.get("stop_early", False))
                if self._recording and not self._stopped:
                    self._replay(session, job)
            self.finish()

    def _replay(self, session: pytest.Session, job: Message) -> None:
        assert self._link
        assert self._recording
        recording, self._recording = self._recording, None
        report = Replays(self._suite, self._link, recording, job["replay"] == "thorough").report()
        self._control.send({"replayed": report})

    def _collect(self, session: pytest.Session, job: Message) -> bool:
        """Load the suite once its tool is ready, and find its tests; whether that succeeded."""
        self._filename = f"test_{job['name']}.py"
        if "caplog" not in job["tests"] and session.config.pluginmanager.has_plugin(_LOGGING):
            session.config.pluginmanager.unregister(
                name=_LOGGING
            )  # it costs time in every test, and does nothing for these
        try:
            code = self._compiled(job["tests"])
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self._problem(report.load_problem("tests", error, self._filename))
            return False
        ready = self._control.receive()
        if ready is None or not ready["go"]:  # the tool can't be loaded; the judge reports it
            return False
        self._audit.begin(self._filename, code)
        self._link = ToolLink(self._calls)
        if job.get("replay"):
            session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
            self._recording = Recording(self._link)
            self._link.answer = self._recording.answer
        sys.modules[job["name"]] = ProxyModule(job["name"], self._link, job["names"], job["public"])
        try:
            self._load(job["tests"], session)
        except BaseException as error:  # noqa: BLE001 - whatever the suite does while it is loaded is an answer
            self._problem(
                report.load_problem("tests", error, self._filename) + _hint(error, job["name"])
            )
            return False
        if self._link.doubt:
            self._problem(f"While the suite was loaded, {self._link.doubt}")
        for item in session.items:
            item.repr_failure = item._repr_failure_py = _unsaid  # type: ignore[assignment, method-assign]
        session.testscollected = len(session.items)
        if job.get("replay"):
            self._suite = _Replayed(self, session, job)
        session.config.hook.pytest_collection_finish(session=session)
        return True

    def _compiled(self, source: str) -> CodeType:
        if self._code[0] != source:
            tree = ast.parse(source, self._filename)
            self._asserts.rewrite(tree)
            self._code = source, compile(tree, self._filename, "exec", dont_inherit=True)
        return self._code[1]

    def _load(self, source: str, session: pytest.Session) -> None:
        """Load the suite that was last compiled, and find its tests."""
        module = ModuleType(self._filename.removesuffix(".py"))
        module.__file__ = self._filename
        module.__dict__[EXPLAIN] = self._asserts.explain
        linecache.cache[self._filename] = (
            len(source),
            None,
            source.splitlines(keepends=True),
            self._filename,
        )
        sys.modules[module.__name__] = module
        exec(self._code[1], module.__dict__)  # noqa: S102 - this process exists to run it
        node = _Suite.from_parent(session, path=Path("/", self._filename))
        node.suite = module
        session.items = list(session.genitems(node))

    def _run(self, session: pytest.Session, stop_early: bool) -> None:
        self._stopped = False
        prepared = [item for item in session.items if not _is_plain(item)]
        followers = dict(zip(prepared, [*prepared[1:], None], strict=False))
        for item in session.items:
            if item in followers:
                item.config.hook.pytest_runtest_protocol(item=item, nextitem=followers[item])
            else:
                self._run_plain(item)
            if stop_early and self._stopped:
                session._setupstate.teardown_exact(None)
                return

    def _run_plain(self, item: pytest.Item) -> None:
        """Run a test that needs of pytest only its report of a failure, without pytest's phases."""
        self.pytest_runtest_logstart(item.nodeid)
        call = _call(item)
        if call.excinfo:
            item.ihook.pytest_runtest_makereport(item=item, call=call)
        else:
            result = self._results[item.nodeid]
            result["seconds"] = call.duration
            if self._link and self._link.doubt:
                result.update(outcome="failed", message=self._link.doubt)
        self.pytest_runtest_logfinish(item.nodeid)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, obj: object) -> list[Any] | None:
        """A tool called `test_...` is not a test where a suite imports it."""
        return [] if hasattr(obj, "_lent") else None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._problem("The tests can't be collected: " + shorten(str(report.longrepr)))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._audit.test = _name(nodeid)
        assert self._link is not None
        self._link.doubt = ""
        if self._recording:
            self._recording.begin(_name(nodeid))
        self._results[nodeid] = {
            "test": _name(nodeid),
            "outcome": "passed",
            "seconds": 0.0,
            "message": "",
        }

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        phase = yield
        result = self._results.get(item.nodeid)
        if result is None:  # a replay
            self._failure = self._failure or call.excinfo
            return phase
        result["seconds"] += phase.duration
        if result["outcome"] == "passed":
            outcome, message = self._outcome(phase, call)
            result.update(outcome=outcome, message=message)
        return phase

    def _outcome(self, phase: pytest.TestReport, call: pytest.CallInfo[None]) -> tuple[str, str]:
        if hasattr(phase, "wasxfail"):
            return "skipped", f"marked as expected to fail: {phase.wasxfail}"
        if phase.skipped:
            return "skipped", shorten(str(phase.longrepr[2])) if isinstance(
                phase.longrepr, tuple
            ) else "skipped"
        if phase.passed:
            doubt = self._link.doubt if self._link else ""
            return ("failed", doubt) if doubt else ("passed", "")
        message = (
            describe(call.excinfo, self._filename) if call.excinfo else shorten(str(phase.longrepr))
        )
        return ("failed" if phase.when == "call" else "error"), message

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        result = self._results.pop(nodeid)
        if result["outcome"] != "passed":
            self._stopped, self._failed = True, nodeid
        self._control.send({"result": result})

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._problem(f"The run was interrupted by {excinfo.typename}.")

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._problem(f"pytest itself failed: {excinfo.typename}: {shorten(str(excinfo.value))}")

    def finish(self, last: bool = False) -> None:
        """Report the end, unless that was done; `last`: this process can do no other job."""
        if not self._busy:
            return
        self._busy = False
        if self._audit.problem:
            self._problem(self._audit.problem)
        if self._link:
            self._link.leave()
        self._control.send(
            {
                "finished": True,
                "tool_gone": bool(self._link and self._link.is_gone),
                "last": last,
                **({"no_exchange": self._link.no_exchange} if self._link else {}),
            }
        )

    def _problem(self, problem: str) -> None:
        self._control.send({"problem": self._audit.problem or problem})


class _Replayed:
    """The suite of a job, whose tests can run again."""

    def __init__(self, run: _Run, session: pytest.Session, job: Message) -> None:
        self.source, self.function = job["tests"], job["name"]
        self._run, self._session = run, session
        self._keep()

    def tests(self) -> dict[str, frozenset[str]]:
        items = self._session.items
        return {_name(i.nodeid): frozenset(getattr(i, "fixturenames", ())) for i in items}

    def _keep(self) -> None:
        """Keep the values that tests share, as they are before the first run."""
        self._initial_values: list[tuple[Any, Any]] = []
        items = self._session.items
        spaces = [vars(item.module) for item in items[:1]]  # type: ignore[attr-defined]
        spaces += [vars(cls) for item in items if (cls := getattr(item, "cls", None))]
        spaces += [item.callspec.params for item in items if hasattr(item, "callspec")]
        for name, value in (pair for space in spaces for pair in list(space.items())):
            shared = isinstance(value, list | dict | set | bytearray | deque | tuple)
            if shared and not name.startswith("__"):
                with contextlib.suppress(Exception):  # it may hold what can't be copied
                    self._initial_values.append((value, copy.deepcopy(value)))

    def reload(self) -> None:
        self._run._load(self.source, self._session)
        self._initial_values = []

    def run(self, test: str, traced: bool = False) -> Ended:
        lines = set[int]()

        def line(frame: FrameType, event: str, arg: Any) -> Any:
            lines.add(frame.f_lineno)
            return line

        def enter(frame: FrameType, event: str, arg: Any) -> Any:
            return line if frame.f_code.co_filename == self._run._filename else None

        for value, initial_value in self._initial_values:
            codec.write_back(value, copy.deepcopy(initial_value))
        item = next(item for item in self._session.items if _name(item.nodeid) == test)
        sys.settrace(enter if traced else None)
        try:
            failure = self._failure(item)
        finally:
            sys.settrace(None)
        if failure is None:
            return Ended(not (self._run._link and self._run._link.doubt), lines=lines)
        at = failed_lines(failure.value, self._run._filename)
        return Ended(False, at[0] if at else 0, lines)

    def _failure(self, item: pytest.Item) -> pytest.ExceptionInfo[BaseException] | None:
        if _is_plain(item):
            return _call(item).excinfo
        self._run._failure = None
        item._initrequest()  # type: ignore[attr-defined]
        runtestprotocol(item, log=False, nextitem=None)
        return self._run._failure


def _is_plain(item: pytest.Item) -> bool:
    """Whether a test is a function without fixtures and marks, but for parameters of its own."""
    return (
        type(item) is pytest.Function
        and item.cls is None
        and set(item.fixturenames) <= set(_parameters(item))
        and all(
            mark.name == "parametrize" and not mark.kwargs.get("indirect")
            for mark in item.iter_markers()
        )
    )


def _parameters(item: pytest.Item) -> dict[str, Any]:
    return item.callspec.params if hasattr(item, "callspec") else {}


def _call(item: pytest.Item) -> pytest.CallInfo[Any]:
    """Call a plain test. Raises: what ends the whole run."""
    item.funcargs = _parameters(item)  # type: ignore[attr-defined]
    ends_run = (pytest.exit.Exception, KeyboardInterrupt)
    with warnings.catch_warnings(record=True):
        return pytest.CallInfo.from_call(
            lambda: pytest_pyfunc_call(item),  # type: ignore[arg-type]
            "call",
            ends_run,
        )


def _unsaid(excinfo: object, style: object = None) -> str:
    """Replaces pytest's own account of a failure, which is slow and not used: see `describe`."""
    return "failed"


def _in_order(items: list[pytest.Item], order: str | None) -> list[pytest.Item]:
    match order:
        case "reversed":
            return items[::-1]
        case "shuffled":
            return random.SystemRandom().sample(items, len(items))
        case _:
            return items


def _name(nodeid: str) -> str:
    """The test's name without the file that it seems to come from."""
    return nodeid.partition("::")[2]


def _hint(error: BaseException, name: str) -> str:
    if isinstance(error, ModuleNotFoundError) and missing_package("tests", error):
        return f" (The tool's module is called `{name}`.)"
    return ""
