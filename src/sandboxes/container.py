"""One job in one container: made, fed through its attached stdin, heard on its stdout, and removed by id whatever happens.

Blocking; each job has a thread of its own, and `cancel` may be called from any other.
"""

import contextlib
import logging
import socket
import struct
import threading
import time
from typing import Any

from docker.errors import ImageNotFound, NotFound  # type: ignore[import-not-found]

from src.core.errors import SandboxError, SandboxFailed, SandboxUnavailable
from src.sandboxes import ownership
from src.sandboxes.account import Account
from src.sandboxes.engine import Engine, translated
from src.sandboxes.image import BUILD, SandboxImage
from src.sandboxes.limits import ContainerLimits, container_options
from src.sandboxes.worker.frames import BrokenStream, FrameReader, Message, pack

_START = 30.0
"""Seconds until a container must be ready for its job."""
_GRACE = 2.0
"""Seconds that the host waits after the worker's own clock has run out."""
_STDOUT = 1
_HEADER = struct.Struct(">BxxxL")
_NOISE = 4000
_REMOVED = "the container was removed by someone else in the middle of its job"

log = logging.getLogger(__name__)


class Cancelled(Exception):
    """`cancel` was called while the job ran."""


class ContainerJob:
    """A container for one job of the given mode, `verify` or `execute`."""

    def __init__(self, engine: Engine, image: SandboxImage, mode: str, limits: ContainerLimits) -> None:
        self._engine = engine
        self._image = image
        self._mode = mode
        self._limits = limits
        self._lock = threading.Lock()
        self._socket: Any = None
        self._cancelled = False
        self._reader = FrameReader()
        self._stream = bytearray()
        self._noise = bytearray()

    def run(self, job: Message, account: Account) -> str | None:
        """Do the job and fill the account; why it was ended early, None if it came to its own end.

        Raises:
            SandboxUnavailable: no engine answers, or the image is gone.
            SandboxFailed: the engine or the worker broke.
            Cancelled: `cancel` was called.
        """
        self._go_on()
        container = self._create(float(job["timeout"]))
        try:
            with translated("running a container"):
                self._go_on()
                self._attach(container.id)
                container.start()
                return self._converse(container, job, account)
        finally:
            self._discard(container.id)

    def cancel(self) -> None:
        """End the job soon; `run` removes the container and raises Cancelled."""
        with self._lock:
            self._cancelled = True
        self._hang_up()

    def _go_on(self) -> None:
        if self._cancelled:
            raise Cancelled

    def _create(self, timeout: float) -> Any:
        image_id = self._image.id()
        labels = ownership.labels(lifetime=timeout + _START + 60)
        with translated("creating a container"):
            try:
                return self._engine.client().containers.create(
                    image_id, command=[self._mode], labels=labels, **container_options(self._limits)
                )
            except ImageNotFound as error:
                raise SandboxUnavailable("the sandbox's image was removed", BUILD) from error

    def _attach(self, container_id: str) -> None:
        """Attach before the start: nothing is said yet, so nothing hides in a buffer above the socket."""
        raw = self._engine.client().api.attach_socket(container_id, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1})
        with self._lock:
            self._socket = raw
        self._go_on()

    def _hang_up(self) -> None:
        with self._lock:
            raw = self._socket
        if raw is not None:
            with contextlib.suppress(OSError):
                _plain(raw).shutdown(socket.SHUT_RDWR)

    def _discard(self, container_id: str) -> None:
        self._hang_up()
        try:
            self._engine.remove(container_id)
        except SandboxError:
            log.exception("container %s is left behind; it is removed when a server starts", container_id[:12])
        response = getattr(self._socket, "_response", None)
        if response is not None:
            response.close()

    def _converse(self, container: Any, job: Message, account: Account) -> str | None:
        timeout = float(job["timeout"])
        self._await_ready()
        _plain(self._socket).sendall(pack(job))
        deadline = time.monotonic() + timeout + _GRACE
        try:
            while not account.complete:
                frames = self._next_frames(deadline)
                if frames is None:
                    return f"It ran longer than {timeout:g} seconds."
                if not frames:
                    return self._how_it_ended(container)
                for frame in frames:
                    account.take(frame)
        except BrokenStream as broken:
            account.disorder = str(broken)
        return None

    def _await_ready(self) -> None:
        try:
            frames = self._next_frames(time.monotonic() + _START)
        except BrokenStream as broken:
            raise SandboxFailed(f"the sandbox's container speaks another language: {broken}", BUILD) from broken
        if not frames or frames[0].get("kind") != "ready" or len(frames) > 1:
            raise SandboxFailed(f"the sandbox's container did not get ready: {self._said()}", BUILD)

    def _next_frames(self, deadline: float) -> list[Message] | None:
        """The frames that come next; [] at the end of the stream, None when the deadline has passed."""
        while (left := deadline - time.monotonic()) > 0:
            sock = _plain(self._socket)
            sock.settimeout(left)
            try:
                data = sock.recv(65536)
            except TimeoutError:
                break
            except OSError:
                data = b""
            self._go_on()
            if not data:
                return []
            if frames := self._reader.feed(self._stdout(data)):
                return frames
        return None

    def _stdout(self, data: bytes) -> bytes:
        """What the container wrote to stdout, out of the engine's stream of both; stderr is kept for error messages."""
        self._stream += data
        out = bytearray()
        while len(self._stream) >= _HEADER.size:
            stream, length = _HEADER.unpack_from(self._stream)
            end = _HEADER.size + length
            if len(self._stream) < end:
                break
            payload = self._stream[_HEADER.size : end]
            if stream == _STDOUT:
                out += payload
            else:
                self._noise += payload[: _NOISE - len(self._noise)]
            del self._stream[:end]
        return bytes(out)

    def _how_it_ended(self, container: Any) -> str:
        """Why the stream ended before the report: the container's own death is the code's doing, anything else is not."""
        try:
            container.wait(timeout=_GRACE)
            container.reload()
        except NotFound as error:
            raise SandboxFailed(_REMOVED) from error
        state = container.attrs["State"]
        if state.get("Status") in ("removing", "dead"):
            raise SandboxFailed(_REMOVED)
        if state.get("OOMKilled"):
            return f"It needed more memory than the {self._limits.memory_mb} MB that the sandbox gives."
        log.warning("a sandbox container ended early with exit code %s: %s", state.get("ExitCode"), self._said())
        return f"The sandbox was ended from inside before its report was complete (exit code {state.get('ExitCode')})."

    def _said(self) -> str:
        return self._noise.decode("utf-8", "replace").strip()[-1000:] or "it said nothing"


def _plain(raw: Any) -> Any:
    """The socket itself: for Unix and TCP the SDK hands out a file-like object around it."""
    return getattr(raw, "_sock", raw)
