"""Restoring a backup of a project loses nothing: what is there becomes a backup before."""

import pytest

from selfeng.core.errors import WorkspaceError
from selfeng.projects import state
from selfeng.projects.state import ProjectState, ProjectStore, back_up, backups
from selfeng.projects.workspace import LIMITS, Workspace

NAME = "demo"


@pytest.fixture
def store(tmp_path) -> ProjectStore:
    store = ProjectStore(tmp_path)
    store.save(NAME, ProjectState(goal="g", status="finished"))
    return store


def lay_out(store: ProjectStore, **files: str) -> None:
    for name, text in files.items():
        store.workspace(NAME).write(f"{name}.txt", text.encode())


def contents(workspace: Workspace) -> dict[str, bytes]:
    return {file.path: file.content for file in workspace.files()}


def kept(store: ProjectStore) -> list[int]:
    return [int(path.stem) for path in backups(store.backups(NAME))]


def test_restoring_what_restoring_kept_brings_every_file_back(store):
    workspace, folder = store.workspace(NAME), store.backups(NAME)
    lay_out(store, a="first", b="only in the first")
    back_up(workspace, folder)
    lay_out(store, a="changed since", c="new since")
    workspace.write("deep/er.bin", b"\xff\x00", 0o700)
    workspace.delete("b.txt")
    before = contents(workspace)
    there = store.restore(NAME, 1)
    assert str(there) == "demo is what it was at backup 1. What was there before is backup 2."
    assert contents(workspace) == {"a.txt": b"first", "b.txt": b"only in the first"}
    assert [(change.path, change.kind) for change in there.changes] == [
        ("a.txt", "edited"),
        ("b.txt", "created"),
        ("c.txt", "deleted"),
        ("deep/er.bin", "deleted"),
    ]
    assert store.restore(NAME).number == 2
    assert (contents(workspace), workspace.mode("deep/er.bin")) == (before, 0o700)
    assert kept(store) == [1, 2, 3]


def test_the_oldest_backup_is_restored_although_the_new_one_takes_its_place(store, monkeypatch):
    monkeypatch.setattr(state, "KEPT", 2)
    workspace, folder = store.workspace(NAME), store.backups(NAME)
    for text in ("one", "two"):
        lay_out(store, a=text)
        back_up(workspace, folder)
    lay_out(store, a="three")
    store.restore(NAME, 1)
    assert (contents(workspace), kept(store)) == ({"a.txt": b"one"}, [2, 3])
    store.restore(NAME)
    assert contents(workspace) == {"a.txt": b"three"}


def test_a_damaged_backup_changes_nothing(store):
    lay_out(store, a="now")
    path = back_up(store.workspace(NAME), store.backups(NAME))
    path.write_bytes(path.read_bytes()[:-30])
    lay_out(store, a="later")
    with pytest.raises(WorkspaceError, match="can't be read"):
        store.restore(NAME, 1)
    assert (contents(store.workspace(NAME)), kept(store)) == ({"a.txt": b"later"}, [1])


def test_what_is_too_much_to_back_up_is_not_overwritten(store):
    lay_out(store, a="now")
    back_up(store.workspace(NAME), store.backups(NAME))
    large = store.folder / NAME / "large.bin"
    large.write_bytes(bytes(LIMITS.size + 1))
    with pytest.raises(WorkspaceError, match="would have"):
        store.restore(NAME, 1)
    assert (large.stat().st_size, kept(store)) == (LIMITS.size + 1, [1])


def test_two_states_that_only_fit_one_by_one_change_places(store):
    workspace, size = store.workspace(NAME), LIMITS.size - 100
    lay_out(store, a="x" * size, b="y")
    back_up(workspace, store.backups(NAME))
    workspace.delete("a.txt")
    lay_out(store, b="y" * size)
    store.restore(NAME, 1)
    assert {name: len(content) for name, content in contents(workspace).items()} == {
        "a.txt": size,
        "b.txt": 1,
    }
