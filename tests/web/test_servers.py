"""Other MCP servers on the page: their state, and what is allowed and revoked."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from selfeng.core.verdict import Returned
from selfeng.store.database import open_database
from tests.servers.mcp_examples import entry, opened, tool_named, write
from tests.web.server_process import ServerProcess


@pytest.fixture
def visitor(server: ServerProcess) -> Iterator[requests.Session]:
    """A program with the token."""
    with server.program() as session:
        yield session


@pytest.fixture
def listed(server: ServerProcess, visitor: requests.Session, tmp_path: Path) -> dict[str, Any]:
    """The page's view of a server once it is connected, and of a bad entry."""
    write(server.folder, s=entry(tmp_path), bad={})
    while True:
        good, bad = visitor.get(f"{server.url}/api/v1/servers").json()["servers"]
        if good["state"] == "connected":
            break
        time.sleep(0.05)
    assert (bad["name"], bad["state"]) == ("bad", "failed")
    assert bad["problem"].startswith('bad needs "command" or "url"')
    assert isinstance(good, dict)
    return good


def test_consents_are_shown_given_and_revoked(
    server: ServerProcess, visitor: requests.Session, listed: dict[str, Any]
) -> None:
    tools = {tool["name"]: tool for tool in listed["tools"]}
    assert tools["shout"] == {
        "name": "shout",
        "description": "Shout a text in capital letters.",
        "read_only": True,
        "allowed": False,
    }

    def post(change: str, body: Any, name: str = "s") -> list[str]:
        answer = visitor.post(f"{server.url}/api/v1/servers/{name}/{change}", json=body)
        assert answer.status_code == 200, answer.text
        found = answer.json()["servers"][0]["tools"]
        return [tool["name"] for tool in found if tool["allowed"]]

    assert post("allow", {"tool": "shout"}) == ["shout"]
    assert len(post("allow", {})) == len(tools)
    assert "shout" not in post("revoke", {"tool": "shout"})
    assert post("revoke", {}) == []


def test_what_there_is_not_is_an_error(
    server: ServerProcess, visitor: requests.Session, listed: dict[str, Any]
) -> None:
    for path, body, code in (
        ("gone/allow", {}, 404),
        ("s/allow", {"tool": "gone"}, 404),
        ("s/allow", {"tools": 1}, 400),
        ("s/revoke", [], 400),
    ):
        assert visitor.post(f"{server.url}/api/v1/servers/{path}", json=body).status_code == code


async def test_a_server_over_http_is_called_with_its_headers(
    server: ServerProcess, tmp_path: Path
) -> None:
    headers = {"Authorization": f"Bearer {server.token}"}
    address = f"{server.url}/mcp"
    file = write(tmp_path, own={"url": address, "headers": headers}, other={"url": address})
    database = open_database(f"sqlite:///{tmp_path / 'agent.db'}")
    async with opened(database, file) as servers:
        run = await tool_named(servers, "own__run_tool")
        done = await servers.call(run, {"name": "add", "arguments": {"a": 1, "b": 2}})
        _, other = await servers.servers()
    database.dispose()
    assert isinstance(done, Returned)
    assert done.data == '{"value":3}'
    assert (other.status.state, other.tools) == ("failed", ())


NEEDS = [
    ("rate_of", ["api.example.org", "other.example.org"]),
    ("ordinal_of", ["humanize"]),
    ("long_job", ["limits"]),
]


@pytest.mark.parametrize(("name", "needs"), NEEDS)
def test_a_call_without_consent_says_what_it_needs_and_how_to_allow_it(
    server: ServerProcess, visitor: requests.Session, name: str, needs: list[str]
) -> None:
    with server.socket(visitor) as page:
        page.whole(page.ask("connect")["conversation_id"], until="turn_finished")
    tool, call = f"{server.url}/api/v1/tools/{name}", {"arguments": {"a": 1}}
    refused = visitor.post(f"{tool}/call", json=call)
    error = refused.json()["error"]
    command = f"selfeng grants allow {name} {' '.join(needs)}"
    assert (refused.status_code, error["cause"]) == (403, "consent")
    assert error["values"] == {"name": name, "needs": ", ".join(needs), "command": command}
    named = [need.get("host") or need.get("name") or "limits" for need in error["needs"]]
    assert (named, command in error["remedy"]) == (needs, True)
    for need in needs:
        visitor.post(f"{tool}/allow", json={"need": need})
    assert visitor.post(f"{tool}/call", json=call).status_code == 200
    visitor.post(f"{tool}/revoke", json={})
    assert visitor.post(f"{tool}/call", json=call).status_code == 403


def test_a_tool_is_allowed_nothing_that_it_does_not_need(
    server: ServerProcess, visitor: requests.Session
) -> None:
    tool = f"{server.url}/api/v1/tools/add"
    response = visitor.post(f"{tool}/allow", json={"need": "evil.example.org"})
    assert response.status_code == 404
    assert response.json()["error"]["message"] == "add does not need 'evil.example.org'"
    assert visitor.post(f"{tool}/revoke", json={}).json() == {"grants": []}
    assert visitor.get(f"{server.url}/api/v1/grants").json() == {"grants": []}
