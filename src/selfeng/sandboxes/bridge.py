"""A bridge from a socket that the event loop can't wait for (TLS, SSH) to a plain one."""

import select
import socket
import ssl
import threading
from typing import Any

_AT_ONCE = 64 * 1024
_WAIT = (ssl.SSLWantReadError, ssl.SSLWantWriteError, BlockingIOError)


def bridged(far: Any) -> socket.socket:
    """A plain socket whose other end a thread connects with `far`; the thread ends when either side does."""
    near, inner = socket.socketpair()
    far.setblocking(False)
    threading.Thread(target=_carry, args=(far, inner), name="sandbox-bridge", daemon=True).start()
    return near


def _carry(far: Any, inner: socket.socket) -> None:
    """Carry bytes both ways, one thread for both: a TLS connection must not be used by two at once."""
    outgoing = bytearray()
    with inner:
        while True:
            reading = [far] if outgoing else [far, inner]
            ready, _, _ = select.select(reading, [far] if outgoing else [], [])
            try:
                if not _carry_in(far, inner):
                    return
                if inner in ready:
                    data = inner.recv(_AT_ONCE)
                    if not data:
                        return
                    outgoing += data
                if outgoing:
                    del outgoing[: far.send(outgoing)]
            except _WAIT:
                continue
            except OSError:
                return


def _carry_in(far: Any, inner: socket.socket) -> bool:
    """Hand on what has arrived, also what the TLS layer holds back from `select`; False at the end."""
    try:
        while True:
            data = far.recv(_AT_ONCE)
            if not data:
                return False
            inner.sendall(data)
    except _WAIT:
        return True
