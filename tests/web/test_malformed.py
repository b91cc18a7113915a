"""Messages that no honest page sends: the answer has the error, and the server continues."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.web.server_process import Client, ServerProcess
from web.sockets import socket_log

EVENTS = (
    "send one of ask, keep, wrong, refactor, run, stop, subscribe, build, act, restore, say, test, stop_test "
    "with one object"
)
NOT_ONE_OBJECT: list[Any] = [None, [], ["a", "b"], "text", 7, True, [[["deep"]]]]
BAD_OBJECTS: dict[str, list[Any]] = {
    "ask": [
        {},
        {"text": None},
        {"text": 5},
        {"text": ["say"]},
        {"text": ""},
        {"text": " \n\t"},
        {"text": "say hello", "conversation_id": 5},
        {"text": "say hello", "conversation_id": ""},
        {"text": "say hello", "conversation_id": "unknown"},
        {"text": "say hello", "conversation_id": "\ud800"},
        {"text": "say hello", "owner": "somebody"},
        {"text": "x" * 20_001},
        {"text": "x" * 1_000_000},
        {"text": "crash"},
    ],
    "refactor": [{}, {"name": 5}, {"name": "x" * 100_000}],
    "run": [
        {},
        {"name": "add"},
        {"name": "add", "arguments": []},
        {"name": "nothing", "arguments": {}},
        {"name": "add", "arguments": {}, "conversation_id": "unknown"},
        {"name": "add", "arguments": {}, "files": ["unknown"]},
        {"name": "crash", "arguments": {}},
    ],
    "keep": [{}, {"turn_id": 5}, {"turn_id": "x" * 100_000}],
    "wrong": [{}, {"turn_id": 5}, {"turn_id": "unknown"}, {"turn_id": "t", "value": "x" * 9_001}],
    "test": [
        {},
        {"id": "t"},
        {"id": 5, "changes": {}},
        {"id": "t", "changes": []},
        {"id": "t", "changes": {"openai_model": ["a"]}},
        {"id": "t", "changes": {"openai_model": "x" * 2_001}},
        {"id": "t", "changes": {f"name{n}": 1 for n in range(65)}},
    ],
    "stop": [{}, {"turn_id": 5}, {"turn_id": None}, {"turn_id": "x" * 100_000}],
    "build": [
        {},
        {"goal": "x"},
        {"name": "demo"},
        {"name": "demo", "goal": " "},
        {"name": "../demo", "goal": "x"},
        {"name": "x" * 401, "goal": "x"},
        {"name": "demo", "goal": "x" * 20_001},
        {"name": "demo", "goal": "x", "step": "yes"},
        {"name": "demo", "goal": "x", "max_steps": 0},
        {"name": "demo", "goal": "x", "max_cost": -1},
        {"name": "demo", "goal": "x", "packages": ["requests; rm"]},
        {"name": "demo", "goal": "x", "packages": ["a"] * 21},
        {"name": "demo", "goal": "x", "project_dir": "/"},
        {"name": "demo", "goal": "x", "api_key": "key"},
        {"project_id": "unknown"},
        {"project_id": 5},
    ],
    "act": [
        {},
        {"project_id": "unknown", "action": None},
        {"project_id": "unknown", "action": {}},
        {"project_id": "unknown", "action": {"action": "finish", "summary": "x"}},
        {"project_id": "unknown", "action": {"action": "delete_file", "name": "../main.py"}},
        {
            "project_id": "unknown",
            "action": {
                "action": "replace_lines",
                "name": "main.py",
                "first": 0,
                "last": 1,
                "text": "",
            },
        },
        {"project_id": "unknown", "action": {"action": "delete_file", "name": "main.py"}},
    ],
    "restore": [{}, *({"project_id": "unknown", "backup": number} for number in (1, "1", 0))],
    "say": [
        {},
        {"turn_id": "unknown"},
        {"turn_id": "unknown", "word": "yes"},
        {"turn_id": 5, "word": "act"},
    ],
    "subscribe": [
        {},
        {"conversation_id": "unknown"},
        {"conversation_id": "unknown", "after": -1},
        {"conversation_id": "unknown", "after": 2**63},
        {"conversation_id": "unknown", "after": "1"},
        {"conversation_id": "unknown", "after": True},
        {"conversation_id": "unknown", "after": 1.5},
    ],
}


def _is_alive(page: Client) -> bool:
    page.ask("say alive")
    return page.records(until="turn_finished")[-1]["event"]["answer"] == "alive"


@pytest.mark.parametrize("event", BAD_OBJECTS)
def test_a_bad_payload_is_refused_in_the_reply(
    server: ServerProcess, visitor: requests.Session, event: str
) -> None:
    with server.socket(visitor) as page:
        for payload in [*NOT_ONE_OBJECT, *BAD_OBJECTS[event]]:
            reply = page.call(event, payload, timeout=20)
            assert (reply["ok"], bool(reply["error"]["message"])) == (False, True), payload
        assert _is_alive(page)


def codes(kind: str) -> dict[str, object]:
    return {"kind": kind, "cause": "", "values": {}}


def test_what_is_wrong_is_named(server: ServerProcess, visitor: requests.Session) -> None:
    with server.socket(visitor) as page:
        assert page.call("ask", {"text": "x" * 1_000_000})["error"] == {
            "message": "text: String should have at most 20000 characters",
            "remedy": "send {text, conversation_id, files, answers, again, after, model, temporary, timezone, request_id}",
            **codes("request"),
        }
        assert page.call("ask", None)["error"] == {
            "message": "the event must carry one object",
            "remedy": "send {text, conversation_id, files, answers, again, after, model, temporary, timezone, request_id}",
            **codes("request"),
        }
        assert page.call("ask", {"text": " "})["error"]["message"] == "the request is blank"
        assert page.call("ask", {"text": "crash"})["error"] == {
            "message": "something went wrong in the server",
            "remedy": "try again; the server's log says more",
            **codes("internal"),
        }


def test_no_argument_two_arguments_and_no_reply_are_survived(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        for data in ((), ({"text": "say a"}, {"text": "say b"}), ({"text": 5},)):
            page.client.emit("ask", data)
        assert _is_alive(page)


@pytest.mark.parametrize(
    "name", ["unheard_of", "message", "json", "records", "unreadable", "error"]
)
def test_events_that_do_not_exist_are_refused(
    server: ServerProcess, visitor: requests.Session, name: str
) -> None:
    with server.socket(visitor) as page:
        reply = page.call(name, {"text": "say hello"}, timeout=20)
        assert reply == {
            "ok": False,
            "error": {
                "message": f"{name!r} is not an event of this server",
                "remedy": EVENTS,
                **codes("internal"),
            },
        }


@pytest.mark.parametrize(
    "packet",
    [
        "2" + "[" * 200_000,
        "2",
        "2[]",
        "2{}",
        "2[5]",
        "2[null,{}]",
        '2["connect",{}]',
        '2["disconnect"]',
        '2["*","ask",{}]',
        '2["ask",',
        '51-["ask",{"_placeholder":true,"num":0}]',
        '51-["ask",{"_placeholder":true,"num":9}]',
        "6[]",
        "9",
        "2" + "1" * 200 + '["ask",{}]',
        '21["ask",{"text":' + '{"a":' * 5000 + "1" + "}" * 5000 + "}]",
    ],
    ids=lambda packet: packet[:24],
)
@pytest.mark.parametrize("transport", ["websocket", "polling"])
def test_packets_that_no_client_makes_are_survived(
    server: ServerProcess, visitor: requests.Session, packet: str, transport: str
) -> None:
    with server.socket(visitor, transport) as page:
        page.client.eio.send(packet)
        assert _is_alive(page)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 60_000,
        b'{"to":' * 60_000,
        b'{"to":' * 70 + b"1" + b"}" * 70,
        b'{"to": "\\ud800"}',
        b"\xff",
        b"1" * 9_000,
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        "PATCH /api/v1/lessons/l1",
        *(f"POST /api/v1/tools/add/{change}" for change in ("rollback", "forget")),
    ],
)
def test_a_body_that_no_parser_copes_with_is_a_bad_request(
    server: ServerProcess, visitor: requests.Session, call: str, body: bytes
) -> None:
    method, path = call.split()
    headers = {"Origin": server.url, "Content-Type": "application/json"}
    response = visitor.request(method, server.url + path, data=body[:60_000], headers=headers)
    assert response.status_code == 400
    assert re.search("JSON|integer|string|required", response.json()["error"]["message"])


@pytest.mark.parametrize(
    "nested", ["[" * 70 + "]" * 70, '{"a":' * 900 + "1" + "}" * 900, "[" * 60_000], ids=len
)
@pytest.mark.parametrize("event", ["ask", "act", "subscribe"])
def test_an_event_that_is_nested_too_deeply_is_survived(
    server: ServerProcess, visitor: requests.Session, event: str, nested: str
) -> None:
    with server.socket(visitor) as page:
        page.client.eio.send(f'2["{event}",{{"project_id":"p","action":{nested}}}]')
        assert _is_alive(page)


@pytest.mark.parametrize(
    "mode", ["eventlet", pytest.param("threading", marks=pytest.mark.extended)]
)
@pytest.mark.extended
def test_what_is_malformed_below_socket_io_logs_a_line_and_no_traceback(
    tmp_path: Path, mode: Any
) -> None:
    server = ServerProcess(tmp_path, mode)
    messages = [
        "4",
        "4\x00",
        "40",
        "40/x,",
        "40/x,[]",
        "41",
        "41",
        "42/x,[]",
        '42/x,["ask",{}]',
        "43",
        "430",
        "430[]",
        '430["a"]',
        "43/x,0[]",
        "44",
        "45",
        "46",
    ]
    broken = ["", "x", "b", "b!", "9", "2", "3", "5", "6", "\x1e"]
    with server.browser() as visitor:
        for message in messages + broken:
            with server.socket(visitor) as page:
                page.client.eio.ws.send(message)
        unknown = {"9", "2", "6"}  # Engine.IO's answer to these waits for a poll
        for body in [
            *(b for b in messages + broken if b not in unknown),
            "\x1e" * 20,
            "d=",
            "d",
            "4[\x1e4",
        ]:
            address = f"{server.url}/socket.io/?EIO=4&transport=polling"
            address += f"&sid={json.loads(visitor.get(address).text[1:])['sid']}"
            for data in ("40", body):
                visitor.post(
                    address, data=data.encode(), headers={"Origin": server.url}, timeout=20
                )
        for path in (
            "/socket.io/?EIO=4",
            "/socket.io/?EIO=x&transport=polling&j=x",
            "/socket.io/?EIO=4&transport=polling&sid=x",
        ):
            visitor.post(
                server.url + path, data=b"\xff\xfe", headers={"Origin": server.url}, timeout=20
            )
        with server.socket(visitor) as page:
            assert _is_alive(page)
    assert server.end() == (0, "")
    lines = server.errors.splitlines()
    assert not [
        line
        for line in lines
        if not re.match("(WARNING|ERROR):selfeng.web", line) or len(line) > 250
    ], server.errors
    assert len(lines) <= 2 * len(messages + broken) + 10


def test_a_flood_of_garbage_on_one_connection_hurts_no_other(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        with server.socket(visitor) as hostile:
            hostile.client.eio.send(b"\x00\xff" * 1000)
            hostile.client.eio.send("4" + "[" * 100_000)
            hostile.client.eio.send('4{"deep":' * 10_000)
            hostile.client.eio.send("2" * 3_000_000)
        assert _is_alive(page)
        assert server.process.poll() is None


def test_a_message_to_a_page_that_has_just_gone_is_no_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    socket_log().warning("Cannot send to sid %s", "a")
    socket_log().warning("unknown packet\nof type %s", 9)
    assert [record.getMessage() for record in caplog.records] == [r"unknown packet\nof type 9"]
