"""A sandbox without walls, for the honest sources that tests write themselves: it runs suites and
calls where it stands.
"""

import gc
import json
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from selfeng.core.files import File
from selfeng.core.http import Network
from selfeng.core.verdict import (
    Execution,
    Raised,
    Returned,
    SandboxJob,
    SandboxStatus,
    TestResult,
    Verdict,
    Version,
)


class HonestSandbox:
    """A `Sandbox`; suites are plain functions named `test_*`."""

    def __init__(self) -> None:
        self.suites = 0
        """How many were run, each version counted."""

    async def status(self) -> SandboxStatus:
        return SandboxStatus(available=True, backend="honest", detail="a test double")

    async def verify(self, job: SandboxJob, on_test: Callable[[TestResult], None]) -> Verdict:
        verdict = self._run(job, job.code, whole=True)
        for result in verdict.tests:
            on_test(result)
        return verdict

    async def verify_versions(
        self, job: SandboxJob, versions: Sequence[Version], timeout: float | None = None
    ) -> tuple[Verdict, ...]:
        return tuple(self._run(job, v.code, whole=v.whole) for v in versions)

    async def execute(
        self,
        job: SandboxJob,
        arguments: Mapping[str, Any],
        files: Sequence[File] = (),
        network: Network | None = None,
    ) -> Execution:
        gc.disable()  # what a timer of the tool's raises in a finalizer would be lost
        try:
            value = _module(job.code)[job.name](**arguments)
        except Exception as error:  # noqa: BLE001 - whatever a tool raises is its outcome
            return Raised(type_name=type(error).__name__, message=str(error))
        finally:
            gc.enable()
        return Returned(type_name=type(value).__name__, text=repr(value), data=_json(value))

    def _run(self, job: SandboxJob, code: str, *, whole: bool) -> Verdict:
        self.suites += 1
        results = []
        suite = _module(job.tests, {job.name: _module(code)})
        for test in [t for t in suite if t.startswith("test_")]:
            try:
                suite[test]()
            except Exception as error:  # noqa: BLE001 - whatever a test raises is its outcome
                results.append(
                    TestResult(
                        test=test,
                        outcome="failed",
                        seconds=0.0,
                        message=f"{type(error).__name__}: {error}",
                    )
                )
                if not whole:
                    break
            else:
                results.append(TestResult(test=test, outcome="passed", seconds=0.0))
        return Verdict(passed=all(r.outcome == "passed" for r in results), tests=tuple(results))


def _module(source: str, modules: Mapping[str, Mapping[str, Any]] | None = None) -> dict[str, Any]:
    def imported(name: str, *rest: Any) -> Any:
        if modules and name in modules:
            return types.SimpleNamespace(**modules[name])
        return __import__(name, *rest)

    space: dict[str, Any] = {
        "__builtins__": {**vars(__import__("builtins")), "__import__": imported}
    }
    exec(compile(source, "module", "exec"), space)
    return space


def _json(value: Any) -> str | None:
    try:
        return json.dumps(value)
    except TypeError:
        return None
