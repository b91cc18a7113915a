"""The typed actions: their reading from a model's calls, and what edits make of a file."""

import pytest

from selfeng.core.errors import WorkspaceError
from selfeng.core.prompt import FunctionCall
from selfeng.projects.actions import (
    WORKSPACE_ACTIONS,
    CreateFile,
    DeleteFile,
    ExecutePyFile,
    InsertLines,
    RemoveLines,
    ReplaceLines,
    WriteFile,
)
from selfeng.projects.edits import Change, apply, edited, numbered
from selfeng.projects.workspace import Workspace

TEXT = "a = 1  # one\n\n\ndef f():  \n\treturn a"


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    workspace = Workspace(tmp_path)
    workspace.write("main.py", TEXT.encode())
    return workspace


def test_every_action_is_a_function_that_a_model_can_call():
    functions = {function.name: function for function in WORKSPACE_ACTIONS.functions()}
    assert tuple(functions) == WORKSPACE_ACTIONS.names
    schema = functions["replace_lines"].parameters
    assert schema["required"] == ["name", "first", "last", "text"]
    assert schema["properties"]["first"] == {
        "description": "Number of a line, from 1.",
        "minimum": 1,
        "type": "integer",
    }
    assert schema["additionalProperties"] is False
    assert functions["delete_file"].description == "Delete a file."


def test_a_call_becomes_the_action_that_it_means():
    call = FunctionCall(
        name="execute_py_file",
        arguments={"name": "main.py", "arguments": ["--help"], "reasoning": "see"},
    )
    assert WORKSPACE_ACTIONS.read(call) == ExecutePyFile(
        name="main.py", arguments=("--help",), reasoning="see"
    )


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("shell", {}, "unknown action 'shell'"),
        ("delete_file", {}, "delete_file can't be done: name: Field required"),
        (
            "delete_file",
            {"name": "../x"},
            "name='../x': '../x' can't be a path in the workspace: it leads out of the workspace",
        ),
        (
            "replace_lines",
            {"name": "a", "first": 0, "last": 1, "text": ""},
            "first=0: Input should be greater than or equal to 1",
        ),
        (
            "replace_lines",
            {"name": "a", "first": "1+1", "last": 2, "text": ""},
            "first='1+1': Input should be a valid integer",
        ),
        (
            "create_file",
            {"name": "a", "body": "", "mode": 777},
            "mode=777: Extra inputs are not permitted",
        ),
        ("create_file", {"name": "a", "body": ["x"]}, "body=['x']: Input should be a valid string"),
    ],
)
def test_arguments_that_can_not_be_used_are_named_with_their_value(name, arguments, problem):
    with pytest.raises(WorkspaceError) as caught:
        WORKSPACE_ACTIONS.read(FunctionCall(name=name, arguments=arguments))
    assert problem in caught.value.message
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("edit", "result"),
    [
        (
            ReplaceLines(name="x", first=1, last=1, text="a = 2"),
            "a = 2\n\n\ndef f():  \n\treturn a",
        ),
        (
            ReplaceLines(name="x", first=5, last=5, text="\treturn 1\n"),
            "a = 1  # one\n\n\ndef f():  \n\treturn 1\n",
        ),
        (
            InsertLines(name="x", line=1, text="import sys\n\n"),
            "import sys\n\na = 1  # one\n\n\ndef f():  \n\treturn a",
        ),
        (InsertLines(name="x", line=6, text="f()"), f"{TEXT}\nf()\n"),
        (RemoveLines(name="x", first=2, last=3), "a = 1  # one\ndef f():  \n\treturn a"),
        (WriteFile(name="x", body="new"), "new"),
    ],
)
def test_edits_touch_the_lines_that_they_name_and_no_others(edit, result):
    assert edited(TEXT, edit) == result


def test_files_with_windows_line_ends_keep_them():
    assert (
        edited("a\r\nb\r\n", ReplaceLines(name="x", first=2, last=2, text="c\nd"))
        == "a\r\nc\r\nd\r\n"
    )


def test_odd_characters_end_no_line():
    assert numbered("a\x0cb\u2028c\nd") == "   1 | a\x0cb\u2028c\n   2 | d"


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (
            ReplaceLines(name="main.py", first=5, last=6, text=""),
            "main.py has no line 6: it has 5 lines",
        ),
        (InsertLines(name="main.py", line=7, text=""), "main.py has no line 7"),
        (
            RemoveLines(name="main.py", first=3, last=2),
            "the lines 3 to 2 of main.py are in the wrong order",
        ),
        (CreateFile(name="main.py", body=""), "the file main.py already exists"),
        (DeleteFile(name="other.py"), "there is no file other.py"),
        (RemoveLines(name="other.py", first=1, last=1), "there is no file other.py"),
    ],
)
def test_edits_that_can_not_be_done_change_nothing(workspace, edit, problem):
    with pytest.raises(WorkspaceError, match=problem):
        apply(workspace, edit)
    assert [(file.path, file.content) for file in workspace.files()] == [("main.py", TEXT.encode())]


def test_each_change_gives_a_unified_diff(workspace):
    change = apply(workspace, ReplaceLines(name="main.py", first=1, last=1, text="a = 2  # one"))
    diff = (
        "--- a/main.py\n+++ b/main.py\n@@ -1,4 +1,4 @@\n-a = 1  # one\n+a = 2  # one\n \n \n "
        "def f():  \n"
    )
    assert change == Change(path="main.py", kind="edited", diff=diff)
    assert apply(workspace, WriteFile(name="new.py", body="x")).diff.endswith(
        "+x\n\\ No newline at end of file\n"
    )
    assert apply(workspace, DeleteFile(name="new.py")).kind == "deleted"
    assert (
        apply(workspace, WriteFile(name="main.py", body=workspace.text("main.py"))).kind
        == "unchanged"
    )
