"""JudgeStream: the frames of the judge in a container, and its stderr for error messages."""

import contextlib
import select
import socket
import ssl
import struct
import threading
from typing import Any

from sandbox_worker.frames import FrameReader, Message

_NOISE = 4000


class JudgeStream:
    """A socket to the judge and what was read from it. Stderr arrives separately, see `hear`."""

    def __init__(self, sock: socket.socket) -> None:
        """`sock` is a plain socket, which the event loop can wait on; it blocks only until the
        container is ready.
        """
        self.socket = sock
        self.unread: list[Message] = []
        """Frames that have arrived and are not yet processed."""
        self._reader = FrameReader(exact=True)
        self._noise = bytearray()
        self._lock = threading.Lock()
        self._closed = False

    @property
    def alive(self) -> bool:
        """Whether the other side has not closed the stream, and nothing is unread."""
        try:
            self.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def take(self, data: bytes) -> list[Message]:
        """The frames that `data` completes.

        Raises:
            BrokenStream: the judge's stdout does not consist of frames.
        """
        return self._reader.feed(data)

    def hear(self, noise: bytes) -> None:
        """Keep the start of what arrived on stderr."""
        self._noise += noise[: max(0, _NOISE - len(self._noise))]

    def diagnostics(self) -> str:
        return self._noise.decode("utf-8", "replace").strip()[-1000:] or "it said nothing"

    def hang_up(self) -> None:
        """Close both directions: the judge ends itself, and readers here see the end of the stream.
        Callable from any thread.
        """
        with self._lock:
            if not self._closed:
                with contextlib.suppress(OSError):  # it is closed already
                    self.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.hang_up()
        with self._lock:
            self._closed = True
        self.socket.close()


_STDOUT = 1
_HEADER = struct.Struct(">BxxxL")


class DockerStream(JudgeStream):
    def __init__(self, raw: Any) -> None:
        """`raw`, from the SDK: a file-like object around the socket, or a TLS or SSH socket."""
        self._raw = raw
        sock = getattr(raw, "_sock", raw)
        plain = isinstance(sock, socket.socket) and not isinstance(sock, ssl.SSLSocket)
        super().__init__(sock if plain else bridged(sock))
        self._pieces = bytearray()

    def take(self, data: bytes) -> list[Message]:
        self._pieces += data
        out = bytearray()
        while len(self._pieces) >= _HEADER.size:
            stream, length = _HEADER.unpack_from(self._pieces)
            end = _HEADER.size + length
            if len(self._pieces) < end:
                break
            payload = self._pieces[_HEADER.size : end]
            if stream == _STDOUT:
                out += payload
            else:
                self.hear(bytes(payload))
            del self._pieces[:end]
        return super().take(bytes(out))

    def close(self) -> None:
        super().close()
        if (response := getattr(self._raw, "_response", None)) is not None:
            response.close()


_AT_ONCE = 64 * 1024
_WAIT = (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError)


def bridged(far: Any) -> socket.socket:
    """A plain socket that a thread connects to `far`; the thread ends when either side does."""
    near, inner = socket.socketpair()
    far.setblocking(False)
    threading.Thread(target=_carry, args=(far, inner), name="sandbox-bridge", daemon=True).start()
    return near


def _carry(far: Any, inner: socket.socket) -> None:
    """Carry bytes both ways in one thread: two threads must not use a TLS connection at once."""
    outgoing = bytearray()
    with inner:
        while True:
            reading = [far] if outgoing else [far, inner]
            ready, _, _ = select.select(reading, [far] if outgoing else [], [])
            try:
                if not _carry_in(far, inner):
                    return
                if inner in ready:
                    if not (data := inner.recv(_AT_ONCE)):
                        return
                    outgoing += data
                if outgoing:
                    del outgoing[: far.send(outgoing)]
            except _WAIT:
                continue
            except OSError:
                return


def _carry_in(far: Any, inner: socket.socket) -> bool:
    """Pass on what has arrived, also what TLS hides from `select`; False at the end."""
    try:
        while True:
            if not (data := far.recv(_AT_ONCE)):
                return False
            inner.sendall(data)
    except _WAIT:
        return True
