"""Files that pages have sent and that no request has taken yet: in memory, a few at a time, the oldest go first."""

import secrets
import threading
from collections.abc import Sequence

from src.core.errors import RequestError
from src.core.files import File

_WAITING = 64 * 1024 * 1024
"""Bytes that wait at most, of everybody together; a page sends its request right after its files."""


class Uploads:
    """Safe to use from several threads."""

    def __init__(self, most: int = _WAITING) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._waiting: dict[tuple[str, str], File] = {}

    def put(self, owner: str, file: File) -> str:
        """Keep a file until its request comes; the id by which that names it."""
        upload = secrets.token_hex(16)
        with self._lock:
            self._waiting[owner, upload] = file
            size = sum(len(f.content) for f in self._waiting.values())
            for key in list(self._waiting)[:-1]:
                if size <= self._most:
                    break
                size -= len(self._waiting.pop(key).content)
        return upload

    def take(self, owner: str, uploads: Sequence[str]) -> tuple[File, ...]:
        """The files of these ids, which are gone then.

        Raises:
            RequestError: one is not here, or not this owner's.
        """
        with self._lock:
            found = [self._waiting.pop((owner, upload), None) for upload in uploads]
        files = tuple(file for file in found if file)
        if len(files) < len(found):
            raise RequestError("a file of this request has not arrived", "send it again")
        return files
