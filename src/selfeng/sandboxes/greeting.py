"""The greeting of a container that has just been started: it is told what it is for, and says that it is ready."""

import time
from collections.abc import Callable

from selfeng.core.errors import SandboxFailed
from selfeng.sandboxes.backend import Mode
from selfeng.sandboxes.stream import Stream
from selfeng.sandboxes.worker.frames import BrokenStream, Message, pack

_START = 30.0
"""Seconds until a container must be ready for its job."""


def greet(stream: Stream, mode: Mode, go_on: Callable[[], None], remedy: str) -> None:
    """Tell the container its mode and wait until it is ready; `go_on` raises when nobody wants it any more.

    Raises:
        SandboxFailed: it did not get ready; `remedy` is what to do.
        OSError: the connection broke.
    """
    sock = stream.socket
    sock.sendall(pack({"mode": mode}))
    deadline = time.monotonic() + _START
    frames: list[Message] = []
    try:
        while not frames and (left := deadline - time.monotonic()) > 0:
            sock.settimeout(left)
            data = sock.recv(65536)
            go_on()
            if not data:
                break
            frames = stream.take(data)
    except BrokenStream as broken:
        raise SandboxFailed(f"the sandbox's container speaks another language: {broken}", remedy) from broken
    if [f.get("kind") for f in frames] != ["ready"]:
        told = "; ".join(str(f.get("detail", "")) for f in frames)
        raise SandboxFailed(f"the sandbox's container did not get ready: {told or stream.said()}", remedy)
    sock.setblocking(False)
