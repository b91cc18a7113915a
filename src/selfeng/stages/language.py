"""The language of a request, detected offline from its letters."""

import re
from functools import cache, lru_cache
from mmap import ACCESS_READ, mmap
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from py3langid.langid import (  # type: ignore[import-untyped]
    MODEL_FILE,
    LanguageIdentifier,
)

_VALUES = re.compile(r"""(?<!\w)(["'`]).*?\1(?!\w)|“.*?”|«.*?»|\d[\d.,:/-]*""", re.DOTALL)
"""Values in a request, which may be of any language."""
_LIKELIER = 4.0
"""How much likelier than English another language must be: short English texts often look a little
like others.
"""
_SHORT = 8
"""Letters below which a text without accents says too little."""


@lru_cache(maxsize=1000)
def is_english(text: str) -> bool:
    """Whether the text is English as far as can be detected; blocks for half a second once."""
    words = " ".join(_VALUES.sub(" ", text[:2000]).split())
    if words.isascii() and len(words) < _SHORT:
        return True
    ranked = _identifier().rank(words)
    return bool(dict(ranked)["en"] * _LIKELIER >= ranked[0][1])


@cache
def _identifier() -> LanguageIdentifier:
    """The model with its tables, 70 MB of which a request needs a few pages, in a file."""
    model = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    weights = np.frombuffer(_mapped(model.nb_ptc), model.nb_ptc.dtype)
    return LanguageIdentifier(
        weights.reshape(model.nb_ptc.shape),
        model.nb_pc,
        model.nb_classes,
        memoryview(_mapped(model.tk_nextmove)).cast(model.tk_nextmove.typecode),
        model.tk_output,
        norm_probs=True,
        tk_row=model.tk_row,
    )


def _mapped(table: Any) -> mmap:
    """The bytes of an array in a file without a name, of which memory holds what is read."""
    with TemporaryFile() as file:
        table.tofile(file)
        file.flush()
        return mmap(file.fileno(), 0, access=ACCESS_READ)
