"""Projects: folders of Python that a model builds towards a goal, step by step; `autocoder` is the door for programs."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from selfeng.core.events import BudgetSpent
from selfeng.core.project_events import AnyProjectEvent, ProjectFailed, ProjectFinished, ProjectStopped
from selfeng.projects.consent import Consent
from selfeng.projects.options import ProjectOptions

if TYPE_CHECKING:
    from selfeng.projects.handle import RunningBuild

OnEvent = Callable[[AnyProjectEvent | BudgetSpent], object]


def autocoder(
    options: Mapping[str, Any], *, on_event: OnEvent | None = None, consent: Consent | None = None
) -> ProjectFinished | ProjectFailed | ProjectStopped:
    """Build a project, or go on with it, to the end; the last event says how it went. `options` are those of `ProjectOptions`.

    `on_event` gets every event, in another thread, and `consent` is asked in step mode and for packages; the terminal has both where
    they are not given.

    Raises:
        AgentError: an option can't be used, or a part can't be opened; the message says which and what to do.
    """
    build = start_autocoder(options, on_event=on_event, consent=consent)
    try:
        return build.wait()
    except KeyboardInterrupt:
        build.stop()
        return build.wait()


def start_autocoder(options: Mapping[str, Any], *, on_event: OnEvent | None = None, consent: Consent | None = None) -> "RunningBuild":
    """The same in a thread: the handle has `wait`, `stop` and `running`. Raises: RequestError: an option can't be used."""
    from selfeng.projects.handle import RunningBuild  # it opens the composition root, which knows this package

    return RunningBuild(ProjectOptions.of(options), on_event, consent)


__all__ = ["ProjectOptions", "autocoder", "start_autocoder"]
