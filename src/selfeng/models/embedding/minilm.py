"""all-MiniLM-L6-v2 on the CPU: the embedder that works without a network and without a key."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from selfeng.core.errors import EmbedderUnavailable
from selfeng.models.embedding.model_files import (
    FOLDER,
    MODEL,
    MODEL_ID,
    REMEDY,
    TOKENIZER,
    check_installed,
    read_files,
)

if TYPE_CHECKING:
    import onnxruntime  # type: ignore[import-untyped]
    from tokenizers import Tokenizer

DIMENSIONS = 384
MAX_TOKENS = 256
_MAX_CHARACTERS = 16_384
"""256 tokens are shorter than this; the tokenizer does not read the rest of a long text."""

_RECENT = 256
"""Texts whose vectors are kept: a tool is embedded again with each request that it serves."""


@dataclass(frozen=True)
class _Loaded:
    tokenizer: "Tokenizer"
    session: "onnxruntime.InferenceSession"


class MiniLM:
    """Embedder on the files that `prepare_embedder` wrote; they are checked and loaded at the first
    call of `embed`.
    """

    def __init__(self, folder: Path) -> None:
        """`folder` holds model, tokenizer and manifest: `DATA_DIR/embedder`, see `MiniLM.below`."""
        self._folder = folder
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None
        self._recent = lru_cache(_RECENT)(self._vector)

    @classmethod
    def below(cls, parts_dir: Path) -> "MiniLM":
        return cls(parts_dir / FOLDER)

    @property
    def id(self) -> str:
        return MODEL_ID

    @property
    def dimensions(self) -> int:
        return DIMENSIONS

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Unit vectors; text after the 256th token is ignored.

        Raises:
            EmbedderUnavailable: the model is not set up, its files are damaged, or its packages
                are not installed.
        """
        # One text at a time: int8 scales are taken over a whole batch, so other texts would move a
        # vector (cosine down to 0.96), and on one thread a batch saves no time.
        vectors = np.empty((len(texts), DIMENSIONS), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._recent(_readable(text))
        return vectors

    def _vector(self, text: str) -> npt.NDArray[np.float32]:
        loaded = self._load()
        ids = np.array([loaded.tokenizer.encode(text).ids], dtype=np.int64)
        vector: npt.NDArray[np.float32] = loaded.session.run(["vectors"], {"ids": ids})[0][0]
        return vector

    def _load(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = _open(self._folder)
            return self._loaded


def _open(folder: Path) -> _Loaded:
    check_installed()
    contents = read_files(folder)
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    # One query is 2 ms of work: more threads, or threads that spin while they wait, cost more than
    # they save.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it keeps what the longest text took
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(
            contents[MODEL], options, providers=["CPUExecutionProvider"]
        )
        tokenizer = Tokenizer.from_str(contents[TOKENIZER].decode("utf-8"))
    except Exception as error:  # both libraries raise types of their own that they don't export
        raise EmbedderUnavailable(
            f"the embedding model in {folder} can't be loaded: {error}", REMEDY
        ) from error
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    return _Loaded(tokenizer, session)


def _readable(text: str) -> str:
    """The text without lone surrogates, which the tokenizer refuses."""
    return text[:_MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
