"""The graph against the numpy encoder, on small random weights."""

import numpy as np
import numpy.typing as npt
import onnxruntime
import pytest

from selfeng.models.embedding.conversion import BertShape, build_graph
from tests.embedding.reference import encode

WIDTH, WORDS, SHAPE = 24, 50, BertShape(layers=2, heads=3, max_tokens=12)
Array = npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def weights() -> dict[str, Array]:
    random = np.random.default_rng(5)
    sizes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (WORDS, WIDTH),
        "embeddings.position_embeddings.weight": (20, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    dense = {
        "attention.self.query": WIDTH,
        "attention.self.key": WIDTH,
        "attention.self.value": WIDTH,
        "attention.output.dense": WIDTH,
    }
    for layer in range(SHAPE.layers):
        for name, outputs in {**dense, "intermediate.dense": 4 * WIDTH}.items():
            sizes[f"encoder.layer.{layer}.{name}.weight"] = (outputs, WIDTH)
            sizes[f"encoder.layer.{layer}.{name}.bias"] = (outputs,)
        sizes[f"encoder.layer.{layer}.output.dense.weight"] = (WIDTH, 4 * WIDTH)
        sizes[f"encoder.layer.{layer}.output.dense.bias"] = (WIDTH,)
    norms = ["embeddings.LayerNorm"]
    norms += [
        f"encoder.layer.{n}.{part}.LayerNorm"
        for n in range(SHAPE.layers)
        for part in ("attention.output", "output")
    ]
    for name in norms:
        sizes[name + ".weight"] = sizes[name + ".bias"] = (WIDTH,)
    return {name: random.normal(0, 0.5, size).astype(np.float32) for name, size in sizes.items()}


def test_the_graph_computes_what_numpy_computes(weights: dict[str, Array]) -> None:
    session = onnxruntime.InferenceSession(
        build_graph(weights, SHAPE).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    for text in ([1, 7, 9, 2], [1, 2], [1, *range(10, 20), 2]):
        (vectors,) = session.run(["vectors"], {"ids": np.array([text])})
        np.testing.assert_allclose(
            vectors, [encode(weights, text, SHAPE.layers, SHAPE.heads)], atol=1e-5
        )
