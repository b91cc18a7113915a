"""The contract of every embedder: the real ones and the tests' own."""

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from selfeng.core.protocols import Embedder
from selfeng.models.embedding.openai_embedder import OpenAIEmbedder
from tests.embedding.embeddings_server import DIMENSIONS, KEY, EmbeddingsServer
from tests.embedding.hashing import HashingEmbedder
from tests.embedding.prepared import prepared_minilm

TEXTS = (
    "Reverse a string",
    "reverse the text",
    "",
    "a",
    "15 % of 300 €",
    "word " * 2000,
    "\ud800 lone surrogate",
    "日本語",
)


@pytest.fixture(params=["minilm", "openai", "hashing"], scope="module")
def embedder(request: pytest.FixtureRequest) -> Iterator[Embedder]:
    match request.param:
        case "minilm":
            yield prepared_minilm()
        case "openai":
            made = {"model": "small", "dimensions": DIMENSIONS, "api_key": KEY}
            with (
                EmbeddingsServer() as server,
                closing(OpenAIEmbedder(base_url=server.base_url, **made)) as embedder,
            ):
                yield embedder
        case _:
            yield HashingEmbedder()


def test_every_text_gets_a_unit_vector_in_its_place(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((len(TEXTS), embedder.dimensions), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_array_equal(embedder.embed([text])[0], vector)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_a_text_has_the_same_vector_every_time(embedder: Embedder) -> None:
    np.testing.assert_array_equal(embedder.embed(TEXTS), embedder.embed(TEXTS))


def test_texts_with_words_in_common_are_nearer(embedder: Embedder) -> None:
    reverse, also_reverse, other = embedder.embed(
        ["reverse the text", "reverse a text", "monthly mortgage payments"]
    )
    assert reverse @ also_reverse > reverse @ other + 0.3


def test_the_id_is_short_and_says_something(embedder: Embedder) -> None:
    assert 0 < len(embedder.id) <= 128
