"""The embedder that asks a server: what it sends, what it survives, and how it says what is
wrong.
"""

import socket
import threading
import time
import traceback
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from selfeng.core.errors import ConfigurationError, EmbedderUnavailable
from selfeng.core.owner import owned_by
from selfeng.core.settings import Settings, load_settings
from selfeng.core.stage_event import Usage
from selfeng.models.embedding import openai_embedder
from selfeng.models.embedding.embedder_choice import chosen_embedder, former_embedder
from selfeng.models.embedding.minilm import MiniLM
from selfeng.models.embedding.openai_embedder import OpenAIEmbedder, Vectors
from tests.embedding.embeddings_server import DIMENSIONS, KEY, EmbeddingsServer

BUSY = 503, {"error": {"message": "Overloaded."}}


@pytest.fixture(scope="module")
def running() -> Iterator[EmbeddingsServer]:
    with EmbeddingsServer() as server:
        yield server


@pytest.fixture
def server(running: EmbeddingsServer) -> EmbeddingsServer:
    running.bodies.clear()
    running.trouble.clear()
    running.open.set()
    return running


@contextmanager
def embedder(base_url: str, **options: Any) -> Iterator[OpenAIEmbedder]:
    usual = {
        "model": "small",
        "dimensions": DIMENSIONS,
        "api_key": KEY,
        "timeout": 10.0,
        "max_retries": 2,
    }
    with closing(OpenAIEmbedder(base_url=base_url, **{**usual, **options})) as made:
        yield made


def problem(base_url: str) -> EmbedderUnavailable:
    with embedder(base_url, max_retries=0) as made, pytest.raises(EmbedderUnavailable) as caught:
        made.embed(["reverse a text"])
    return caught.value


def test_texts_go_out_in_batches_and_their_vectors_come_back_in_order(
    server: EmbeddingsServer,
) -> None:
    texts = [f"text number {n}" for n in range(130)]
    with embedder(server.base_url) as made:
        vectors, last = made.embed(texts), made.embed([texts[129]])
    assert [len(body["input"]) for body in server.bodies] == [128, 2, 1]
    assert {key: server.bodies[0][key] for key in ("model", "encoding_format")} == {
        "model": "small",
        "encoding_format": "float",
    }
    np.testing.assert_array_equal(last[0], vectors[129])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_what_texts_cost_is_told_apart_from_who_waits_for_their_vectors(
    server: EmbeddingsServer,
) -> None:
    told = SimpleQueue[tuple[str, Usage]]()
    with (
        embedder(server.base_url, spent=lambda *spent: told.put(spent)) as made,
        owned_by("ann"),
    ):
        made.embed(["reverse"])
        assert told.get(timeout=10) == ("ann", Usage(calls=1, input_tokens=1))
        server.trouble.append((200, {"data": [{"index": 0, "embedding": [1.0] * DIMENSIONS}]}))
        made.embed(["a text of 24 characters."])
        assert told.get(timeout=10)[1].input_tokens == 6  # estimated


def test_the_id_names_model_and_dimensions() -> None:
    with embedder("http://127.0.0.1:1") as made:
        assert made.id == "openai:small:64"


def test_passing_trouble_is_tried_again(server: EmbeddingsServer) -> None:
    server.trouble.extend([BUSY, (429, {"error": {"message": "Slow down."}})])
    with embedder(server.base_url) as made:
        assert made.embed(["a"]).shape == (1, DIMENSIONS)
    assert len(server.bodies) == 3


@pytest.mark.parametrize(
    ("trouble", "message", "remedy"),
    [
        (BUSY, "{} fails: ", "try again later"),
        (
            (429, {"error": {"message": "Slow down."}}),
            "{} keeps answering 429: ",
            "wait, check plan and billing",
        ),
        (
            (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}),
            "{} refused the API key (401)",
            "check OPENAI_API_KEY",
        ),
        (
            (404, {"error": {"message": "no model small"}}),
            "small at {} rejects the texts (404): ",
            "set OPENAI_EMBEDDING_MODEL",
        ),
        (
            (200, {"data": [{"index": 0, "embedding": [1.0, 0.0]}]}),
            "small at {} gives vectors of 2 numbers instead of 64",
            "set OPENAI_EMB",
        ),
        (
            (200, {"data": [{"index": 0, "embedding": [0.0] * 64}]}),
            "small at {} gives a vector that is zero or not finite",
            "set another",
        ),
        (
            (200, {"data": [{"index": n, "embedding": [1.0] * 64} for n in range(2)]}),
            "small at {} gives 2 vectors for 1 texts",
            "check",
        ),
        (
            (200, ["hello"]),
            "{} does not answer like an embeddings server",
            "check OPENAI_BASE_URL",
        ),
    ],
)
def test_what_is_wrong_is_named_with_a_remedy_and_without_the_key(
    server: EmbeddingsServer, trouble: tuple[int, Any], message: str, remedy: str
) -> None:
    server.trouble.append(trouble)
    error = problem(server.base_url)
    assert error.message.startswith(message.format(server.base_url))
    assert error.remedy.startswith(remedy)
    assert error.remedy.endswith(", or set EMBEDDER=minilm, which needs no server")
    assert KEY not in "".join(traceback.format_exception(error))


def test_a_server_that_hangs_is_not_waited_for_again_and_its_late_answer_is_used(
    server: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_embedder, "_A_TEXT", 0.0)
    server.open.clear()
    with embedder(server.base_url, patience=0.2) as made:
        for text in ("a", "b", "a"):
            with pytest.raises(EmbedderUnavailable, match="has not answered for"):
                made.embed([text])
        assert [body["input"] for body in server.bodies] == [["a"]]
        server.open.set()
        until = time.monotonic() + 10
        while (late := attempt(made, "a")) is None and time.monotonic() < until:
            time.sleep(0.01)
        assert late is not None
        assert made.embed(["b"]).shape == (1, DIMENSIONS)
    assert [body["input"] for body in server.bodies] == [["a"], ["b"]]


def test_a_server_that_hangs_is_asked_again_from_time_to_time(
    server: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_embedder, "_AGAIN", 0.0)
    server.open.clear()
    with embedder(server.base_url, patience=0.1) as made:
        assert attempt(made, "a") is None
        threading.Timer(0.1, server.open.set).start()
        assert attempt(made, "b") is not None


def attempt(made: OpenAIEmbedder, text: str) -> Vectors | None:
    try:
        return made.embed([text])
    except EmbedderUnavailable:
        return None


def test_a_server_that_is_not_there_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    error = problem(f"http://127.0.0.1:{port}/v1")
    assert error.message.startswith(f"http://127.0.0.1:{port}/v1 can't be reached: ")


def test_the_settings_choose(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, server: EmbeddingsServer
) -> None:
    minilm = MiniLM(tmp_path)

    def settings(**given: str) -> Settings:
        for name in (
            "OPENAI_API_KEY",
            "OPENAI_BASE_URL",
            "EMBEDDER",
            "OPENAI_EMBEDDING_MODEL",
            "OPENAI_EMBEDDING_DIMENSIONS",
        ):
            monkeypatch.setenv(name, given.get(name, ""))
        return load_settings(None)

    here, nomic = (
        {"OPENAI_BASE_URL": server.base_url},
        {"OPENAI_EMBEDDING_MODEL": "nomic:embed", "EMBEDDER": "openai"},
    )
    assert (
        chosen_embedder(settings(), minilm) is chosen_embedder(settings(**here), minilm) is minilm
    )
    assert (
        chosen_embedder(settings(**here, EMBEDDER="openai"), minilm).id
        == "openai:text-embedding-3-small:1536"
    )
    sized = chosen_embedder(settings(**here, **nomic, OPENAI_EMBEDDING_DIMENSIONS="768"), minilm)
    with pytest.raises(ConfigurationError, match="EMBEDDER='openai' has no server"):
        chosen_embedder(settings(EMBEDDER="openai"), minilm)
    with pytest.raises(
        ConfigurationError,
        match="OPENAI_EMBEDDING_MODEL='nomic:embed' gives vectors of unknown length",
    ):
        chosen_embedder(settings(**here, **nomic), minilm)

    known = (minilm.id, sized.id, "hashing:64", "openai:768", "openai:nomic:many")
    made = [former_embedder(settings(**here), minilm, one) for one in known]
    assert [one and one.id for one in made] == [
        minilm.id,
        "openai:nomic:embed:768",
        None,
        None,
        None,
    ]
    assert [former_embedder(settings(), minilm, one) for one in known] == [
        minilm,
        None,
        None,
        None,
        None,
    ]
