"""The usage and cost of a model call: a meter that counts it, and the price lists of
`genai-prices`.
"""

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from selfeng.core.value import Value
from selfeng.models.chat import ChatRequest

if TYPE_CHECKING:
    from openai.types import CompletionUsage


class Tokens(Value):
    """What one model call used."""

    input: int
    output: int
    cached: int = 0
    """The part of `input` that the server had cached."""


Price = Callable[[str, str, Tokens], float | None]
"""From model name, base URL and tokens to US dollars; None if the price is unknown."""


def listed_price(model: str, base_url: str, tokens: Tokens) -> float | None:
    """The list price at the provider behind `base_url`; None for local and unknown servers and
    unknown models.
    """
    from genai_prices import Usage, calc_price

    try:
        usage = Usage(
            input_tokens=tokens.input,
            output_tokens=tokens.output,
            cache_read_tokens=min(tokens.cached, tokens.input),
        )
        return float(calc_price(usage, model_ref=model, provider_api_url=base_url).total_price)
    except (LookupError, ValueError):
        return None


def free(_model: str, _base_url: str, _tokens: Tokens) -> float:
    """The price of the offline model."""
    return 0.0


_CHARACTERS_PER_TOKEN = 4


class Meter:
    """Counts one call while it runs."""

    def __init__(self, request: ChatRequest) -> None:
        prompt_json = json.dumps(
            [*request.messages, dict(request.options)], default=str, ensure_ascii=False
        )
        self._prompt_length, self._reply_length, self._unreported = len(prompt_json), 0, 0
        self._usage: CompletionUsage | None = None

    def count(self, text: str) -> None:
        """Count text that arrived, for the estimate."""
        self._reply_length += len(text)
        self._unreported += len(text)

    def report(self, usage: "CompletionUsage | None") -> None:
        """Take the server's own count so far; the last one is used."""
        if usage:
            self._usage, self._unreported = usage, 0

    @property
    def started(self) -> bool:
        """Whether any part of the reply has come."""
        return self._reply_length > 0 or self._usage is not None

    @property
    def reported(self) -> bool:
        """Whether the server has counted."""
        return self._usage is not None

    @property
    def tokens(self) -> Tokens:
        output_tokens = _reported(self._usage, "completion_tokens")
        details = getattr(self._usage, "prompt_tokens_details", None)
        return Tokens(
            input=_reported(self._usage, "prompt_tokens") or _estimate(self._prompt_length),
            output=output_tokens + _estimate(self._unreported)
            if output_tokens
            else _estimate(self._reply_length),
            cached=_reported(details, "cached_tokens"),
        )


def _reported(counts: object, name: str) -> int:
    """The SDK does not validate what a server sends: a count may be missing or of any type."""
    count = getattr(counts, name, None)
    return count if isinstance(count, int) and count > 0 else 0


def _estimate(characters: int) -> int:
    return math.ceil(characters / _CHARACTERS_PER_TOKEN)
