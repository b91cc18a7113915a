from pathlib import Path

import pytest

from selfeng.bootstrap import reserved_names
from selfeng.core.errors import ToolNameInvalid
from selfeng.library.names import MAX_LENGTH, check_form
from tests.embedding.hashing import hashed_library
from tests.registry.drafts import REVERSE


@pytest.mark.parametrize(
    "name",
    ["reverse_string", "a", "to_base64", "json_keys", "x" * MAX_LENGTH, "testing", "iso8601"],
)
def test_ordinary_names_are_allowed(name: str) -> None:
    check_form(name)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "not made of"),
        ("Reverse", "not made of"),
        ("_private", "not made of"),
        ("__init__", "not made of"),
        ("2fast", "not made of"),
        ("größe", "not made of"),
        ("ﬁnd", "not made of"),
        ("a-b", "not made of"),
        ("a b", "not made of"),
        ("a\n", "not made of"),
        ("../up", "not made of"),
        ("a.b", "not made of"),
        ("x" * (MAX_LENGTH + 1), "longer than 50"),
        ("test_duplicate", "pytest"),
        ("t_test", "pytest"),
        ("conftest", "pytest"),
        ("lambda", "keyword"),
        ("match", "keyword"),
        ("sum", "builtin"),
        ("json", "standard library"),
        ("antigravity", "standard library"),
        ("config", "this project"),
        ("nul", "Windows"),
        ("flask", "installed"),
        ("numpy", "the sandbox offers"),
        ("matplotlib", "the sandbox offers"),
        ("yaml", "installed"),
        ("sandbox_worker", "a module of the sandbox"),
        ("miniagents", "installed"),
        ("autocoder", "installed"),
        ("files__read", "separates the name of a server"),
        ("ask", "models know another function"),
        ("find_tools", "models know another function"),
        ("run_tool", "models know another function"),
        ("no_tool_fits", "models know another function"),
        ("run_python", "models know another function"),
        ("ask_person", "models know another function"),
        ("give_up", "models know another function"),
    ],
)
def test_other_names_are_refused_with_value_and_remedy(name: str, reason: str) -> None:
    with pytest.raises(ToolNameInvalid) as caught:
        check_form(name, reserved_names)
    assert (
        repr(name[:60]) in str(caught.value),
        reason in str(caught.value),
        "`reverse_string`" in caught.value.remedy,
    ) == (
        True,
        True,
        True,
    )


def test_an_endless_name_does_not_fill_the_message() -> None:
    with pytest.raises(ToolNameInvalid) as caught:
        check_form("x" * 1_000_000)
    assert len(str(caught.value)) < 200


async def test_no_door_of_the_library_takes_a_reserved_name(tmp_path: Path) -> None:
    async with hashed_library(tmp_path, reserved=reserved_names) as library:
        draft = REVERSE.model_copy(update={"name": "run_tool"})
        for door in (library.check_name("run_tool"), library.check(draft), library.add(draft)):
            with pytest.raises(ToolNameInvalid, match="'run_tool': models know another function"):
                await door
        assert await library.tools() == ()
