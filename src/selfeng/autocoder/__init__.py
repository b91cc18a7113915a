"""Builds of projects for programs: `autocoder` runs one to its end, `start_autocoder` in its own
thread.
"""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from selfeng.autocoder.project_terminal import ProjectTerminal, TerminalConsent
from selfeng.core.events import BudgetSpent
from selfeng.core.project_events import PROJECT_FINAL, AnyProjectEvent, ProjectStopped
from selfeng.projects.acting import ProgramFunction
from selfeng.projects.consent import AutoApprove, Consent
from selfeng.projects.loop import STOPPED, Final, OnEvent
from selfeng.projects.options import ProjectOptions
from selfeng.projects.project_context import Context, compose_prompt
from selfeng.projects.state import ProjectStore, Restored

__all__ = [
    "Context",
    "ProgramFunction",
    "ProjectOptions",
    "RunningBuild",
    "autocoder",
    "compose_prompt",
    "restore",
    "start_autocoder",
]


def autocoder(
    options: Mapping[str, Any],
    *,
    on_event: OnEvent | None = None,
    consent: Consent | None = None,
    actions: Sequence[ProgramFunction] = (),
) -> Final:
    """Build a project, or continue it, to the end; the last event says how it went. `options` are
    those of `ProjectOptions`.

    `on_event` gets every event, in another thread, and `consent` is asked in step mode and for
    packages. By default the terminal shows the events and asks. `actions` are functions of the
    program that the model may choose too: `function(context, ...)`.

    Raises:
        AgentError: an option can't be used, or a part can't be opened; the message says which and
            what to do.
    """
    build = start_autocoder(options, on_event=on_event, consent=consent, actions=actions)
    try:
        return build.wait()
    except KeyboardInterrupt:
        build.stop()
        return build.wait()


def start_autocoder(
    options: Mapping[str, Any],
    *,
    on_event: OnEvent | None = None,
    consent: Consent | None = None,
    actions: Sequence[ProgramFunction] = (),
) -> "RunningBuild":
    """The same in a thread: the handle has `wait`, `stop`, `running` and `context`. Raises:
    RequestError: an option can't be used.
    """
    return RunningBuild(ProjectOptions.of(options), on_event, consent, actions)


def restore(options: Mapping[str, Any], number: int | None = None) -> Restored:
    """Make a project what it was at a backup, by default the newest; what is there now becomes the
    newest backup. Raises: AgentError: an option can't be used, or as `ProjectStore.restore`.
    """
    project_options = ProjectOptions.of(options)
    return ProjectStore(project_options.project_dir).restore(project_options.project_name, number)


class RunningBuild:
    """A build in its own thread; `wait` for it, or `stop` it."""

    def __init__(
        self,
        options: ProjectOptions,
        on_event: OnEvent | None,
        consent: Consent | None,
        actions: Sequence[ProgramFunction] = (),
    ) -> None:
        """By default the terminal shows the events, as `log_level` says, and asks in step mode."""
        self.context: Context | None = None
        """The context of the last choice of an action; None before the first."""
        self._options, self._actions = options, actions
        self._on_event = on_event or ProjectTerminal(options.log_level).show
        self._consent = consent or (
            AutoApprove()
            if options.log_level == "quiet" and not options.step
            else TerminalConsent()
        )
        self._last: Final | None = None
        self._error: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._start_event = threading.Event()
        self.thread = threading.Thread(
            target=self._run, name=f"build of {options.project_name}", daemon=True
        )
        self.thread.start()

    @property
    def running(self) -> bool:
        return self.thread.is_alive()

    def wait(self, timeout: float | None = None) -> Final:
        """The last event of the build.

        Raises:
            TimeoutError: it is still running after this many seconds.
            AgentError: it could not start.
        """
        self.thread.join(timeout)
        if self.thread.is_alive():
            raise TimeoutError(
                f"the build of {self._options.project_name} is still running after {timeout:g} "
                "seconds"
            )
        if self._error is not None:
            raise self._error
        return self._last or ProjectStopped(project=self._options.project_name, reason=STOPPED)

    def stop(self) -> None:
        """End the build and everything that it runs; another build can continue it. From any
        thread, any number of times.
        """
        self._start_event.wait()
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
            self._start_event.set()

    async def _build(self) -> None:
        from selfeng.bootstrap import (
            open_builder,
        )  # slow to import, and `selfeng --help` needs none of it

        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self._start_event.set()
        async with open_builder(self._options) as builder:
            await builder.build(
                self._options,
                self._hear,
                self._consent,
                actions=self._actions,
                on_context=self._know,
            )

    def _know(self, context: Context) -> None:
        self.context = context

    def _hear(self, event: AnyProjectEvent | BudgetSpent) -> None:
        if isinstance(event, PROJECT_FINAL):
            self._last = event
        self._on_event(event)
