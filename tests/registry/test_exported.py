"""Tools on their way from one library to another."""

import json

import pytest

from selfeng.core.errors import RequestError
from selfeng.core.tool import Requirement
from selfeng.registry.exported import exported, read_exported, with_imported
from tests.doubles import registered
from tests.registry.drafts import COUNT, REVERSE, SHOUT

NEEDY = registered(
    SHOUT.model_copy(update={"requires": (Requirement(name="reverse_text", version=1),)})
)


def test_tools_come_back_as_they_were_after_those_that_they_import(tmp_path):
    tools = with_imported([NEEDY, registered(COUNT), registered(REVERSE)], ["shout_text"])
    path = tmp_path / "tools.jsonl"
    path.write_text(exported(tools), encoding="utf-8")
    assert read_exported(path) == (REVERSE, SHOUT)


def line(**changes):
    return json.dumps(REVERSE.model_dump(mode="json") | changes)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("not JSON", "line 1 is not an exported tool: Invalid JSON"),
        (line() + "\n\n{}", "line 3 is not an exported tool: Field required"),
        (line(code="import os; os.abort()"), "the code defines no function reverse_text"),
        (line(code="def reverse_text(:"), "is not valid Python"),
        (line(name="../evil"), "line 1 is not an exported tool"),
    ],
)
def test_a_line_that_is_no_tool_is_named_and_nothing_is_run(tmp_path, text, problem):
    path = tmp_path / "tools.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RequestError) as raised:
        read_exported(path)
    assert problem in raised.value.message


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "large").write_bytes(b" " * (8 * 1024 * 1024 + 1))
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    for name in ("large", "binary", "missing"):
        with pytest.raises(RequestError, match=name):
            read_exported(tmp_path / name)


def test_the_signature_is_read_from_the_code_whatever_the_file_says(tmp_path):
    path = tmp_path / "tools.jsonl"
    said = REVERSE.signature.model_copy(update={"parameters": ()}).model_dump(mode="json")
    path.write_text(line(signature=said), encoding="utf-8")
    (draft,) = read_exported(path)
    assert [p.name for p in draft.signature.parameters] == ["text"]
