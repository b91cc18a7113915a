"""Prices, from the lists that come with `genai-prices`."""

import pytest

from selfeng.models.pricing import Tokens, free, listed_price

OPENAI = "https://api.openai.com/v1"
TOKENS = Tokens(input=1_000_000, output=1_000_000)


def test_a_listed_model_has_its_price() -> None:
    assert listed_price("gpt-4", OPENAI, TOKENS) == 90.0


def test_cached_input_costs_less() -> None:
    cached = TOKENS.model_copy(update={"cached": 1_000_000})
    assert (listed_price("gpt-4o", OPENAI, TOKENS), listed_price("gpt-4o", OPENAI, cached)) == (
        12.5,
        11.25,
    )


def test_a_server_that_reports_more_cached_than_read_has_a_price_all_the_same() -> None:
    assert (
        listed_price("gpt-4o", OPENAI, Tokens(input=1_000_000, output=0, cached=2_000_000)) == 1.25
    )


@pytest.mark.parametrize(
    ("model", "base_url"),
    [
        ("a-model-of-tomorrow", OPENAI),
        ("gpt-4", "http://127.0.0.1:11434/v1"),
        ("llama3.2", "http://localhost:1234/v1"),
        ("gpt-4", "https://example.org/v1"),
    ],
)
def test_unknown_models_and_servers_have_no_price(model: str, base_url: str) -> None:
    assert listed_price(model, base_url, TOKENS) is None


def test_the_offline_model_is_free() -> None:
    assert free("offline", "http://127.0.0.1:1/v1", TOKENS) == 0.0
