"""The meter of one model call: what it used, by the server's count or else by an estimate, charged to the turn's budget."""

import json
import math

from openai.types import CompletionUsage

from selfeng.llm.exchange import Question
from selfeng.llm.pricing import Tokens

_CHARACTERS_PER_TOKEN = 4


class Meter:
    """Counts one call while it runs."""

    def __init__(self, question: Question) -> None:
        asked = json.dumps([*question.messages, dict(question.options)], default=str, ensure_ascii=False)
        self._asked, self._written, self._unreported = len(asked), 0, 0
        self._usage: CompletionUsage | None = None

    def count(self, text: str) -> None:
        """Text that arrived, for the estimate."""
        self._written += len(text)
        self._unreported += len(text)

    def report(self, usage: CompletionUsage | None) -> None:
        """The server's own count of all that was counted so far; the last one holds."""
        if usage:
            self._usage, self._unreported = usage, 0

    @property
    def started(self) -> bool:
        """Whether anything of the reply has come."""
        return self._written > 0 or self._usage is not None

    @property
    def tokens(self) -> Tokens:
        written = _reported(self._usage, "completion_tokens")
        details = getattr(self._usage, "prompt_tokens_details", None)
        return Tokens(
            input=_reported(self._usage, "prompt_tokens") or _estimate(self._asked),
            output=written + _estimate(self._unreported) if written else _estimate(self._written),
            cached=_reported(details, "cached_tokens"),
        )


def _reported(counts: object, name: str) -> int:
    """The SDK does not validate what a server sends: a count may be missing or anything."""
    count = getattr(counts, name, None)
    return count if isinstance(count, int) and count > 0 else 0


def _estimate(characters: int) -> int:
    return math.ceil(characters / _CHARACTERS_PER_TOKEN)
