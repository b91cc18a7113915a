"""The attached stream of a Docker container: the engine sends stdout and stderr over one socket, in pieces with headers."""

import socket
import ssl
import struct
from typing import Any

from selfeng.sandboxes.bridge import bridged
from selfeng.sandboxes.stream import Stream
from selfeng.sandboxes.worker.frames import Message

_STDOUT = 1
_HEADER = struct.Struct(">BxxxL")


class Attached(Stream):
    """The stream of one container."""

    def __init__(self, raw: Any) -> None:
        """`raw` is what the SDK hands out: a file-like object around the socket, or a socket of TLS or SSH."""
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
        response = getattr(self._raw, "_response", None)
        if response is not None:
            response.close()
