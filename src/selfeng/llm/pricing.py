"""The price of a model call, from the price lists that `genai-prices` carries; nothing is fetched."""

from collections.abc import Callable

from selfeng.core.value import Value


class Tokens(Value):
    """What one model call used."""

    input: int
    output: int
    cached: int = 0
    """The part of `input` that the server had cached."""


Price = Callable[[str, str, Tokens], float | None]
"""From model name, base URL and tokens to US dollars, or None where the price is not known."""


def listed_price(model: str, base_url: str, tokens: Tokens) -> float | None:
    """The list price at the provider behind `base_url`; None for local and unknown servers and unknown models."""
    from genai_prices import Usage, calc_price

    try:
        usage = Usage(input_tokens=tokens.input, output_tokens=tokens.output, cache_read_tokens=min(tokens.cached, tokens.input))
        return float(calc_price(usage, model_ref=model, provider_api_url=base_url).total_price)
    except (LookupError, ValueError):
        return None


def free(_model: str, _base_url: str, _tokens: Tokens) -> float:
    """The price of the offline model."""
    return 0.0
