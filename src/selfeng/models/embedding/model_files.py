"""The files of the prepared embedding model: their folder, their manifest, and the check that they
are intact.
"""

import hashlib
import json
from pathlib import Path

from pydantic import ValidationError

from selfeng.core.errors import EmbedderUnavailable
from selfeng.core.packages import LOCAL, lacking
from selfeng.core.value import Value

FOLDER = "embedder"
"""Name of the folder below DATA_DIR."""
MODEL = "model.onnx"
TOKENIZER = "tokenizer.json"
MANIFEST = "manifest.json"
MODEL_ID = "all-minilm-l6-v2:53aa5117:int8-1"
"""The model, the start of its weights' sha256, and the number of our conversion; another conversion
gives other vectors.
"""
REMEDY = "run `selfeng setup`"
NEEDS = ("onnx", "onnxruntime", "safetensors", "tokenizers")
"""The packages that make and run the model."""


class Manifest(Value):
    """The files that set-up made; nothing else is ever loaded."""

    id: str
    files: dict[str, str]
    """sha256 by file name."""


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_manifest(folder: Path) -> None:
    files = {name: sha256((folder / name).read_bytes()) for name in (MODEL, TOKENIZER)}
    (folder / MANIFEST).write_text(
        Manifest(id=MODEL_ID, files=files).model_dump_json(indent=2) + "\n", encoding="utf-8"
    )


def check_installed() -> None:
    """Raises: EmbedderUnavailable: packages that the model needs are not installed."""
    if missing := lacking(*NEEDS):
        raise EmbedderUnavailable(
            f"tools are found by their words alone, as the embedding model needs packages that are "
            f"not installed: {', '.join(missing)}",
            f"{LOCAL}, or set EMBEDDER=openai",
        )


def read_files(folder: Path) -> dict[str, bytes]:
    """The checked contents of MODEL and TOKENIZER.

    Raises:
        EmbedderUnavailable: a file is missing, was made by another version, or is not what set-up
            wrote.
    """
    try:
        manifest = Manifest.model_validate_json((folder / MANIFEST).read_bytes())
        contents = {name: (folder / name).read_bytes() for name in (MODEL, TOKENIZER)}
    except FileNotFoundError as error:
        raise EmbedderUnavailable(
            f"the embedding model is not set up: {error.filename} is missing", REMEDY
        ) from error
    except (OSError, ValidationError, json.JSONDecodeError) as error:
        raise EmbedderUnavailable(
            f"the embedding model in {folder} can't be read: {error}", REMEDY
        ) from error
    if manifest.id != MODEL_ID:
        raise EmbedderUnavailable(
            f"the embedding model in {folder} is {manifest.id}, not {MODEL_ID}", REMEDY
        )
    for name, content in contents.items():
        if sha256(content) != manifest.files.get(name):
            raise EmbedderUnavailable(
                f"{folder / name} is damaged: its sha256 is not that of the manifest", REMEDY
            )
    return contents
