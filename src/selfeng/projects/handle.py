"""The handle of a build that runs in a thread of its own, for programs without an event loop, or with one of their own."""

import asyncio
import threading
from contextlib import suppress

from selfeng.bootstrap import open_builder
from selfeng.core.events import BudgetSpent
from selfeng.core.project_events import PROJECT_FINAL, AnyProjectEvent, ProjectStopped
from selfeng.projects.consent import Consent, Given
from selfeng.projects.loop import STOPPED, Emit, Final
from selfeng.projects.options import ProjectOptions
from selfeng.projects.terminal import ProjectTerminal, TerminalConsent


class RunningBuild:
    """A build that was begun; `wait` for it, or `stop` it."""

    def __init__(self, options: ProjectOptions, on_event: Emit | None, consent: Consent | None) -> None:
        """What is not given is done at the terminal: events are shown as `log_level` has it, and step mode asks there."""
        self._options = options
        self._on_event = on_event or ProjectTerminal(options.log_level).show
        self._consent = consent or (Given() if options.log_level == "quiet" and not options.step else TerminalConsent())
        self._last: Final | None = None
        self._error: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._begun = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"build of {options.project_name}", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    def wait(self, timeout: float | None = None) -> Final:
        """The last event of the build.

        Raises:
            TimeoutError: it still runs after so many seconds.
            AgentError: it could not begin.
        """
        self._thread.join(timeout)
        if self._thread.is_alive():
            raise TimeoutError(f"the build of {self._options.project_name} runs on after {timeout:g} seconds")
        if self._error is not None:
            raise self._error
        return self._last or ProjectStopped(project=self._options.project_name, reason=STOPPED)

    def stop(self) -> None:
        """End the build and everything that it runs; it can be gone on with. From any thread, any number of times."""
        self._begun.wait()
        assert self._loop is not None
        assert self._task is not None
        with suppress(RuntimeError):  # the loop is closed: the build has ended
            self._loop.call_soon_threadsafe(self._task.cancel)

    def _run(self) -> None:
        try:
            asyncio.run(self._build())
        except asyncio.CancelledError:
            pass
        except Exception as error:  # noqa: BLE001 - the thread's edge: `wait` raises it
            self._error = error
        finally:
            self._begun.set()

    async def _build(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._begun.set()
        async with open_builder(self._options) as builder:
            await builder.build(self._options, self._hear, self._consent)

    def _hear(self, event: AnyProjectEvent | BudgetSpent) -> None:
        if isinstance(event, PROJECT_FINAL):
            self._last = event
        self._on_event(event)
