"""The meter of one model call: what it used, by the server's count or else by an estimate, charged to the turn's budget."""

import json
import math
from typing import Any

from openai.types import CompletionUsage

from src.llm.exchange import Question
from src.llm.pricing import Tokens

_CHARACTERS_PER_TOKEN = 4


class Meter:
    """Counts one call while it runs."""

    def __init__(self, question: Question) -> None:
        self._input = _estimate(json.dumps([*question.messages, dict(question.options)], default=str, ensure_ascii=False))
        self._written = ""
        self._usage: CompletionUsage | None = None

    def count(self, text: str) -> None:
        """Text that arrived, for the estimate."""
        self._written += text

    def report(self, usage: Any) -> None:
        """The server's own count; the last one holds."""
        if isinstance(usage, CompletionUsage):
            self._usage = usage

    @property
    def started(self) -> bool:
        """Whether anything of the reply has come."""
        return bool(self._written) or self._usage is not None

    @property
    def tokens(self) -> Tokens:
        usage = self._usage
        if usage is None:
            return Tokens(input=self._input, output=_estimate(self._written))
        details = usage.prompt_tokens_details
        return Tokens(
            input=usage.prompt_tokens or self._input,
            output=usage.completion_tokens or _estimate(self._written),
            cached=(details.cached_tokens or 0) if details else 0,
        )


def _estimate(text: str) -> int:
    return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)
