"""The process of the tests: pytest, run on a suite that exists in memory only.

pytest is imported and configured before the job arrives, and waits for it in its collection. What it finds goes to the judge as
messages: `collected`, `started` and `result` per test, `problem`, and `finished` at the end.
"""

import ast
import gc
import linecache
import socket
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pytest.assertion.rewrite import rewrite_asserts

from . import report
from .failures import describe, shorten
from .frames import Channel, Message
from .proxy import ProxyModule, ToolLink
from .zygote import Channels, Nursery

_OPTIONS = (
    "--noconftest",
    "--disable-plugin-autoload",
    "--import-mode=importlib",
    "--capture=sys",
    "--config-file=/dev/null",
    "--rootdir=/",
    "--basetemp=/tmp/pytest",
    *(part for name in ("cacheprovider", "faulthandler", "junitxml", "pastebin", "doctest") for part in ("-p", f"no:{name}")),
)


def run(nursery: Nursery) -> None:
    """Run the suite that arrives for a process of this zygote, against the tool that it can call."""
    _rehearse()
    plugin = _Run(nursery.wait)
    pytest.main([*_OPTIONS], plugins=[plugin])
    plugin.finish()  # if pytest gave up before its session had begun


def _rehearse() -> None:
    """Run a small suite, so that what pytest loads and prepares when it is first needed is there before the job."""
    here, there = socket.socketpair()
    with here, there:
        Channel(there).send({"name": "rehearsal", "tests": _REHEARSAL})
        pytest.main([*_OPTIONS], plugins=[_Run(lambda: (Channel(here), Channel(here)))])
    for name in ("rehearsal", "test_rehearsal"):
        sys.modules.pop(name, None)
        linecache.cache.pop(f"{name}.py", None)


_REHEARSAL = """
import pytest
@pytest.mark.parametrize("n", [1, 2])
def test_a(n):
    with pytest.raises(ValueError, match="x"): raise ValueError("x")
    assert [n] == [n] and n in (1, 2), "message"
class TestB:
    def test_c(self, capsys): assert {"a": 1} == {"a": 2}
"""


class _Suite(pytest.Module):
    """The module of tests, made from its source."""

    suite: ModuleType

    def _getobj(self) -> ModuleType:
        return self.suite


class _Run:
    """The plugin that gives pytest the suite and reports what becomes of it."""

    def __init__(self, wait: Callable[[], Channels]) -> None:
        """`wait` returns when the job is about to come."""
        self._wait = wait
        self._results: dict[str, Message] = {}
        self._filename = ""
        self._finished = True

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.unregister(name="terminalreporter")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        gc.collect()
        gc.freeze()  # pytest collects garbage at its end; what is here now need not be looked at
        self._control, calls = self._wait()
        self._finished = False
        job = self._control.receive()
        if job is None or calls is None:
            raise pytest.exit.Exception("no job")
        self._link = ToolLink(calls)
        self._filename = f"test_{job['name']}.py"
        sys.modules[job["name"]] = ProxyModule(job["name"], self._link)
        try:
            module = self._load(session.config, job["tests"])
        except BaseException as error:  # noqa: BLE001 - whatever the suite does while it is loaded is an answer
            self._problem(report.load_problem("tests", error, self._filename) + _hint(error, job["name"]))
            return True
        node = _Suite.from_parent(session, path=Path("/", self._filename))
        node.suite = module
        session.items = list(session.genitems(node))
        for item in session.items:
            item.repr_failure = item._repr_failure_py = _unsaid  # type: ignore[assignment, method-assign]
        session.testscollected = len(session.items)
        session.config.hook.pytest_collection_finish(session=session)
        self._control.send({"collected": [_name(item.nodeid) for item in session.items]})
        return True

    def _load(self, config: pytest.Config, source: str) -> ModuleType:
        module = ModuleType(self._filename.removesuffix(".py"))
        module.__file__ = self._filename
        linecache.cache[self._filename] = (len(source), None, source.splitlines(keepends=True), self._filename)
        tree = ast.parse(source, self._filename)
        rewrite_asserts(tree, source.encode(), self._filename, config)
        code = compile(tree, self._filename, "exec", dont_inherit=True)
        sys.modules[module.__name__] = module
        exec(code, module.__dict__)  # noqa: S102 - this process exists to run it
        return module

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makeitem(self, obj: object) -> list[Any] | None:
        """A tool called `test_...` is no test where a suite imports it."""
        return [] if hasattr(obj, "_lent") else None

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._problem("The tests can't be collected: " + shorten(str(report.longrepr)))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._results[nodeid] = {"test": _name(nodeid), "outcome": "passed", "seconds": 0.0, "message": ""}
        self._control.send({"started": _name(nodeid)})

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        phase = yield
        result = self._results[item.nodeid]
        result["seconds"] += phase.duration
        if phase.when == "teardown":
            sys.__stdout__.write(phase.capstdout + phase.capstderr)  # type: ignore[union-attr]
        if result["outcome"] == "passed":
            outcome, message = self._outcome(phase, call)
            result.update(outcome=outcome, message=message)
        return phase

    def _outcome(self, phase: pytest.TestReport, call: pytest.CallInfo[None]) -> tuple[str, str]:
        if hasattr(phase, "wasxfail"):
            return "skipped", f"marked as expected to fail: {phase.wasxfail}"
        if phase.skipped:
            return "skipped", shorten(str(phase.longrepr[2])) if isinstance(phase.longrepr, tuple) else "skipped"
        if phase.passed:
            return "passed", ""
        message = describe(call.excinfo, self._filename) if call.excinfo else shorten(str(phase.longrepr))
        return ("failed" if phase.when == "call" else "error"), message

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._control.send({"result": self._results.pop(nodeid)})

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._problem(f"The run was interrupted by {excinfo.typename}.")

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._problem(f"pytest itself failed: {excinfo.typename}: {shorten(str(excinfo.value))}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self.finish()

    def finish(self) -> None:
        if not self._finished:
            self._finished = True
            self._control.send({"finished": True, "tool_gone": self._link.gone})

    def _problem(self, problem: str) -> None:
        self._control.send({"problem": problem})


def _unsaid(excinfo: object, style: object = None) -> str:
    """In place of pytest's own account of a failure, which takes as long as the test and goes nowhere: see `describe`."""
    return "failed"


def _name(nodeid: str) -> str:
    """The test without the file that it pretends to come from."""
    return nodeid.partition("::")[2]


def _hint(error: BaseException, name: str) -> str:
    if isinstance(error, ModuleNotFoundError) and report.missing_package("tests", error):
        return f" (The tool's module is called `{name}`.)"
    return ""
