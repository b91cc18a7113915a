"""DockerHosts: the backend of several Docker engines. A container starts on the one with the least
to do for its processors; one that does not answer is left out, and tried again.
"""

import logging
import os
import random
import threading
from collections.abc import Callable, Mapping, Sequence

from selfeng.core.errors import SandboxError, SandboxUnavailable
from selfeng.core.verdict import SandboxStatus
from selfeng.sandboxes.backend import Mode, unavailable
from selfeng.sandboxes.docker import DockerBackend, DockerContainer
from selfeng.sandboxes.docker_engine import AGAIN
from selfeng.sandboxes.docker_image import source_digest

log = logging.getLogger(__name__)

_LOOK = 3.0
"""Seconds from one look at a host to the next."""
_REMEDY = "start the engines that DOCKER_HOSTS names, or correct their addresses"
Making = Callable[[Mapping[str, str]], DockerBackend]
"""Makes the backend of the engine that these variables locate."""


class DockerHost:
    """One engine. A thread looks whether it answers, from the first use on until it is closed."""

    def __init__(self, address: str, make: Making) -> None:
        self.address = address
        self.backend = make({**os.environ, "DOCKER_HOST": address})
        self.problem: SandboxError | None = None
        """Why it is left out; None while it is used."""
        self.containers: set[HostedContainer] = set()
        """Those of this process that run on it, or are about to."""
        self._processors, self._other_containers = 1, 0
        self._thread = threading.Thread(target=self._watch, name="docker-host", daemon=True)
        self._closed = threading.Event()
        self._opening, self._lock = threading.Lock(), threading.Lock()

    @property
    def load(self) -> float:
        """Sandbox containers of all processes for each processor."""
        return (self._other_containers + len(self.containers)) / self._processors

    def open(self) -> None:
        """Connect and begin to watch it, the first time."""
        with self._opening:
            if self._thread.ident is None:
                self._look()
                self._thread.start()

    def leave_out(self, error: SandboxError) -> None:
        """Use it no more until it answers again, and end what runs there."""
        with self._lock:
            if self.problem is None:
                log.warning("the Docker engine at %s is left out: %s", self.address, error)
            self.problem, lost = error, tuple(self.containers)
        for container in lost:
            container.end_stream()

    def close(self) -> None:
        self._closed.set()
        if self._thread.ident is not None:
            self._thread.join(_LOOK)
        self.backend.close()

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK):
            self._look()

    def _look(self) -> None:
        try:
            self.backend.probe()
            if self.problem is not None:
                self._restore()
            self._processors, running = self.backend.load()
            self._other_containers = max(0, running - len(self.containers))
        except SandboxError as error:
            self.leave_out(error)
        except Exception as error:  # the edge of the thread
            log.exception("the Docker engine at %s can't be looked at", self.address)
            self.leave_out(SandboxUnavailable(f"{type(error).__name__}: {error}", _REMEDY))

    def _restore(self) -> None:
        """Use it again. Raises: SandboxError."""
        if not self.backend.is_current():
            self.backend.prepare(lambda line: log.info("%s: %s", self.address, line))
        self.problem = None  # from now on containers are removed at once
        self.backend.engine.remove_left()
        log.warning("the Docker engine at %s is used again", self.address)


class HostedContainer(DockerContainer):
    """A container on the first host that can start it."""

    def __init__(self, hosts: "DockerHosts", mode: Mode, group: str) -> None:
        self._hosts, self.host = hosts, hosts.least_loaded()
        backend = self.host.backend
        super().__init__(backend.engine, backend.image, mode, backend.options, group)
        self.host.containers.add(self)

    def discard(self) -> None:
        if self.host.problem is not None and self.id:  # asking it would take long
            self._engine.remove_later(self.id)
            self.id = ""
        super().discard()
        self.host.containers.discard(self)

    def end_stream(self) -> None:
        """Let its job see that it is over, as the host does not answer."""
        with self._lock:
            stream = self._stream
        if stream is not None:
            stream.hang_up()

    def how_it_ended(self) -> str:
        self._check_host()
        try:
            return super().how_it_ended()
        except SandboxUnavailable as error:
            self.host.leave_out(error)
            raise

    def check(self) -> None:
        self._check_host()
        try:
            super().check()
        except SandboxUnavailable as error:
            self.host.leave_out(error)
            raise

    def _bring_up(self) -> None:
        while True:
            try:
                super()._bring_up()
            except SandboxError as error:
                self.host.leave_out(error)
                self._check_wanted()
                self._move()
            else:
                self.edition = source_digest()  # each engine has built an image of its own
                return

    def _move(self) -> None:
        """Leave nothing of a failed start, and take another host. Raises: SandboxUnavailable."""
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()
        if self.id:
            self._engine.remove_later(self.id)
            self.id = ""
        self.host.containers.discard(self)
        self.host = self._hosts.least_loaded()
        backend = self.host.backend
        self._engine, self._image, self._options = backend.engine, backend.image, backend.options
        self.host.containers.add(self)

    def _check_host(self) -> None:
        """Raises: SandboxUnavailable: its host was left out meanwhile."""
        if (problem := self.host.problem) is not None:
            raise SandboxUnavailable(
                f"the Docker engine at {self.host.address} went away in the middle of the job: "
                f"{problem.message}",
                AGAIN,
            )


class DockerHosts:
    """A `Backend`."""

    name = "docker"

    def __init__(self, addresses: Sequence[str], make: Making) -> None:
        """`addresses` as those of DOCKER_HOST."""
        self.hosts = [DockerHost(address, make) for address in addresses]

    @property
    def places(self) -> int:
        return len(self.hosts)

    def least_loaded(self) -> DockerHost:
        """The host for the next container. Raises: SandboxUnavailable: none answers."""
        if not (used := self._used()):
            raise SandboxUnavailable(f"no Docker engine answers: {self._problems()}", _REMEDY)
        return min(random.sample(used, len(used)), key=lambda host: host.load)

    def container(self, mode: Mode, group: str) -> HostedContainer:
        return HostedContainer(self, mode, group)

    def probe(self) -> None:
        self.least_loaded()

    def status(self) -> SandboxStatus:
        try:
            status = self.least_loaded().backend.status()
        except SandboxError as error:
            return unavailable(self.name, error)
        used, all_ = len(self._used()), len(self.hosts)
        detail = f"{status.detail}, on {used} of {all_} hosts"
        left_out = f"; left out: {self._problems()}" if used < all_ else ""
        return status.model_copy(update={"detail": detail + left_out})

    def is_current(self) -> bool:
        self.least_loaded()
        return all(host.backend.is_current() for host in self._used())

    def prepare(self, on_line: Callable[[str], None]) -> None:
        """Build the image on every host that answers; one where that fails is left out."""
        self.least_loaded()
        for host in self._used():
            try:
                host.backend.prepare(on_line)
            except SandboxError as error:
                host.leave_out(error)
                on_line(f"{host.address} is left out: {error.message}")
        self.least_loaded()

    def reap(self) -> int:
        self.least_loaded()
        return sum(host.backend.reap() for host in self._used())

    def close(self) -> None:
        for host in self.hosts:
            host.close()

    def _used(self) -> list[DockerHost]:
        for host in self.hosts:
            host.open()
        return [host for host in self.hosts if host.problem is None]

    def _problems(self) -> str:
        return "; ".join(
            f"{host.address} ({host.problem.message})" for host in self.hosts if host.problem
        )
