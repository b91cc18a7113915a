"""Files that pages have sent but no request has taken yet, for a few minutes: large ones in their
folder, a few others in memory.
"""

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from selfeng.core.errors import AgentError, ResourceNotFound
from selfeng.core.files import File

_MOST = 64 * 1024 * 1024
_MOST_OF_ONE = 48 * 1024 * 1024
_LASTS = 300.0
"""Seconds that a file waits; a page sends its request right after its files."""
_WEIGHT = 500
"""Bytes that a file takes in addition to its content."""
_LARGE_FILES = 1024 * 1024 * 1024
"""Bytes of large files that one person may have waiting."""


class UploadsFull(AgentError):
    """Too much is waiting already."""

    kind = "request"
    cause = "full"


@dataclass(frozen=True)
class _Waiting:
    owner: str
    file: File
    since: float

    @property
    def size(self) -> int:
        large = self.file.large.size * _MOST_OF_ONE // _LARGE_FILES if self.file.large else 0
        return len(self.file.content) + large + _WEIGHT


class Uploads:
    """Safe to use from several threads."""

    def __init__(
        self,
        most: int = _MOST,
        most_of_one: int = _MOST_OF_ONE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`most`: bytes in memory of all people together; `most_of_one`: of each. A large file
        counts for a part of its size.
        """
        self._most, self._most_of_one, self._clock = most, most_of_one, clock
        self._lock = threading.Lock()
        self._waiting: dict[str, _Waiting] = {}

    def put(self, owner: str, file: File) -> str:
        """Keep a file until its request comes; returns the id that the request names it by. An
        owner's new files replace older ones.

        Raises:
            UploadsFull: too much of other people is waiting.
        """
        new, upload = _Waiting(owner, file, self._clock()), secrets.token_hex(16)
        with self._lock:
            entries = {
                key: entry
                for key, entry in self._waiting.items()
                if new.since - entry.since < _LASTS
            }
            own_entries = {key: entry for key, entry in entries.items() if entry.owner == owner}
            while own_entries and _size(own_entries) + new.size > self._most_of_one:
                oldest = next(iter(own_entries))
                del own_entries[oldest], entries[oldest]
            self._waiting = entries
            if _size(entries) + new.size > self._most:
                raise UploadsFull(
                    "too many files of other people are waiting",
                    "wait a minute, then send it again",
                )
            self._waiting[upload] = new
        return upload

    def take(self, owner: str, uploads: Sequence[str]) -> tuple[File, ...]:
        """The files with these ids, which are removed.

        Raises:
            ResourceNotFound: a file is missing, or belongs to another owner.
        """
        with self._lock:
            own_uploads = [
                upload
                for upload in dict.fromkeys(uploads)
                if upload in self._waiting and self._waiting[upload].owner == owner
            ]
            files = tuple(self._waiting.pop(upload).file for upload in own_uploads)
        if len(files) < len(uploads):
            raise ResourceNotFound("a file of this request has not arrived", "send it again")
        return files


def _size(waiting: dict[str, _Waiting]) -> int:
    return sum(entry.size for entry in waiting.values())
