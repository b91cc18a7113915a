"""A bounded reply: what a model's server sends is read up to a limit, whatever it says of its
length and however it is packed.
"""

import re
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx2

from selfeng.core.files import MB

LARGEST = 16 * MB
"""Bytes of a whole reply, unpacked, and of one event of a streamed one."""
_EVENT_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_ZIPPED = ("gzip", "x-gzip", "deflate")


class ReplyTooLarge(ValueError):
    """A server sends more than the limit; the message is not a whole sentence."""

    def __init__(self, largest: int = LARGEST) -> None:
        super().__init__(f"it is larger than {largest // MB} MB")


class BoundedReply(httpx2.AsyncByteStream, httpx2.SyncByteStream):
    """The content of a response, unpacked: httpx2 itself unpacks without a limit.

    Raises: ReplyTooLarge, and nothing more is read.
    """

    def __init__(
        self, response: httpx2.Response, largest: int = LARGEST, *, by_event: bool = True
    ) -> None:
        """`by_event`: the limit is that of each event, if the response is a stream of them."""
        self._stream: Any = response.stream
        self._largest = self._remaining = largest
        self._events = by_event and "event-stream" in response.headers.get("content-type", "")
        zipped = response.headers.pop("content-encoding", "") in _ZIPPED
        self._unpacked = zlib.decompressobj(32 + zlib.MAX_WBITS).decompress if zipped else None

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._stream:
            yield self._counted(piece)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            yield self._counted(piece)

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _counted(self, piece: bytes) -> bytes:
        received = len(piece)  # what follows the end of packed data unpacks to nothing
        if self._unpacked:
            try:
                piece = self._unpacked(piece, self._remaining + 1)
            except zlib.error as error:
                raise httpx2.DecodingError(str(error)) from error
        if self._events and _EVENT_END.search(piece):
            self._remaining = self._largest
        self._remaining -= max(received, len(piece))
        if self._remaining < 0:
            raise ReplyTooLarge(self._largest)
        return piece


async def bound(response: httpx2.Response) -> None:
    """Bound a response: a hook for an asynchronous client."""
    response.stream = BoundedReply(response)
