import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from selfeng.core.errors import EmbedderUnavailable
from selfeng.models.embedding.minilm import MiniLM
from tests.embedding.prepared import DATA_DIR

# The beginning of the vector that sentence-transformers publishes for this sentence.
PUBLISHED = ("This is an example sentence", (0.0676569, 0.0634959, 0.0487131, 0.0793050, 0.0374480))


@pytest.fixture
def copy(minilm: MiniLM, tmp_path: Path) -> Path:
    return Path(shutil.copytree(DATA_DIR / "embedder", tmp_path / "embedder"))


def test_vectors_are_those_of_the_published_model(minilm: MiniLM) -> None:
    sentence, beginning = PUBLISHED
    np.testing.assert_allclose(minilm.embed([sentence])[0][: len(beginning)], beginning, atol=0.02)


def test_meaning_counts_more_than_words(minilm: MiniLM) -> None:
    vectors = minilm.embed(["How old are you?", "What is your age?", "How old is this wine?"])
    assert vectors[0] @ vectors[1] > vectors[0] @ vectors[2] > 0
    pairs = minilm.embed(
        [
            "Reverse the string 'hello'",
            "spell a word backwards",
            "What is 15 percent of 300?",
            "calculate a percentage",
        ]
    )
    assert min(pairs[0] @ pairs[1], pairs[2] @ pairs[3]) > max(
        pairs[0] @ pairs[3], pairs[2] @ pairs[1]
    )


def test_text_behind_the_256th_token_is_ignored(minilm: MiniLM) -> None:
    head = "percent " * 254
    plain, longer = minilm.embed([head])[0], minilm.embed([head + "string reverse " * 50])[0]
    np.testing.assert_array_equal(plain, longer)


def test_nothing_is_loaded_before_the_first_text(tmp_path: Path) -> None:
    missing = MiniLM(tmp_path / "embedder")
    assert (missing.id, missing.dimensions) == ("all-minilm-l6-v2:53aa5117:int8-1", 384)
    with pytest.raises(EmbedderUnavailable) as caught:
        missing.embed(["a"])
    assert (caught.value.remedy, "is missing" in str(caught.value)) == ("run `selfeng setup`", True)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_damaged_files_are_refused(copy: Path, name: str) -> None:
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    with pytest.raises(EmbedderUnavailable, match="damaged") as caught:
        MiniLM(copy).embed(["a"])
    assert caught.value.remedy == "run `selfeng setup`"


@pytest.mark.parametrize(
    "manifest", ["", "[]", '{"id": 3}', '{"id": "all-minilm-l6-v2:53aa5117:int8-0", "files": {}}']
)
def test_files_of_another_version_are_refused(copy: Path, manifest: str) -> None:
    (copy / "manifest.json").write_text(manifest)
    with pytest.raises(EmbedderUnavailable):
        MiniLM(copy).embed(["a"])


def test_a_model_that_is_whole_but_no_model_is_refused(copy: Path) -> None:
    import hashlib

    (copy / "model.onnx").write_bytes(b"not a model")
    manifest = json.loads((copy / "manifest.json").read_text())
    manifest["files"]["model.onnx"] = hashlib.sha256(b"not a model").hexdigest()
    (copy / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(EmbedderUnavailable, match="can't be loaded"):
        MiniLM(copy).embed(["a"])
