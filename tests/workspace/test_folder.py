"""The folder of a workspace: what can be reached through it, and what can't."""

import os

import pytest

from selfeng.core.errors import WorkspaceError
from selfeng.core.files import FileLimits
from selfeng.projects.running import RunOutcome
from selfeng.projects.workspace import Workspace, WorkspaceFile, path_problem


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    return Workspace(tmp_path / "project")


@pytest.mark.parametrize(
    "path",
    [
        "",
        "/etc/passwd",
        "../x",
        "a/../../x",
        "a//b",
        "./x",
        "a/.git/x",
        "-rf",
        "a\\b",
        "a\0b",
        "x\n",
        " x",
        "a/__pycache__/x",
        "a/" * 8 + "x",
        "x" * 300,
    ],
)
def test_paths_that_lead_elsewhere_or_mislead_are_refused(workspace, path):
    assert path_problem(path)
    for touch in (workspace.read, workspace.delete, lambda path: workspace.write(path, b"")):
        with pytest.raises(WorkspaceError):
            touch(path)
    assert not workspace.folder.exists()


def test_files_are_written_read_and_deleted_with_their_folders(workspace):
    workspace.write("b/c/deep.txt", b"deep")
    workspace.write("a.py", b"x = 1\n")
    assert (workspace.paths(), workspace.read("b/c/deep.txt")) == (
        ("a.py", "b/c/deep.txt"),
        b"deep",
    )
    workspace.delete("b/c/deep.txt")
    assert [path.name for path in workspace.folder.iterdir()] == ["a.py"]


def test_a_changed_file_keeps_its_permissions(workspace):
    workspace.write("run.py", b"1")
    (workspace.folder / "run.py").chmod(0o755)
    workspace.write("run.py", b"2")
    assert (workspace.read("run.py"), workspace.mode("run.py")) == (b"2", 0o700)


def test_links_are_neither_shown_nor_followed(workspace, tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    workspace.write("a.py", b"")
    (workspace.folder / "folder").symlink_to(tmp_path / "outside")
    (workspace.folder / "file").symlink_to(tmp_path / "outside" / "secret")
    assert workspace.paths() == ("a.py",)
    for path in ("folder/secret", "file"):
        with pytest.raises(WorkspaceError):
            workspace.read(path)
        with pytest.raises(WorkspaceError):
            workspace.write(path, b"overwritten")
        with pytest.raises(WorkspaceError):
            workspace.delete(path)
    assert (tmp_path / "outside" / "secret").read_text() == "secret"


def test_hidden_files_caches_and_special_ones_are_no_part_of_it(workspace):
    workspace.write("a.py", b"")
    for folder in (".git", "__pycache__"):
        (workspace.folder / folder).mkdir()
        (workspace.folder / folder / "x.py").write_text("")
    (workspace.folder / ".hidden").write_text("")
    os.mkfifo(workspace.folder / "pipe")
    assert [file.path for file in workspace.files()] == ["a.py"]
    with pytest.raises(WorkspaceError, match="pipe"):
        workspace.read("pipe")


class Restless(Workspace):
    """One in which a file is renamed between the list of files and their contents."""

    def paths(self) -> tuple[str, ...]:
        found = super().paths()
        (self.folder / "b.py").rename(self.folder / "c.py")
        return found


def test_a_file_that_vanishes_while_files_are_listed_is_left_out(workspace):
    for name in ("a.py", "b.py", "c/d.py"):
        workspace.write(name, b"1")
    walk = workspace._walk()
    seen = {next(walk)[0]}
    gone = ({"a.py", "b.py"} - seen).pop()
    workspace.delete(gone)
    assert {path for path, _ in walk} | seen == {"a.py", "b.py", "c/d.py"} - {gone}


def test_a_file_that_is_renamed_while_files_are_read_is_left_out(tmp_path):
    workspace = Restless(tmp_path / "project")
    for name in ("a.py", "b.py"):
        workspace.write(name, b"1")
    assert [file.path for file in workspace.files()] == ["a.py"]


def test_a_workspace_holds_no_more_than_its_limits(tmp_path):
    workspace = Workspace(tmp_path, FileLimits(count=2, size=10))
    workspace.write("a", b"12345")
    workspace.write("b", b"12345")
    workspace.write("b", b"54321")
    with pytest.raises(WorkspaceError, match="3 files; 2 are allowed"):
        workspace.write("c", b"")
    with pytest.raises(WorkspaceError, match="11 bytes; 10 are allowed"):
        workspace.write("a", b"123456")
    (tmp_path / "c").write_bytes(b"")
    with pytest.raises(WorkspaceError, match="3 files; 2 are allowed"):
        workspace.files()


def test_what_a_run_made_is_kept_only_where_it_is_new(workspace):
    workspace.write("a.txt", b"1")
    made = [
        WorkspaceFile(path="a.txt", content=b"1"),
        WorkspaceFile(path="out/b.bin", content=b"\xff\0"),
    ]
    assert workspace.keep(made) == ("out/b.bin",)
    assert workspace.read("out/b.bin") == b"\xff\0"


def test_what_a_step_gives_survives_json_to_the_byte():
    outcome = RunOutcome(runs=(), made=(WorkspaceFile(path="a.bin", content=bytes(range(256))),))
    assert RunOutcome.model_validate_json(outcome.model_dump_json()) == outcome
