"""Set-up of Chroma's server; what installs is real, its index is a folder."""

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

from selfeng.library import chroma
from selfeng.library.chroma import Chroma, prepare_chroma

NAME = "chromadb-1.5.9"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without Chroma, and a folder as the only index."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setitem(sys.modules, "chromadb_rust_bindings", None)
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr(chroma, "_PACKAGE", folder / "list.txt")
    (folder / "list.txt").write_text(
        f"--no-index\n--find-links {folder}\nchromadb==1.5.9 {'0' * 64}"
    )
    return folder


def package(index: Path) -> None:
    path = index / f"{NAME}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("chromadb_rust_bindings/__init__.py", "raise SystemExit(3)")
        wheel.writestr(
            f"{NAME}.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: chromadb\nVersion: 1.5.9\nRequires-Dist: absent-package\n",
        )
        wheel.writestr(
            f"{NAME}.dist-info/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{NAME}.dist-info/RECORD", "")
    digest = f"--hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    (index / "list.txt").write_text((index / "list.txt").read_text().replace("0" * 64, digest))


def test_only_the_server_is_fetched_and_once(index: Path, tmp_path: Path) -> None:
    package(index)
    parts = tmp_path / "parts"
    said: list[str] = []
    for _ in range(2):
        prepare_chroma(parts, said.append)
    assert said == ["Downloading the server of the search index (21 MB)"]
    assert {path.name for path in parts.iterdir()} == {".chroma.lock", "chroma"}
    api = Chroma(tmp_path / "db", parts)
    with pytest.raises(chroma.ChromaRefused, match="does not start"):
        api.open(from_scratch=False)
    api.close()


def test_what_make_has_fetched_is_not_downloaded(index: Path, tmp_path: Path) -> None:
    (index / "chroma" / "chromadb_rust_bindings").mkdir(parents=True)
    said: list[str] = []
    prepare_chroma(tmp_path / "parts", said.append)
    assert said == []


def test_without_a_package_for_the_machine_the_index_is_absent(
    index: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    parts = tmp_path / "parts"
    prepare_chroma(parts, lambda line: None)
    assert "Chroma can't be downloaded, so searches stay exact" in caplog.text
    assert {path.name for path in parts.iterdir()} == {".chroma.lock"}
    api = Chroma(tmp_path / "db", parts)
    assert api.open(from_scratch=False) == "absent"
    api.close()
