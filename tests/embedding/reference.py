"""The same sentence encoder in plain numpy and float32: slow, written independently of the graph,
to check it against.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]


def encode(
    weights: Mapping[str, Array],
    ids: Sequence[int],
    layers: int,
    heads: int,
    epsilon: float = 1e-12,
) -> Array:
    """The unit vector of one text, given its token ids with [CLS] and [SEP] but without padding."""

    def linear(x: Array, name: str) -> Array:
        return np.asarray(x @ weights[name + ".weight"].T + weights[name + ".bias"])

    def norm(x: Array, name: str) -> Array:
        spread = np.sqrt(x.var(axis=-1, keepdims=True) + epsilon)
        return np.asarray(
            (x - x.mean(axis=-1, keepdims=True)) / spread * weights[name + ".weight"]
            + weights[name + ".bias"]
        )

    x = weights["embeddings.word_embeddings.weight"][list(ids)]
    x = (
        x
        + weights["embeddings.position_embeddings.weight"][: len(ids)]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    x = norm(x, "embeddings.LayerNorm")
    for number in range(layers):
        layer = f"encoder.layer.{number}."
        query, key, value = (
            np.split(linear(x, f"{layer}attention.self.{n}"), heads, axis=1)
            for n in ("query", "key", "value")
        )
        heads_out = [
            _softmax(q @ k.T / math.sqrt(q.shape[1])) @ v
            for q, k, v in zip(query, key, value, strict=True)
        ]
        attended = linear(np.concatenate(heads_out, axis=1), layer + "attention.output.dense")
        x = norm(x + attended, layer + "attention.output.LayerNorm")
        x = norm(
            x + linear(_gelu(linear(x, layer + "intermediate.dense")), layer + "output.dense"),
            layer + "output.LayerNorm",
        )
    mean = x.mean(axis=0)
    return np.asarray(mean / np.linalg.norm(mean), dtype=np.float32)


def _softmax(x: Array) -> Array:
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=-1, keepdims=True), dtype=np.float32)


def _gelu(x: Array) -> Array:
    error_function = np.vectorize(math.erf, otypes=[np.float32])
    return np.asarray(x * 0.5 * (1 + error_function(x / math.sqrt(2))), dtype=np.float32)
