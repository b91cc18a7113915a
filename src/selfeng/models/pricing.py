"""The usage and cost of a model call: a meter that counts it, and the price lists of
`genai-prices`.
"""

import json
import math
import re
from collections.abc import Callable

from selfeng.models.chat import ChatRequest, Tokens

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
_COUNTS = re.compile(r'"(prompt|input|completion|output|cached)_tokens":\s*(\d+)')
_PICTURE = re.compile(r'"data:image/[^"]*"')
_PICTURE_TOKENS = 1000
"""The approximate number of tokens that models count for a picture of the size that they are shown.
"""
_TEXT = re.compile(r'"(?:content|delta|arguments)":\s*"((?:[^"\\]|\\.)*)"')


class Meter:
    """Counts one call while it runs; all counts are 0 where it uses no tokens."""

    def __init__(self, request: ChatRequest, *, uses_tokens: bool = True) -> None:
        schemas = {
            schema.name: schema.model_dump()
            for schema in (*request.functions, request.reply)
            if schema
        }
        prompt_json = json.dumps([*request.messages, schemas], default=str, ensure_ascii=False)
        pictures = _PICTURE.findall(prompt_json)
        extra = len(pictures) * _PICTURE_TOKENS * _CHARACTERS_PER_TOKEN - sum(map(len, pictures))
        self._prompt_length, self._uses_tokens = len(prompt_json) + extra, uses_tokens
        self._reply_length = self._unreported = 0
        self._usage: Tokens | None = None

    def count(self, text: str) -> None:
        """Count text that arrived, for the estimate."""
        self._reply_length += len(text)
        self._unreported += len(text)

    def report(self, usage: Tokens | None) -> None:
        """Take the server's own count so far; the last one is used."""
        if usage:
            self._usage, self._unreported = usage, 0

    def take(self, reply: bytes) -> None:
        """Count a whole reply of either API, which may be a stream of events."""
        text = reply.decode(errors="replace")
        self.count("".join(_TEXT.findall(text)))
        if counts := {name: int(number) for name, number in _COUNTS.findall(text)}:
            read = counts.get("prompt") or counts.get("input") or 0
            wrote = counts.get("completion") or counts.get("output") or 0
            self.report(Tokens(input=read, output=wrote, cached=counts.get("cached", 0)))

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
        usage = self._usage or Tokens(input=0, output=0)
        if not self._uses_tokens:
            return Tokens(input=0, output=0)
        return Tokens(
            input=usage.input or estimate(self._prompt_length),
            output=usage.output + estimate(self._unreported)
            if usage.output
            else estimate(self._reply_length),
            cached=usage.cached,
        )


def estimate(characters: int) -> int:
    """The tokens of a text of this length, about."""
    return math.ceil(characters / _CHARACTERS_PER_TOKEN)
