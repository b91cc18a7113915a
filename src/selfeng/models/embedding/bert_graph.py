"""The ONNX graph of a BERT sentence encoder: token ids in, unit vectors out (mean pooling and L2
norm included).

Follows Devlin et al. 2018 (post-layer-norm encoder, exact GELU) and the pooling of
sentence-transformers. Needs `onnx`, so it is imported at set-up only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

Weights = Mapping[str, npt.NDArray[np.float32]]
"""Tensors under the names that Hugging Face's BertModel gives them."""

_OPSET = 20  # the first one with a Gelu operator
_IR = 9


@dataclass(frozen=True)
class BertShape:
    """The sizes that can't be read from the weights."""

    layers: int = 6
    heads: int = 12
    max_tokens: int = 256
    """Longest input; fixes how many position embeddings are kept."""
    epsilon: float = 1e-12


def build_graph(weights: Weights, shape: BertShape) -> onnx.ModelProto:
    """Input `ids`, int64 (batch, tokens), texts of equal length; output `vectors`, float32 (batch,
    dimensions), rows of length 1.

    There is no mask because there is no padding: see `MiniLM.embed`.
    """
    return _Graph(weights, shape).model()


class _Graph:
    """Collects nodes and initializers; every method returns the name of the tensor it made."""

    def __init__(self, weights: Weights, shape: BertShape) -> None:
        self._weights = weights
        self._shape = shape
        self._width = weights["embeddings.word_embeddings.weight"].shape[1]
        self._nodes: list[onnx.NodeProto] = []
        self._tensors: list[onnx.TensorProto] = []

    def model(self) -> onnx.ModelProto:
        hidden = self._embeddings()
        for layer in range(self._shape.layers):
            hidden = self._layer(hidden, f"encoder.layer.{layer}.")
        self._pooled(hidden)
        graph = helper.make_graph(
            self._nodes,
            "sentence_encoder",
            inputs=[helper.make_tensor_value_info("ids", TensorProto.INT64, ["batch", "tokens"])],
            outputs=[
                helper.make_tensor_value_info("vectors", TensorProto.FLOAT, ["batch", self._width])
            ],
            initializer=self._tensors,
        )
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR
        )
        onnx.checker.check_model(model)
        return model

    def _embeddings(self) -> str:
        words = self._op("Gather", self._weight("embeddings.word_embeddings.weight"), "ids")
        # Every text is one segment, so the segment embedding is a constant and joins the positions.
        table = (
            self._weights["embeddings.position_embeddings.weight"][: self._shape.max_tokens]
            + self._weights["embeddings.token_type_embeddings.weight"][0]
        )
        tokens = self._op("Slice", self._op("Shape", "ids"), self._ints(1), self._ints(2))
        positions = self._op(
            "Slice", self._constant("positions", table), self._ints(0), tokens, self._ints(0)
        )
        return self._norm(self._op("Add", words, positions), "embeddings.LayerNorm")

    def _layer(self, hidden: str, prefix: str) -> str:
        attended = self._dense(
            self._attention(hidden, prefix + "attention.self."), prefix + "attention.output.dense"
        )
        hidden = self._norm(
            self._op("Add", hidden, attended), prefix + "attention.output.LayerNorm"
        )
        wide = self._op("Gelu", self._dense(hidden, prefix + "intermediate.dense"))
        return self._norm(
            self._op("Add", hidden, self._dense(wide, prefix + "output.dense")),
            prefix + "output.LayerNorm",
        )

    def _attention(self, hidden: str, prefix: str) -> str:
        heads = self._shape.heads
        scale = 1 / np.sqrt(self._width / heads)

        def split(name: str, order: list[int], factor: float = 1.0) -> str:
            projected = self._op(
                "Reshape",
                self._dense(hidden, prefix + name, factor),
                self._ints(0, 0, heads, self._width // heads),
            )
            return self._op("Transpose", projected, perm=order)

        query, value = split("query", [0, 2, 1, 3], scale), split("value", [0, 2, 1, 3])
        scores = self._op("MatMul", query, split("key", [0, 2, 3, 1]))
        context = self._op("MatMul", self._op("Softmax", scores, axis=-1), value)
        return self._op(
            "Reshape",
            self._op("Transpose", context, perm=[0, 2, 1, 3]),
            self._ints(0, 0, self._width),
        )

    def _pooled(self, hidden: str) -> None:
        mean = self._op("ReduceMean", hidden, self._ints(1), keepdims=0)
        length = self._op("ReduceL2", mean, self._ints(1), keepdims=1)
        self._nodes.append(helper.make_node("Div", [mean, length], ["vectors"]))

    def _dense(self, source: str, name: str, factor: float = 1.0) -> str:
        kernel = self._constant(
            name + ".weight", self._weights[name + ".weight"].T * np.float32(factor)
        )
        bias = self._constant(name + ".bias", self._weights[name + ".bias"] * np.float32(factor))
        return self._op("Add", self._op("MatMul", source, kernel), bias)

    def _norm(self, source: str, name: str) -> str:
        scale, bias = self._weight(name + ".weight"), self._weight(name + ".bias")
        return self._op(
            "LayerNormalization", source, scale, bias, epsilon=self._shape.epsilon, axis=-1
        )

    def _op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        output = f"{kind}_{len(self._nodes)}"
        self._nodes.append(
            helper.make_node(kind, list(inputs), [output], name=output, **attributes)
        )
        return output

    def _weight(self, name: str) -> str:
        return self._constant(name, self._weights[name])

    def _ints(self, *values: int) -> str:
        return self._constant(f"ints_{len(self._tensors)}", np.array(values, dtype=np.int64))

    def _constant(self, name: str, value: npt.NDArray[np.float32] | npt.NDArray[np.int64]) -> str:
        self._tensors.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name
