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
from types import CodeType, ModuleType
from typing import Any

import pytest
from _pytest.assertion.rewrite import rewrite_asserts

from . import report
from .child import end
from .failures import describe, shorten
from .frames import Channel, Message
from .missing import missing_package
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
    pytest.main([*_OPTIONS], plugins=[plugin])  # it does not return, unless pytest gives up before its session has begun
    plugin.finish()


def _rehearse() -> None:
    """Run a small suite, so that what pytest loads and prepares when it is first needed is there before the job."""
    here, there = socket.socketpair()
    with here, there:
        Channel(there).send({"name": "", "tests": _REHEARSAL})
        Channel(there).send({"go": True})
        pytest.main([*_OPTIONS], plugins=[_Run(lambda prepare: (Channel(here), Channel(here)))])
    for name in ("", "test_"):
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

    def __init__(self, wait: Callable[[Callable[[str], None]], Channels]) -> None:
        """`wait` returns when the job is about to come; it may let a suite be compiled before that."""
        self._wait = wait
        self._results: dict[str, Message] = {}
        self._filename = ""
        self._source = ""
        self._compiled: CodeType | None = None
        self._unfit: Exception | None = None
        self._link: ToolLink | None = None
        self._stop_early = False

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.pluginmanager.unregister(name="terminalreporter")

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        gc.collect()
        gc.freeze()  # pytest collects garbage at its end; what is here now need not be looked at
        self._config = session.config
        self._control, calls = self._wait(self._compile)
        job = self._control.receive()
        if job is None or calls is None:
            raise pytest.exit.Exception("no job")
        link = ToolLink(calls)
        self._link = None if job["name"] == "" else link
        self._stop_early = job.get("stop_early", False)
        sys.modules[job["name"]] = ProxyModule(job["name"], link)
        self._compile(f"{job['name']}\n{job['tests']}")
        if self._control.receive() is None:  # the tool is not ready yet, or never will be
            raise pytest.exit.Exception("no tool")
        try:
            module = self._load()
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

    def _compile(self, text: str) -> None:
        """Compile the suite below the tool's name, if that has not been done; what is wrong with it is said when it is loaded."""
        name, _, source = text.partition("\n")
        if (f"test_{name}.py", source) == (self._filename, self._source):
            return
        self._filename, self._source = f"test_{name}.py", source
        self._compiled = self._unfit = None
        gc.disable()
        try:
            tree = ast.parse(source, self._filename)
            rewrite_asserts(tree, source.encode(), self._filename, self._config)
            self._compiled = compile(tree, self._filename, "exec", dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self._unfit = error
        finally:
            gc.enable()

    def _load(self) -> ModuleType:
        module = ModuleType(self._filename.removesuffix(".py"))
        module.__file__ = self._filename
        linecache.cache[self._filename] = (len(self._source), None, self._source.splitlines(keepends=True), self._filename)
        if self._compiled is None:
            raise self._unfit or RuntimeError("the suite was not compiled")
        sys.modules[module.__name__] = module
        exec(self._compiled, module.__dict__)  # noqa: S102 - this process exists to run it
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
        result = self._results.pop(nodeid)
        self._control.send({"result": result})
        if self._stop_early and result["outcome"] != "passed":
            self.finish()

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._problem(f"The run was interrupted by {excinfo.typename}.")

    def pytest_internalerror(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        self._problem(f"pytest itself failed: {excinfo.typename}: {shorten(str(excinfo.value))}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        self.finish()

    def finish(self) -> None:
        """Tell that all has been told, and end: what pytest would still do nobody will see."""
        if self._link is not None:
            self._control.send({"finished": True, "tool_gone": self._link.gone})
            end(0)

    def _problem(self, problem: str) -> None:
        self._control.send({"problem": problem})


def _unsaid(excinfo: object, style: object = None) -> str:
    """In place of pytest's own account of a failure, which takes as long as the test and goes nowhere: see `describe`."""
    return "failed"


def _name(nodeid: str) -> str:
    """The test without the file that it pretends to come from."""
    return nodeid.partition("::")[2]


def _hint(error: BaseException, name: str) -> str:
    if isinstance(error, ModuleNotFoundError) and missing_package("tests", error):
        return f" (The tool's module is called `{name}`.)"
    return ""
