"""The usage and cost of a model call: a meter that counts it, and the price lists of
`genai-prices`.
"""

import json
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


_CHARACTERS_PER_TOKEN = 4  # of an estimate, which is rounded up


class Meter:
    """Counts one call while it runs; all counts are 0 where it uses no tokens."""

    def __init__(self, request: ChatRequest, *, uses_tokens: bool = True) -> None:
        schemas = {
            schema.name: schema.model_dump()
            for schema in (*request.functions, request.reply)
            if schema
        }
        prompt_json = json.dumps([*request.messages, schemas], default=str, ensure_ascii=False)
        self._prompt_length, self._uses_tokens = len(prompt_json), uses_tokens
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
        return (
            Tokens(
                input=usage.input or -(-self._prompt_length // _CHARACTERS_PER_TOKEN),
                output=usage.output
                - (-(self._unreported if usage.output else self._reply_length))
                // _CHARACTERS_PER_TOKEN,
                cached=usage.cached,
            )
            if self._uses_tokens
            else Tokens(input=0, output=0)
        )
