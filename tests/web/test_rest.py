"""The REST API: turns and calls of programs, and whether everything is as OpenAPI tells it."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import booleans
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    ignored_auth,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from selfeng.core.events import FINAL
from selfeng.core.stage_event import Usage
from selfeng.store.database import open_database
from selfeng.store.spending import Spending
from tests.store.test_spending import Turns
from tests.web.server_process import ServerProcess
from web.access import PERSON

STREAM = {"Accept": "text/event-stream"}
LAST = {kind.model_fields["type"].default for kind in FINAL}


@pytest.fixture
def program(server: ServerProcess) -> Iterator[requests.Session]:
    with server.program() as session:
        yield session


def events(response: requests.Response) -> Iterator[dict[str, Any]]:
    """The records of a stream of events."""
    assert response.headers["Content-Type"].startswith("text/event-stream")
    for event in response.iter_lines(decode_unicode=True, delimiter="\n\n"):
        fields = dict(line.split(": ", 1) for line in event.splitlines() if line[:1] != ":")
        if fields:
            record = json.loads(fields["data"])
            assert (fields["id"], fields["event"]) == (str(record["seq"]), record["event"]["type"])
            yield record


def ended(program: requests.Session, address: str) -> dict[str, Any]:
    """The report of a turn that has ended."""
    list(events(program.get(address, headers=STREAM, stream=True)))
    report: dict[str, Any] = program.get(address).json()
    return report


def test_a_turn_is_begun_and_asked_for_by_its_id(
    server: ServerProcess, program: requests.Session
) -> None:
    begun = program.post(f"{server.url}/api/v1/turns", json={"text": "hold rest"})
    asked = begun.json()
    assert (begun.status_code, set(asked)) == (202, {"conversation_id", "turn_id"})
    assert begun.headers["Location"] == f"/api/v1/turns/{asked['turn_id']}"
    address = server.url + begun.headers["Location"]
    assert program.get(address).json()["outcome"] is None
    program.post(f"{server.url}/api/v1/turns", json={"text": "release rest"})
    assert ended(program, address) == {
        **asked,
        "after": None,
        "request": "hold rest",
        "answers": {},
        "outcome": "answered",
        "step": "",
        "answer": "onetwo",
        "questions": [],
        "files": [],
        "new_tools": [],
        "usage": {"calls": 0, "input_tokens": 0, "output_tokens": 0, "cost": None},
        "seconds": 0.0,
    }
    page = program.get(f"{server.url}/api/v1/conversations/{asked['conversation_id']}").json()
    assert [turn["answer"] for turn in page["turns"]] == ["onetwo"]


def test_a_stream_goes_on_after_a_cut(server: ServerProcess, program: requests.Session) -> None:
    address, body = f"{server.url}/api/v1/turns", {"text": "hold cut"}
    with program.post(address, json=body, headers=STREAM, stream=True) as response:
        assert response.status_code == 200
        stream = events(response)
        seen = [next(stream), next(stream)]
    assert [record["event"]["type"] for record in seen] == ["turn_started", "answer_token"]
    program.post(address, json={"text": "release cut"})
    turn = f"{address}/{seen[0]['turn_id']}"
    after = {**STREAM, "Last-Event-ID": str(seen[-1]["seq"])}
    rest = list(events(program.get(turn, headers=after, stream=True)))
    assert [record["event"]["type"] for record in rest] == ["answer_token", "turn_finished"]
    again = list(events(program.get(turn, headers=STREAM, stream=True)))
    assert again == [*seen, *rest]
    after["Last-Event-ID"] = str(rest[-1]["seq"])
    assert list(events(program.get(turn, headers=after, stream=True))) == []
    refused = program.get(turn, headers={**STREAM, "Last-Event-ID": "x"})
    assert (refused.status_code, refused.json()["error"]["remedy"]) == (
        400,
        "send the id of an event",
    )


def test_an_answer_is_marked_as_wrong(server: ServerProcess, program: requests.Session) -> None:
    first = program.post(f"{server.url}/api/v1/turns", json={"text": "say one"}).json()
    address = f"{server.url}/api/v1/turns/{first['turn_id']}/wrong"
    ended(program, address.removesuffix("/wrong"))
    begun = program.post(address, json={"complaint": "No", "value": "2"})
    assert begun.status_code == 202
    assert begun.json()["conversation_id"] == first["conversation_id"]
    assert begun.json()["turn_id"] != first["turn_id"]


def test_a_turn_begins_a_branch_and_is_continued_in_a_new_conversation(
    server: ServerProcess, program: requests.Session
) -> None:
    def asked(text: str, **place: str) -> dict[str, Any]:
        begun = program.post(f"{server.url}/api/v1/turns", json={"text": text, **place})
        return ended(program, server.url + begun.headers["Location"])

    first = asked("say one")
    address = f"{server.url}/api/v1/conversations/{first['conversation_id']}"
    here = {"conversation_id": first["conversation_id"]}
    second = asked("say two", **here)
    sibling = asked("say three", after=first["turn_id"], **here)
    turns = program.get(address).json()["turns"]
    assert [(turn["answer"], turn["after"]) for turn in turns] == [
        ("one", None),
        ("two", None),
        ("three", first["turn_id"]),
    ]
    assert "two" not in program.get(f"{address}/export.md").text
    forked = program.post(f"{address}/fork", json={"turn_id": second["turn_id"]})
    assert forked.status_code == 201
    copy = program.get(f"{server.url}/api/v1/conversations/{forked.json()['id']}").json()
    assert [turn["answer"] for turn in copy["turns"]] == ["one", "two"]
    elsewhere = program.post(f"{address}/fork", json={"turn_id": copy["turns"][0]["turn_id"]})
    assert elsewhere.status_code == 404
    assert sibling["turn_id"] != second["turn_id"]


def test_a_turn_is_stopped(server: ServerProcess, program: requests.Session) -> None:
    address = f"{server.url}/api/v1/turns"
    begun = program.post(address, json={"text": "hold forever"}).json()
    turn = f"{address}/{begun['turn_id']}"
    assert program.delete(turn).json() == {"stopped": True}
    assert ended(program, turn)["outcome"] == "stopped"
    assert program.delete(turn).json() == {"stopped": False}
    for answer in (program.get(f"{address}/x"), program.delete(f"{address}/x")):
        assert (answer.status_code, answer.json()["error"]["message"]) == (404, "unknown turn 'x'")
    streamed = program.get(f"{address}/x", headers=STREAM)
    assert (streamed.status_code, streamed.json()["error"]["message"]) == (404, "unknown turn 'x'")


def test_a_request_that_is_sent_again_is_the_same_turn(
    server: ServerProcess, program: requests.Session
) -> None:
    body = {"text": "say it once", "request_id": "rest-1"}
    first, again = (program.post(f"{server.url}/api/v1/turns", json=body).json() for _ in range(2))
    assert first == again


def test_files_go_with_a_turn_and_questions_are_answered(
    server: ServerProcess, program: requests.Session
) -> None:
    api = f"{server.url}/api/v1"
    upload = program.post(f"{api}/files", params={"name": "a.csv"}, data=b"a,b").json()
    begun = program.post(f"{api}/turns", json={"text": "say back", "files": [upload["id"]]}).json()
    (made,) = ended(program, f"{api}/turns/{begun['turn_id']}")["files"]
    path = f"conversations/{begun['conversation_id']}/files/{made['sha256']}/{made['name']}"
    assert program.get(f"{api}/{path}").content == b"a,b"
    begun = program.post(f"{api}/turns", json={"text": "question"}).json()
    report = ended(program, f"{api}/turns/{begun['turn_id']}")
    assert (report["outcome"], [q["id"] for q in report["questions"]]) == (
        "asked",
        ["unit", "digits"],
    )
    answers = {"unit": "foot", "digits": 2}
    body = {"text": "", "conversation_id": begun["conversation_id"], "answers": answers}
    begun = program.post(f"{api}/turns", json=body).json()
    report = ended(program, f"{api}/turns/{begun['turn_id']}")
    assert (report["answer"], report["answers"]) == (
        "unit=footdigits=2",
        {"unit": "foot", "digits": "2"},
    )


def test_a_tool_is_called(server: ServerProcess, program: requests.Session) -> None:
    address = f"{server.url}/api/v1/tools/add/call"
    report = program.post(address, json={"arguments": {"a": 1, "b": 2}}).json()
    assert (report["outcome"], report["value"], report["text"]) == ("returned", 3, "3")
    report = program.post(address, json={"arguments": {"a": -1}}).json()
    assert (report["outcome"], report["value"], report["text"]) == (
        "raised",
        None,
        "ValueError: a is negative",
    )
    doubted = program.post(address, json={"arguments": {"a": 13}}).json()
    assert (report["witnessed"], doubted["witnessed"]["other"]) == (None, "12")
    wrong = program.post(address, json={"arguments": {}})
    assert (wrong.status_code, wrong.json()["error"]["remedy"]) == (
        400,
        "its signature is add(a: int, b: int = 1) -> int",
    )
    gone = program.post(f"{server.url}/api/v1/tools/gone/call", json={})
    assert gone.status_code == 404


def test_a_program_is_run(server: ServerProcess, program: requests.Session) -> None:
    address = f"{server.url}/api/v1/programs"
    code = "from add import add\ndef program(a, b=1):\n    return add(a=a, b=b)\n"
    report = program.post(address, json={"code": code, "arguments": {"a": 1}}).json()
    assert (report["value"], report["tools"], report["notes"]) == (
        2,
        [{"name": "add", "version": 2}],
        [],
    )
    doubted = program.post(address, json={"code": code, "arguments": {"a": 13}}).json()
    assert doubted["witnessed"]["other"] == "12"
    refused = program.post(address, json={"code": "import socket"})
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        400,
        "the code defines no function program at top level",
    )


def test_a_person_decides_on_proposals_and_edits_and_freezes(
    server: ServerProcess, program: requests.Session
) -> None:
    api = f"{server.url}/api/v1"
    begun = program.post(f"{api}/turns", json={"text": "say proposed"}).json()
    ended(program, f"{api}/turns/{begun['turn_id']}")
    (line,) = program.get(f"{api}/proposals").json()["proposals"]
    assert (line["name"], line["version"], line["based_on"]) == ("add", 3, 2)
    page = program.get(f"{api}/proposals/add").json()
    assert page["code"] == page["code_before"].replace("a + b", "a + b + 1")
    assert program.get(f"{api}/proposals/add/behaviour").json()["changed"] == 1
    assert program.post(f"{api}/proposals/add/refuse").json()["refused"]
    assert program.get(f"{api}/proposals").json()["proposals"] == []
    assert not program.post(f"{api}/proposals/add/reopen").json()["refused"]
    assert program.post(f"{api}/proposals/add/accept").json()["version"] == 3
    assert program.post(f"{api}/proposals/add/accept").status_code == 404
    rows = [{"arguments": {"a": 2, "b": 2}, "value": 5}]
    verdict = program.post(f"{api}/tools/add/verdict", json={"rows": rows}).json()
    assert [test["outcome"] for test in verdict["tests"]] == ["passed", "failed"]
    edited = program.post(f"{api}/tools/add/edit", json={"code": "pass"}).json()
    assert (edited["version"], edited["waits"], edited["turn"]) == (3, False, None)
    taught = program.post(f"{api}/tools/add/teach", json={"rows": rows}).json()
    assert taught["turn"]["turn_id"]
    assert program.post(f"{api}/tools/add/teach", json={"rows": []}).status_code == 400
    assert program.post(f"{api}/tools/add/freeze").json()["frozen"]
    assert not program.post(f"{api}/tools/add/unfreeze").json()["frozen"]


def test_the_files_of_a_call_are_in_its_report(
    server: ServerProcess, program: requests.Session
) -> None:
    upload = program.post(f"{server.url}/api/v1/files", params={"name": "a.csv"}, data=b"a,b")
    body = {"arguments": {"a": 1}, "files": [upload.json()["id"]]}
    report = program.post(f"{server.url}/api/v1/tools/add/call", json=body).json()
    (file,) = report["files"]
    assert (file["name"], base64.b64decode(file["content"])) == ("a.csv", b"a,b")


def test_a_conversation_is_deleted_and_restored(
    server: ServerProcess, program: requests.Session
) -> None:
    api = f"{server.url}/api/v1"
    begun = program.post(f"{api}/turns", json={"text": "say goodbye"}).json()
    ended(program, f"{api}/turns/{begun['turn_id']}")
    address = f"{api}/conversations/{begun['conversation_id']}"
    assert program.delete(address).json() == {}
    assert [program.get(address).status_code, program.delete(address).status_code] == [404, 404]
    assert program.patch(address, json={"deleted": False}).json() == {}
    assert program.get(address).json()["title"] == "say goodbye"


def test_a_conversation_has_a_model_and_may_be_temporary(
    server: ServerProcess, program: requests.Session
) -> None:
    api = f"{server.url}/api/v1"
    body = {"text": "say secret", "model": " good-model ", "temporary": True}
    begun = program.post(f"{api}/turns", json=body).json()
    ended(program, f"{api}/turns/{begun['turn_id']}")
    address = f"{api}/conversations/{begun['conversation_id']}"
    page = program.get(address).json()
    assert (page["kind"], page["model"]) == ("temporary", "good-model")
    assert program.patch(address, json={"model": ""}).json() == {}
    assert program.get(address).json()["model"] == ""
    assert program.patch(address, json={"model": "two\nlines"}).status_code == 400
    listed = program.get(f"{api}/conversations").json()["conversations"]
    assert begun["conversation_id"] not in [one["id"] for one in listed]
    assert program.delete(address).json() == {}
    assert program.patch(address, json={"deleted": False}).status_code == 404


def test_spending_is_reported(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, "threading")
    with server.program() as program:
        address = f"{server.url}/api/v1/spending"
        nothing = program.get(address).json()
        assert nothing == {"months": [], "spent": 0.0, "limit": None}
        database = open_database(f"sqlite:///{tmp_path / 'agent.db'}")
        Spending(database).count(PERSON, Usage(calls=1, input_tokens=40, cost=0.5))
        turns = Turns(database)
        turns.add("slugify")
        turns.build("slugify", Usage(calls=1, input_tokens=40, cost=0.5), seconds=2.0)
        Spending(database).count("another", Usage(calls=1, input_tokens=2, cost=0.25))
        database.dispose()
        report = program.get(address).json()
        accounts = program.get(f"{address}/tools").json()["tools"]
    (account,) = accounts
    built = {"tokens": 40, "cost": 0.5, "seconds": 2.0}
    assert (account["tool"], account["built"], account["reuses"]) == ("slugify", built, 0)
    (month,) = report["months"]
    assert (month["turns"], month["tokens"], month["cost"]) == (0, 40, 0.5)
    assert (report["spent"], report["limit"]) == (0.75, None)
    assert server.end() == (0, "")


def test_every_operation_is_described(server: ServerProcess, program: requests.Session) -> None:
    described = program.get(f"{server.url}/api/v1/openapi.json").json()
    assert described["openapi"] == "3.1.0"
    told = {path: set(methods) for path, methods in described["paths"].items()}
    assert len(told) == 74
    assert told["/api/v1/turns/{turn_id}"] == {"get", "delete"}
    assert told["/api/v1/tools/{name}/versions/{number}"] == {"get"}
    assert all(
        one["summary"] for methods in described["paths"].values() for one in methods.values()
    )


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server of its own, as what is sent to it changes its settings."""
    process = ServerProcess(tmp_path_factory.mktemp("fuzzed"), "eventlet")
    yield process
    assert process.end() == (0, "")
    assert "Traceback" not in process.errors


@pytest.fixture(scope="module")
def api(fuzzed: ServerProcess) -> Any:
    headers = {"Authorization": f"Bearer {fuzzed.token}"}
    return schemathesis.openapi.from_url(f"{fuzzed.url}/api/v1/openapi.json", headers=headers)


CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    ignored_auth,
    unsupported_method,
]


def known(server: ServerProcess) -> dict[str, Any]:
    """Values of paths that there are."""
    with server.program() as program:
        body = {"text": "draw"}
        turn = program.post(f"{server.url}/api/v1/turns", json=body).json()
        address = f"{server.url}/api/v1/turns/{turn['turn_id']}"
        (made, *_) = ended(program, address)["files"]
        share = program.post(
            f"{server.url}/api/v1/conversations/{turn['conversation_id']}/shares", json={}
        ).json()
    return {
        **turn,
        "sha256": made["sha256"],
        "number": 1,
        "form": "md",
        "lesson_id": "l1",
        "share_id": share["id"],
        "name": "add",
    }


def test_every_answer_is_as_it_is_described(
    api: Any, fuzzed: ServerProcess, pytestconfig: pytest.Config
) -> None:
    headers = {"Authorization": f"Bearer {fuzzed.token}", "Accept": "application/json"}
    there = known(fuzzed)
    bounded = settings(
        max_examples=10 if pytestconfig.getoption("everywhere") else 5,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    operations = [found.ok() for found in api.get_all_operations()]
    for operation in operations:

        @bounded
        @given(case=operation.as_strategy(), is_there=booleans())
        def check(case: Any, is_there: bool) -> None:
            if is_there:
                case.path_parameters = {
                    name: there.get(name, value) for name, value in case.path_parameters.items()
                }
            case.call_and_validate(headers=headers, checks=CHECKS)

        check()
    assert len(operations) == 90
