"""The routes of a tool's versions, standing and requests: what they answer, and that nobody changes
anything from elsewhere.
"""

from typing import Any

import pytest
import requests

from tests.web.fake_engine import TOOL
from tests.web.server_process import ServerProcess

CHANGES: dict[str, dict[str, Any] | None] = {
    "rollback": {"to": 1},
    "retire": None,
    "restore": None,
    "forget": {"request": "sum of 1 and 1"},
}
LINE = {
    "version": 2,
    "created_at": "2026-01-02T03:04:05Z",
    "model": "offline",
    "digest": "0" * 64,
    "origin": {"how": "repaired", "failure": "it raised KeyError"},
    "why": "repaired: it raised KeyError",
    "tests": {"passed": 1, "total": 1},
    "imported": None,
    "usage": {"calls": 3, "input_tokens": 20, "output_tokens": 10, "cost": 0.02},
}


def test_the_versions_of_a_tool(server: ServerProcess, visitor: requests.Session) -> None:
    newest, oldest = visitor.get(f"{server.url}/api/v1/tools/add/versions").json()["versions"]
    assert newest == LINE
    assert oldest == {
        **LINE,
        "version": 1,
        "origin": {"how": "created"},
        "why": "created",
        "tests": None,
        "usage": None,
    }
    page = visitor.get(f"{server.url}/api/v1/tools/add/versions/2").json()
    assert page == {
        **LINE,
        "name": "add",
        "description": TOOL.description,
        "signature": str(TOOL.signature),
        "code": TOOL.code,
        "tests": TOOL.tests,
        "example_requests": ["What is 1 plus 2?"],
        "requires": [],
        "network": [],
        "limits": {"seconds": None, "memory": None, "space": None},
        "verdict": {
            "passed": True,
            "tests": [{"test": "test_add", "outcome": "passed", "seconds": 0.01, "message": ""}],
            "problem": None,
            "output": "",
            "seconds": 0.0,
        },
        "prompts": [{"name": "repair", "digest": "1" * 64}],
    }
    diff = visitor.get(
        f"{server.url}/api/v1/tools/add/diff", params={"from": "1", "to": "2"}
    ).json()
    assert diff == {"from": 1, "to": 2, "diff": f"-def add(a, b): ...\n+{TOOL.code}"}


def test_what_changes_a_tool_answers_with_the_tool(
    server: ServerProcess, visitor: requests.Session
) -> None:
    ours = {"Origin": server.url}
    answers = {
        c: visitor.post(f"{server.url}/api/v1/tools/add/{c}", json=body, headers=ours).json()
        for c, body in CHANGES.items()
    }
    assert [(c, a["name"], a["version"], a["standing"]) for c, a in answers.items()] == [
        ("rollback", "add", 3, "provisional"),
        ("retire", "add", 2, "retired"),
        ("restore", "add", 2, "provisional"),
        ("forget", "add", 2, "provisional"),
    ]
    assert answers["forget"]["used_requests"] == ["3 and 4 together"]
    with server.program() as program:
        assert (
            program.post(f"{server.url}/api/v1/tools/add/rollback", json={"to": 1}).json()[
                "version"
            ]
            == 3
        )


@pytest.mark.parametrize("change", CHANGES)
def test_nothing_is_changed_without_the_token_or_from_another_site(
    server: ServerProcess, visitor: requests.Session, change: str
) -> None:
    address, body = f"{server.url}/api/v1/tools/add/{change}", CHANGES[change]
    assert requests.post(address, json=body, timeout=20).status_code == 401
    assert visitor.post(address, json=body).status_code == 403, "a cookie alone"
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
        assert visitor.post(address, json=body, headers={"Origin": origin}).status_code == 403
    assert visitor.get(address).status_code == 405


@pytest.mark.parametrize(
    ("call", "body", "answer"),
    [
        ("GET /api/v1/tools/unknown/versions", None, (404, "there is no tool 'unknown'")),
        ("GET /api/v1/tools/add/versions/7", None, (404, "add has no version 7")),
        (
            "GET /api/v1/tools/add/versions/x",
            None,
            (
                400,
                "number='x': Input should be a valid integer, unable to parse string as an integer",
            ),
        ),
        (
            "GET /api/v1/tools/add/versions/0",
            None,
            (400, "number='0': Input should be greater than or equal to 1"),
        ),
        (
            f"GET /api/v1/tools/add/versions/{2**31}",
            None,
            (400, "number='2147483648': Input should be less than or equal to 2147483647"),
        ),
        (
            "GET /api/v1/tools/add/diff?from=1&to=²",
            None,
            (400, "to='²': Input should be a valid integer, unable to parse string as an integer"),
        ),
        ("GET /api/v1/tools/add/diff?to=1", None, (400, "from: Field required")),
        ("POST /api/v1/tools/add/rollback", {"to": 7}, (404, "add has no version 7")),
        ("POST /api/v1/tools/add/rollback", {"to": 2}, (409, "version 2 of add is already in use")),
        (
            "POST /api/v1/tools/add/rollback",
            {"to": "1"},
            (400, "to='1': Input should be a valid integer"),
        ),
        ("POST /api/v1/tools/add/rollback", [1], (400, "the body is not a JSON object")),
        (
            "POST /api/v1/tools/add/rollback",
            None,
            (400, "the body is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ),
        (
            "POST /api/v1/tools/add/forget",
            {"request": "x"},
            (404, "add has learned no request 'x' of yours"),
        ),
        (
            "POST /api/v1/tools/add/forget",
            {"request": ""},
            (400, "request='': String should have at least 1 character"),
        ),
        (
            "POST /api/v1/tools/add/forget",
            {"request": "x", "name": "y"},
            (400, "name='y': Extra inputs are not permitted"),
        ),
        ("POST /api/v1/tools/unknown/retire", None, (404, "there is no tool 'unknown'")),
        ("POST /api/v1/tools/unknown/restore", None, (404, "there is no tool 'unknown'")),
    ],
)
def test_what_can_not_be_is_refused_with_the_reason(
    server: ServerProcess,
    visitor: requests.Session,
    call: str,
    body: object,
    answer: tuple[int, str],
) -> None:
    method, path = call.split(" ", 1)
    response = visitor.request(method, server.url + path, json=body, headers={"Origin": server.url})
    assert (response.status_code, response.json()["error"]["message"]) == answer
