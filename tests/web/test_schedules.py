"""Schedules by REST and MCP."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import requests
from standardwebhooks import Webhook

from tests.web.server_process import ServerProcess
from tests.web.test_mcp import connected, text
from tests.web.test_rest import ended

DAILY = {"tool": "add", "arguments": {"a": 2}, "cron": "0 8 * * *", "timezone": "Europe/Berlin"}


@pytest.fixture
def program(server: ServerProcess) -> Iterator[requests.Session]:
    with server.program() as session:
        yield session
        schedules = f"{server.url}/api/v1/schedules"
        for schedule in session.get(schedules).json()["schedules"]:
            assert session.delete(f"{schedules}/{schedule['id']}").status_code == 200


def run(server: ServerProcess, program: requests.Session, name: str) -> dict[str, Any]:
    """The schedule after a run that was begun now has ended, and been noted."""
    address = f"{server.url}/api/v1/schedules/{name}"
    begun = program.post(f"{address}/run")
    assert begun.status_code == 202
    ended(program, f"{server.url}/api/v1/turns/{begun.json()['turn_id']}")
    while (schedule := program.get(address).json())["run"]:
        pass
    result: dict[str, Any] = schedule
    return result


def test_a_schedule_is_added_run_paused_resumed_and_removed(
    server: ServerProcess, program: requests.Session
) -> None:
    schedules = f"{server.url}/api/v1/schedules"
    added = program.post(schedules, json={**DAILY, "name": "sums"})
    assert added.status_code == 201
    assert (added.json()["version"], added.json()["state"]) == (2, "active")
    assert len(added.json()["upcoming"]) == 3
    assert "owner" not in added.json()
    ran = run(server, program, "sums")
    assert (ran["last"]["text"], ran["last"]["problem"], ran["state"]) == ("3", "", "active")
    paused = program.post(f"{schedules}/sums/pause").json()
    assert (paused["state"], paused["reason"], paused["troubled"]) == (
        "paused", "paused by hand", False,
    )  # fmt: skip
    assert program.post(f"{schedules}/{paused['id']}/resume").json()["state"] == "active"
    (listed,) = program.get(schedules, params={"tool": "add"}).json()["schedules"]
    assert listed["name"] == "sums"
    assert program.get(schedules, params={"tool": "other"}).json() == {"schedules": []}
    assert program.delete(f"{schedules}/sums").status_code == 200
    assert program.get(f"{schedules}/sums").status_code == 404


def test_a_run_that_fails_pauses(server: ServerProcess, program: requests.Session) -> None:
    schedules = f"{server.url}/api/v1/schedules"
    program.post(schedules, json={**DAILY, "arguments": {"a": -1}})
    ran = run(server, program, "add")
    assert (ran["state"], ran["troubled"]) == ("paused", True)
    assert ran["reason"] == ran["last"]["problem"] != ""


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"cron": "soon"}, 400, "cron 'soon'"),
        ({"timezone": "Mars"}, 400, "unknown time zone 'Mars'"),
        ({"tool": "gone"}, 404, "gone"),
        ({"arguments": {"c": 1}}, 400, "c"),
        ({"missed": "twice"}, 400, "missed"),
        ({"seconds": 0}, 400, "seconds"),
        ({"files": ["unknown"]}, 404, "file"),
    ],
)
def test_what_can_not_run_is_refused_with_a_remedy(
    server: ServerProcess,
    program: requests.Session,
    change: dict[str, Any],
    status: int,
    words: str,
) -> None:
    refused = program.post(f"{server.url}/api/v1/schedules", json=DAILY | change)
    assert (refused.status_code, words in refused.json()["error"]["message"]) == (status, True)
    assert refused.json()["error"]["remedy"] or status == 404


async def test_agents_of_other_programs_add_list_run_and_pause(
    server: ServerProcess, program: requests.Session
) -> None:
    async with connected(server) as client:
        nothing = await client.call_tool("list_schedules", {})
        added = await client.call_tool("add_schedule", {**DAILY, "name": "mine"})
        wrong = await client.call_tool("add_schedule", {**DAILY, "cron": "soon"})
        ran = await client.call_tool("run_schedule", {"name": "mine"})
        paused = await client.call_tool("pause_schedule", {"name": "mine"})
        resumed = await client.call_tool("pause_schedule", {"name": "mine", "resume": True})
    assert nothing.structured_content == {"schedules": []}
    assert added.structured_content["schedules"][0]["name"] == "mine"
    assert wrong.is_error
    assert text(wrong).startswith("cron 'soon'")
    assert ran.structured_content["answer"] == "3"
    states = [r.structured_content["schedules"][0]["state"] for r in (paused, resumed)]
    assert states == ["paused", "active"]


def test_a_signed_request_needs_no_token_and_is_limited(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, "threading", HOOK_REQUESTS_PER_MINUTE="4")
    secret, body = "kanarie-0123456789", b'{"a": 2}'
    with server.program() as program:
        program.put(f"{server.url}/api/v1/secrets/KEY", json={"value": secret})
        hooked = {"tool": "add", "name": "hooked", "hook": "KEY"}
        added = program.post(f"{server.url}/api/v1/schedules", json=hooked).json()
        address, now = f"{server.url}/hooks/{added['id']}", datetime.now(UTC)
        headers = {
            "Webhook-Id": "m1",
            "Webhook-Timestamp": str(int(now.timestamp())),
            "Webhook-Signature": Webhook(secret.encode()).sign("m1", now, body.decode()),
        }
        begun = requests.post(address, body, headers=headers, timeout=20)
        assert begun.status_code == 202
        again = requests.post(address, body, headers=headers, timeout=20)
        assert again.json() == begun.json()
        ended(program, f"{server.url}/api/v1/turns/{begun.json()['turn_id']}")
        assert requests.post(address, b"{}", headers=headers, timeout=20).status_code == 404
        large = requests.post(address, b" " * 2_000_000, headers=headers, timeout=20)
        assert large.status_code == 413
        assert requests.get(address, headers=headers, timeout=20).status_code == 401
        last = [requests.post(address, body, headers=headers, timeout=20) for _ in range(3)]
        assert (last[-1].status_code, int(last[-1].headers["Retry-After"]) > 0) == (429, True)
    assert server.end() == (0, "")


def test_without_the_setting_no_hook_is_open(server: ServerProcess) -> None:
    closed = requests.post(f"{server.url}/hooks/unknown", b"{}", timeout=20)
    assert closed.status_code == 401
