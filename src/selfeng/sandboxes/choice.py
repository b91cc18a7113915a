"""The choice of a backend: the first that works on this machine. One that was chosen stays; a choice that failed is tried anew."""

import threading
import time
from collections.abc import Callable, Sequence

from selfeng.core.errors import SandboxError, SandboxUnavailable
from selfeng.core.verdict import SandboxStatus
from selfeng.sandboxes.backend import Backend, Container, HungUp, Mode, unavailable
from selfeng.sandboxes.stream import Stream


class Choice:
    """A backend that is one of several, as soon as it is needed."""

    def __init__(self, backends: Sequence[Backend]) -> None:
        """The best first."""
        self._backends = backends
        self._chosen: Backend | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._chosen.name if self._chosen else "none"

    def container(self, mode: Mode, group: str) -> Container:
        return self._chosen.container(mode, group) if self._chosen else _Deferred(self.choose, mode, group)

    def probe(self) -> None:
        self.choose()

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
            SandboxUnavailable: none does; says of each why, and what to do.
        """
        with self._lock:
            problems = []
            for backend in () if self._chosen else self._backends:
                try:
                    backend.probe()
                except SandboxError as error:
                    problems.append(error)
                else:
                    self._chosen = backend
                    break
            if self._chosen is None:
                remedies = "; or ".join(error.remedy for error in problems if error.remedy)
                raise SandboxUnavailable("; ".join(error.message for error in problems), remedies)
            return self._chosen


class _Deferred:
    """A container whose backend is chosen when it is started."""

    def __init__(self, choose: Callable[[], Backend], mode: Mode, group: str) -> None:
        self._choose = choose
        self._mode = mode
        self._group = group
        self._container: Container | None = None
        self._hung_up = False
        self._lock = threading.Lock()
        self.born = time.monotonic()
        self.jobs = 0

    @property
    def edition(self) -> str:
        return self._made.edition

    @property
    def stream(self) -> Stream:
        return self._made.stream

    @property
    def _made(self) -> Container:
        assert self._container is not None, "the container has not been started"
        return self._container

    def start(self) -> None:
        backend = self._choose()
        with self._lock:
            if self._hung_up:
                raise HungUp
            self._container = backend.container(self._mode, self._group)
        self._container.start()

    def hang_up(self) -> None:
        with self._lock:
            self._hung_up = True
            container = self._container
        if container is not None:
            container.hang_up()

    def discard(self) -> None:
        self.hang_up()
        if self._container is not None:
            self._container.discard()

    def how_it_ended(self) -> str:
        return self._made.how_it_ended()

    def check(self) -> None:
        self._made.check()
