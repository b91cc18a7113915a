"""The stream of a container: frames of the judge from its stdout, and what it says on stderr for error messages."""

import contextlib
import socket
import threading

from selfeng.sandboxes.worker.frames import FrameReader, Message

_NOISE = 4000


class Stream:
    """A socket to the judge and what has come through it so far. Its stderr comes another way, see `hear`."""

    def __init__(self, sock: socket.socket) -> None:
        """`sock` is a plain socket, which the event loop can wait for."""
        self.socket = sock
        self.unread: list[Message] = []
        """Frames that have arrived and concern nobody yet."""
        self._reader = FrameReader(exact=True)
        self._noise = bytearray()
        self._lock = threading.Lock()
        self._closed = False

    @property
    def alive(self) -> bool:
        """Whether the other side has neither closed the stream nor said anything that nobody has read."""
        try:
            self.socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def take(self, data: bytes) -> list[Message]:
        """The frames that `data` completes.

        Raises:
            BrokenStream: the judge's stdout holds no frames.
        """
        return self._reader.feed(data)

    def hear(self, noise: bytes) -> None:
        """Keep the beginning of what came on stderr."""
        self._noise += noise[: max(0, _NOISE - len(self._noise))]

    def said(self) -> str:
        return self._noise.decode("utf-8", "replace").strip()[-1000:] or "it said nothing"

    def hang_up(self) -> None:
        """Close both directions: the judge ends itself, and whoever waits for it here reads the end. From any thread."""
        with self._lock:
            if not self._closed:
                with contextlib.suppress(OSError):  # it is closed already
                    self.socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.hang_up()
        with self._lock:
            self._closed = True
        self.socket.close()
