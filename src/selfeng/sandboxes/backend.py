"""Backend: the protocol of what makes a sandbox's containers. Docker and bubblewrap implement it;
the jobs are the same.
"""

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from selfeng.core.errors import SandboxError, SandboxFailed, SandboxUnavailable
from selfeng.core.files import LargeContent
from selfeng.core.verdict import SandboxStatus
from selfeng.sandboxes.container_stream import JudgeStream

Mode = Literal["verify", "compare", "execute"]

LIFETIME = 3600.0
"""Seconds after which a container takes no more jobs."""

SHARED_KERNEL = "Containers share the kernel of their host: a hole in it is a hole in the sandbox."


class HungUp(Exception):
    """`hang_up` was called while the container was starting."""


class Container(ABC):
    """A place in which the worker waits for jobs; `start` it before anything else. All methods
    block, except `hang_up`.
    """

    def __init__(self, mode: Mode) -> None:
        self.born = time.monotonic()
        self.edition = ""
        """The id of the image or environment that it was made from; only containers of the newest
        edition take jobs.
        """
        self._mode = mode
        self._lock = threading.Lock()
        self._hung_up = False
        self._stream: JudgeStream | None = None
        self._inside: set[str] = set()

    @property
    def stream(self) -> JudgeStream:
        """The stream to the judge inside."""
        assert self._stream is not None, "the container has not been started"
        return self._stream

    def start(self) -> None:
        """Make the container ready for a job; remove it on failure.

        Raises:
            SandboxUnavailable: the backend can't be used, or what containers are made from is gone.
            SandboxFailed: the backend or the worker failed.
            HungUp: `hang_up` was called.
        """
        self._check_wanted()
        try:
            self._bring_up()
        except BaseException:
            unwanted = self._hung_up
            self.discard()
            if unwanted:
                raise HungUp from None
            raise

    def hang_up(self) -> None:
        """Stop everything in the container; it must still be discarded. From any thread at any
        time.
        """
        with self._lock:
            self._hung_up = True
            stream = self._stream
        if stream is not None:
            stream.hang_up()

    def hold(self, contents: Sequence[LargeContent]) -> None:
        """Make large contents readable in the container, as `job_folder.INPUTS` says, each once.

        Raises:
            SandboxUnavailable, SandboxFailed: that failed, or the backend can't do it.
        """
        if new := {c.sha256: c for c in contents if c.sha256 not in self._inside}:
            self._bring_in(tuple(new.values()))
            self._inside |= new.keys()

    def _bring_in(self, contents: Sequence[LargeContent]) -> None:
        """Add contents that are not in the container. Raises as `hold` does."""
        raise SandboxFailed(
            "this sandbox takes no files above 1 MB", "send less, or set SANDBOX to another one"
        )

    @abstractmethod
    def discard(self) -> None:
        """End the container and remove it."""

    @abstractmethod
    def how_it_ended(self) -> str:
        """Why its stream ended before the report. A container that died is the code's doing; any
        other cause raises.

        Raises:
            SandboxUnavailable: the backend no longer answers.
            SandboxFailed: the container was ended from outside.
        """

    @abstractmethod
    def check(self) -> None:
        """Check that the backend still answers, when a job's time is up and the judge has not
        reported it. Raises: SandboxUnavailable.
        """

    @abstractmethod
    def _bring_up(self) -> None:
        """Make the container and wait until the judge is ready. Raises as `start` does."""

    def _check_wanted(self) -> None:
        if self._hung_up:
            raise HungUp


class Backend(Protocol):
    """Makes containers. Blocking and thread-safe; the constructor connects to nothing."""

    @property
    def name(self) -> str: ...

    @property
    def places(self) -> int:
        """The machines that a job can run on; a job that was lost with one of them is run again."""

    def container(self, mode: Mode, group: str) -> Container:
        """A container that has not been started; `group` names its sandbox.

        Raises:
            SandboxUnavailable: no backend works.
        """

    def probe(self) -> None:
        """Check that it works on this machine. Raises: SandboxUnavailable."""

    def status(self) -> SandboxStatus:
        """Whether code can run, within two seconds. Never raises."""

    def is_current(self) -> bool:
        """Whether `prepare` has nothing to do. Raises: SandboxUnavailable."""

    def prepare(self, on_line: Callable[[str], None]) -> None:
        """Build what containers are made from; `on_line` gets lines for people.

        Raises:
            SandboxUnavailable: the backend can't be used, or lacks what it needs.
            SandboxFailed: a step of the build failed.
        """

    def reap(self) -> int:
        """Remove what dead servers left; returns the number of containers. Raises:
        SandboxUnavailable.
        """

    def close(self) -> None:
        """Close connections."""


def unavailable(name: str, error: SandboxError) -> SandboxStatus:
    """The status of a backend that can't be used."""
    reason = f"{error.message}; {error.remedy}" if error.remedy else error.message
    return SandboxStatus(available=False, backend=name, detail=f"Code can't run: {reason}.")


class AutoBackend:
    """The first of several backends that works, chosen when one is needed."""

    def __init__(self, backends: Sequence[Backend]) -> None:
        """`backends` in order of preference."""
        self._backends = backends
        self._working_backend: Backend | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._working_backend.name if self._working_backend else "none"

    @property
    def places(self) -> int:
        return self._working_backend.places if self._working_backend else 1

    def container(self, mode: Mode, group: str) -> Container:
        return self.choose().container(mode, group)

    def probe(self) -> None:
        self.choose().probe()

    def status(self) -> SandboxStatus:
        try:
            return self.choose().status()
        except SandboxUnavailable as error:
            return unavailable("none", error)

    def is_current(self) -> bool:
        return self.choose().is_current()

    def prepare(self, on_line: Callable[[str], None]) -> None:
        self.choose().prepare(on_line)

    def reap(self) -> int:
        return self.choose().reap()

    def close(self) -> None:
        for backend in self._backends:
            backend.close()

    def choose(self) -> Backend:
        """The backend that works.

        Raises:
            SandboxUnavailable: none does; the message and the remedy cover each of them.
        """
        with self._lock:
            problems = []
            for backend in () if self._working_backend else self._backends:
                try:
                    backend.probe()
                except SandboxError as error:
                    problems.append(error)
                else:
                    self._working_backend = backend
                    break
            if self._working_backend is None:
                remedies = "; or ".join(error.remedy for error in problems if error.remedy)
                raise SandboxUnavailable("; ".join(error.message for error in problems), remedies)
            return self._working_backend
