"""mcp.json: what is read, and what is said of entries that can't be used."""

from pathlib import Path
from typing import Any

import pytest

from selfeng.servers.mcp_config import ServerConfig, masker_of, read_mcp_config
from tests.servers.mcp_examples import write


def test_commands_and_urls_are_read_as_claude_desktop_writes_them(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        files={"command": "npx", "args": ["-y", "server", "/data"], "env": {"A": "1"}},
        web={
            "type": "http",
            "url": "https://user:pw@example.com/mcp?key=1",
            "headers": {"Authorization": "Bearer ${TOKEN}", "X": "${NONE:-no}"},
        },
        off={"command": "x", "disabled": True},
    )
    found = read_mcp_config(file, {"TOKEN": "secret"})
    files, web = found.servers["files"], found.servers["web"]
    assert files == ServerConfig(command="npx", args=["-y", "server", "/data"], env={"A": "1"})
    assert (files.address, web.address) == ("npx -y server /data", "https://example.com/mcp")
    assert web.headers == {"Authorization": "Bearer ${TOKEN}", "X": "${NONE:-no}"}
    assert web.expanded({"TOKEN": "secret"}).headers == {
        "Authorization": "Bearer secret",
        "X": "no",
    }
    assert (list(found.servers), found.problems) == (["files", "web"], {})


def test_a_bad_entry_is_named_with_the_remedy_and_hides_no_other(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        good={"command": "a"},
        neither={},
        both={"command": "a", "url": "http://b"},
        old={"url": "http://b", "type": "sse"},
        form={"command": "a", "args": "b"},
        variable={"command": "a", "env": {"A": "${NONE}"}},
        address={"url": "ftp://b"},
        **{"a__b": {"command": "a"}, "no name": {"command": "a"}},
    )
    found = read_mcp_config(file, {})
    write_form = (
        'write {"mcpServers": {"NAME": {"command": "…", "args": […]}}} or {"url": "https://…"}'
    )
    one = f'needs "command" or "url", and one of them only; {write_form} (in {file})'
    name = "is no name: use up to 32 letters, digits, - and single _"
    assert list(found.servers) == ["good"]
    assert found.problems == {
        "neither": f"neither {one}",
        "both": f"both {one}",
        "old": f'old: the type \'sse\' is not spoken here; use "stdio" or "http" (in {file})',
        "form": f"form: args: Input should be a valid list; {write_form} (in {file})",
        "variable": f"variable: NONE is not in the environment; set it, or write the value (in {file})",
        "address": f"address: 'ftp://b' is not a URL; write one such as https://example.com/mcp (in {file})",
        "a__b": f"'a__b' {name} (in {file})",
        "no name": f"'no name' {name} (in {file})",
    }


@pytest.mark.parametrize(
    "change",
    [
        {"args": ["--key", "${OTHER}"]},
        {"env": {"A": "1", "B": "2"}},
        {"env": {"A": "${B}"}},
        {"env": {"A": "2"}},
        {"cwd": "/tmp"},
        {"command": "y"},
    ],
)
def test_each_change_of_an_entry_asks_for_consent_again(change: dict[str, Any]) -> None:
    entry = {"command": "x", "args": ["--key", "${TOKEN}"], "env": {"A": "1"}}
    one, other = (ServerConfig.model_validate(e) for e in (entry, entry | change))
    assert one.digest != other.digest
    assert one.address == "x --key ${TOKEN}"


def test_a_query_and_a_header_are_part_of_what_is_consented_to() -> None:
    url = {"url": "https://example.com/${PLACE}/mcp?key=1"}
    changes = [{"url": url["url"] + "2"}, {"headers": {"X": "1"}}]
    one, *others = (ServerConfig.model_validate(url | change) for change in [{}, *changes])
    assert len({one.digest, *(o.digest for o in others)}) == 3
    assert one.address == "https://example.com/${PLACE}/mcp"


def test_values_are_masked_in_every_form() -> None:
    variables = {"TOKEN": 'a/b "c', "PORT": "80"}
    said = 'a/b "c, a/b \\"c, a%2Fb%20%22c, a/b%20%22c and a%2Fb+%22c on port 80'
    assert (
        masker_of(variables).text(said)
        == f"{', '.join(['${TOKEN}'] * 4)} and ${{TOKEN}} on port 80"
    )


def test_a_file_that_is_none_is_a_problem_and_a_missing_one_is_not(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    assert read_mcp_config(file) == ({}, {})
    file.write_text("{")
    (problem,) = read_mcp_config(file).problems.values()
    assert problem.startswith(f"{file} is not JSON: ")
    file.write_text("[]")
    assert 'has no object "mcpServers"' in read_mcp_config(file).problems[""]
