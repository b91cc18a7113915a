"""The process of the tests: pytest, run on a suite that exists in memory only.

pytest is imported and configured before the job arrives, and waits for it in its collection. What it finds goes to the judge as
messages: `collected`, `started` and `result` per test, `problem`, and `finished` at the end.
"""

import ast
import linecache
import sys
from collections.abc import Generator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pytest.assertion.rewrite import rewrite_asserts

from . import report
from .failures import describe, shorten
from .frames import Channel, Message
from .proxy import ProxyModule, ToolLink

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


def run(control: Channel, calls: Channel) -> None:
    """Run the suite that arrives on `control` against the tool behind `calls`."""
    code = pytest.main([*_OPTIONS], plugins=[_Run(control, ToolLink(calls))])
    control.send({"finished": int(code)})


class _Suite(pytest.Module):
    """The module of tests, made from its source."""

    suite: ModuleType

    def _getobj(self) -> ModuleType:
        return self.suite


class _Run:
    """The plugin that gives pytest the suite and reports what becomes of it."""

    def __init__(self, control: Channel, link: ToolLink) -> None:
        self._control = control
        self._link = link
        self._results: dict[str, Message] = {}
        self._filename = ""

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.unregister(name="terminalreporter")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        self._control.send({"ready": True})
        job = self._control.receive()
        if job is None:
            raise pytest.exit.Exception("no job")
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

    def _problem(self, problem: str) -> None:
        self._control.send({"problem": problem})


def _name(nodeid: str) -> str:
    """The test without the file that it pretends to come from."""
    return nodeid.partition("::")[2]


def _hint(error: BaseException, name: str) -> str:
    if isinstance(error, ModuleNotFoundError) and report.missing_package("tests", error):
        return f" (The tool's module is called `{name}`.)"
    return ""
