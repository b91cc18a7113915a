"""Private files: nobody else on the machine reads conversations, projects or keys, whatever the
umask is and whatever was open before.
"""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from selfeng.core.private import close_to_others
from selfeng.core.settings import load_settings, make_folders
from selfeng.projects.state import ProjectState, ProjectStore, back_up
from selfeng.store.database import open_database, writing
from web.access import signing_key


@pytest.fixture(params=[0o000, 0o022, 0o027, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def is_open(path: Path) -> bool:
    return bool(stat.S_IMODE(path.stat().st_mode) & 0o077)


def open_ones(folder: Path) -> list[str]:
    return sorted(
        str(path.relative_to(folder)) for path in (folder, *folder.rglob("*")) if is_open(path)
    )


def with_a_database(folder: Path) -> None:
    engine = open_database(f"sqlite:///{folder / 'kept' / 'agent.db'}")
    with writing(engine):
        assert {path.name for path in (folder / "kept").iterdir()} >= {
            "agent.db",
            "agent.db-wal",
            "agent.db-shm",
        }
        assert set(open_ones(folder / "kept")) <= {
            "."
        }  # a folder that was there is whoever's who made it
    engine.dispose()


def with_a_project(folder: Path) -> None:
    store = ProjectStore(folder / "kept")
    store.save("demo", ProjectState(goal="x"))
    with store.claimed("demo"):
        workspace = store.workspace("demo")
        workspace.write("package/inner/main.py", b"print(1)")
        workspace.write("run.sh", b"x", 0o755)
        back_up(workspace, store.backups("demo"))


def with_a_key(folder: Path) -> None:
    signing_key(folder / "kept")


def with_settings(folder: Path) -> None:
    for name in ("DATA_DIR", "TOOLS_DIR", "CHROMA_PERSIST_DIR"):
        os.environ[name] = str(folder / ("kept" if name == "DATA_DIR" else name))
    make_folders(load_settings(None))


MAKERS = [with_a_database, with_a_project, with_a_key, with_settings]


@pytest.mark.parametrize("maker", MAKERS)
def test_what_is_made_is_closed_to_others(
    maker, umask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATA_DIR", "TOOLS_DIR", "CHROMA_PERSIST_DIR"):
        monkeypatch.setenv(name, "")  # to be put back
    maker(tmp_path)
    assert open_ones(tmp_path / "kept") == []


@pytest.mark.parametrize("maker", MAKERS)
def test_what_was_open_before_is_closed(
    maker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATA_DIR", "TOOLS_DIR", "CHROMA_PERSIST_DIR"):
        monkeypatch.setenv(name, "")
    maker(tmp_path)
    kept = tmp_path / "kept"
    copies = [kept / "agent.db.bak", kept / "agent.db-before"] if maker is with_a_database else []
    for copy in copies:
        copy.write_bytes(b"")
    for path in (kept, *kept.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    maker(tmp_path)
    assert set(open_ones(kept)) <= ({"."} if maker in (with_a_database, with_a_project) else set())


def test_links_are_not_followed_and_what_the_owner_may_stays(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "file").write_bytes(b"")
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "run").write_bytes(b"")
    for path, mode in (
        (elsewhere, 0o755),
        (elsewhere / "file", 0o644),
        (folder / "inner" / "run", 0o755),
    ):
        path.chmod(mode)
    (folder / "link").symlink_to(elsewhere)
    close_to_others(folder, with_contents=True)
    modes = [
        stat.S_IMODE(path.stat().st_mode)
        for path in (elsewhere, elsewhere / "file", folder / "inner" / "run", folder / "inner")
    ]
    assert modes == [0o755, 0o644, 0o700, 0o700]
