"""A backend: where the containers of a sandbox come from. Docker is one, bubblewrap another; the jobs are the same."""

from collections.abc import Callable
from typing import Literal, Protocol

from selfeng.core.errors import SandboxError
from selfeng.core.verdict import SandboxStatus
from selfeng.sandboxes.stream import Stream

Mode = Literal["verify", "execute"]

LIFETIME = 3600.0
"""Seconds after which a container takes no more jobs."""

SHARED_KERNEL = "Containers share the kernel of their host: a hole in it is a hole in the sandbox."


class HungUp(Exception):
    """`hang_up` was called while the container started."""


class Container(Protocol):
    """A place in which the worker waits for jobs; `start` it before anything else. Blocking, but for `hang_up`."""

    jobs: int
    """How many it has been given."""

    @property
    def edition(self) -> str:
        """What it was made from; containers of another edition than the newest take no more jobs."""
        ...

    @property
    def born(self) -> float:
        """On the monotonic clock."""
        ...

    @property
    def stream(self) -> Stream:
        """The way to the judge inside."""
        ...

    def start(self) -> None:
        """Have the container ready for a job, or removed.

        Raises:
            SandboxUnavailable: the backend can't be used, or what containers are made from is gone.
            SandboxFailed: backend or worker broke.
            HungUp: `hang_up` was called.
        """
        ...

    def hang_up(self) -> None:
        """End whatever goes on in the container; it must still be discarded. From any thread at any time."""
        ...

    def discard(self) -> None:
        """End the container and remove it."""
        ...

    def how_it_ended(self) -> str:
        """Why its stream ended before the report: the container's own death is the code's doing, anything else is not.

        Raises:
            SandboxUnavailable: the backend has gone.
            SandboxFailed: somebody else ended the container.
        """
        ...

    def check(self) -> None:
        """See whether the backend still answers: the time for a job is up, and the judge has not said so. Raises: SandboxUnavailable."""
        ...


class Backend(Protocol):
    """Makes containers. Blocking; making one connects to nothing, and its methods may be called from several threads."""

    @property
    def name(self) -> str: ...

    def container(self, mode: Mode, group: str) -> Container:
        """A container that has not been started; `group` names the sandbox that it belongs to."""
        ...

    def probe(self) -> None:
        """See whether it works on this machine. Raises: SandboxUnavailable."""
        ...

    def status(self) -> SandboxStatus:
        """Whether code can run, within two seconds. Raises nothing."""
        ...

    def is_current(self) -> bool:
        """Whether `prepare` has nothing to do. Raises: SandboxUnavailable."""
        ...

    def prepare(self, on_line: Callable[[str], None]) -> None:
        """Build what containers are made from; `on_line` gets lines for people.

        Raises:
            SandboxUnavailable: the backend can't be used, or lacks what it needs.
            SandboxFailed: a step of the build failed.
        """
        ...

    def reap(self) -> int:
        """Remove what dead servers left behind; how many containers that were. Raises: SandboxUnavailable."""
        ...

    def close(self) -> None:
        """Give back connections."""
        ...


def unavailable(name: str, error: SandboxError) -> SandboxStatus:
    """The status of a backend that can't be used."""
    reason = f"{error.message}; {error.remedy}" if error.remedy else error.message
    return SandboxStatus(available=False, backend=name, detail=f"Code can't run: {reason}.")
