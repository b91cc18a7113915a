"""Projects over HTTP and the socket: builds as turns of their own conversations, what a person does
on them, and whose they are.
"""

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from tests.web.server_process import Client, ServerProcess, of_somebody_else


@pytest.fixture
def client(server: ServerProcess, visitor: requests.Session) -> Iterator[Client]:
    with server.socket(visitor) as client:
        yield client


def begun(client: Client, event: str, **payload: Any) -> tuple[str, str]:
    """The ids of project and turn."""
    reply = client.call(event, payload, timeout=20)
    assert reply["ok"], reply
    return reply["conversation_id"], reply["turn_id"]


def ended(client: Client, event: str, **payload: Any) -> tuple[str, list[dict[str, Any]]]:
    """The id of the project, and the events of a turn that ends well."""
    project, turn = begun(client, event, **payload)
    return project, [
        r["event"] for r in client.records("turn_finished", turn) if r["turn_id"] == turn
    ]


def types(events: list[dict[str, Any]]) -> list[str]:
    return [
        event["type"].removeprefix("project_")
        for event in events
        if event["type"] != "budget_spent"
    ]


def test_a_build_is_a_turn_that_is_told_live_and_again(
    server: ServerProcess, visitor: requests.Session, client: Client
) -> None:
    project, events = ended(client, "build", name="demo", goal="print 42")
    acts = ["reasoned", "act_chosen", "changed", "ran", "reasoned", "act_chosen"]
    assert types(events) == ["turn_started", "started", *acts, "finished", "turn_finished"]
    assert (events[0]["request"], events[-1]["answer"], events[-1]["usage"]["calls"]) == (
        "print 42",
        "It is built.",
        2,
    )
    with server.socket(visitor) as again:
        assert [r["event"] for r in again.follow(project)] == events
    assert project not in [
        c["id"] for c in visitor.get(f"{server.url}/api/v1/conversations").json()["conversations"]
    ]
    (line,) = visitor.get(f"{server.url}/api/v1/projects").json()["projects"]
    assert (line["id"], line["name"], line["goal"], line["status"]) == (
        project,
        "demo",
        "print 42",
        "finished",
    )
    shown = visitor.get(f"{server.url}/api/v1/projects/{project}").json()
    assert [(file["path"], file["size"]) for file in shown["files"]] == [("main.py", 10)]
    assert ([backup["number"] for backup in shown["backups"]], shown["turn_id"]) == ([1], None)


def test_a_person_edits_runs_and_goes_back(
    server: ServerProcess, visitor: requests.Session, client: Client
) -> None:
    project, _ = ended(client, "build", name="demo", goal="print 42")
    address = f"{server.url}/api/v1/projects/{project}"
    edit = {
        "action": "replace_lines",
        "name": "main.py",
        "first": 1,
        "last": 1,
        "text": "print(43)",
    }
    _, events = ended(client, "act", project_id=project, action=edit)
    assert (types(events), events[0]["request"]) == (
        ["turn_started", "act_chosen", "changed", "turn_finished"],
        "Edit main.py",
    )
    assert "-print(42)\n+print(43)\n" in events[2]["diff"]
    assert visitor.get(f"{address}/files/main.py").content == b"print(43)\n"
    _, ran = ended(
        client, "act", project_id=project, action={"action": "execute_py_file", "name": "main.py"}
    )
    assert (types(ran)[1:3], ran[2]["exit_code"]) == (["act_chosen", "ran"], 0)
    _, back = ended(client, "restore", project_id=project, backup=2)
    assert (back[-1]["answer"], "+print(42)" in back[1]["diff"]) == (
        "demo is what it was at backup 2. What was there before is backup 4.",
        True,
    )
    _, more = ended(client, "build", project_id=project, goal="print it again")
    assert (types(more)[:2], more[1]["resumed"]) == (["turn_started", "started"], True)
    with zipfile.ZipFile(io.BytesIO(visitor.get(f"{address}/zip").content)) as archive:
        assert {name: archive.read(name) for name in archive.namelist()} == {
            "main.py": b"print(42)\n"
        }
    markup = {"action": "create_file", "name": "notes.html", "body": "<script>alert(1)</script>"}
    ended(client, "act", project_id=project, action=markup)
    response = visitor.get(f"{address}/files/notes.html")
    headers = (response.headers["Content-Type"], response.headers["Content-Disposition"])
    assert headers == ("application/octet-stream", "attachment; filename=notes.html")
    _, turn = begun(
        client, "act", project_id=project, action={"action": "delete_file", "name": "nothing.py"}
    )
    assert (
        client.records("turn_failed", turn)[-1]["event"]["message"] == "there is no file nothing.py"
    )


def test_the_tools_that_a_project_has_copies_of_are_listed(
    server: ServerProcess, visitor: requests.Session, client: Client
) -> None:
    project, _ = ended(client, "build", name="demo", goal="print 42")
    line = "from add import add\n"
    edit = {"action": "write_file", "name": "main.py", "body": line}
    ended(client, "act", project_id=project, action=edit)
    _, events = ended(client, "build", project_id=project, goal="add")
    assert [(e["path"], e["change"]) for e in events if e["type"] == "project_changed"] == [
        ("add.py", "created")
    ]
    address = f"{server.url}/api/v1/projects/{project}"
    assert visitor.get(address).json()["tools"] == [{"name": "add", "version": 2}]
    edit = {"action": "replace_lines", "name": "add.py", "first": 1, "last": 1, "text": ""}
    _, turn = begun(client, "act", project_id=project, action=edit)
    message = client.records("turn_failed", turn)[-1]["event"]["message"]
    assert message == "add.py is a copy of a verified tool, which does not change"


def test_what_waits_for_a_word_gets_it(
    server: ServerProcess, visitor: requests.Session, client: Client
) -> None:
    _, turn = begun(client, "build", name="demo", goal="print 42", step=True)
    client.records("project_paused", turn)
    assert client.call("say", {"turn_id": turn, "word": "approve"}, timeout=20) == {
        "ok": True,
        "heard": False,
    }
    assert client.call("say", {"turn_id": turn, "word": "act_on"}, timeout=20) == {
        "ok": True,
        "heard": True,
    }
    client.records("turn_finished", turn)
    for word, known in (("approve", ["humanize==4.9.0"]), ("refuse", [])):
        project, turn = begun(
            client, "build", name="demo", goal="print 42", packages=["humanize==4.9.0"]
        )
        asked = client.records("project_paused", turn)[-1]["event"]
        assert (asked["action"], asked["package"]) == ("add_package", "humanize==4.9.0")
        assert client.call("say", {"turn_id": turn, "word": word}, timeout=20)["heard"]
        client.records("turn_finished", turn)
        assert visitor.get(f"{server.url}/api/v1/projects/{project}").json()["packages"] == known
    project, turn = begun(client, "build", name="demo", goal="wait for ever")
    assert client.call("say", {"turn_id": turn, "word": "pause"}, timeout=20)["heard"]
    assert not client.call("build", {"project_id": project}, timeout=20)["ok"]
    assert client.call("stop", {"turn_id": turn}, timeout=20)["stopped"]
    events = [r["event"]["type"] for r in client.records("turn_stopped", turn)]
    assert events[-2:] == ["project_stopped", "turn_stopped"]


def test_a_project_is_its_owners_alone_until_it_is_deleted(
    server: ServerProcess, visitor: requests.Session, client: Client
) -> None:
    project, _ = ended(client, "build", name="demo", goal="print 42")
    addresses = [
        f"{server.url}/api/v1/projects/{project}{rest}" for rest in ("", "/zip", "/files/main.py")
    ]
    foreign = of_somebody_else(server.folder, "project")
    shown = visitor.get(f"{server.url}/api/v1/projects").json()["projects"]
    assert foreign not in {line["id"] for line in shown}
    theirs = [address.replace(project, foreign) for address in addresses]
    assert [visitor.get(address).status_code for address in theirs] == [404] * 3
    assert visitor.delete(theirs[0], headers={"Origin": server.url}).status_code == 404
    for event, more in (
        ("build", {}),
        ("act", {"action": {"action": "run_tests"}}),
        ("restore", {"backup": 1}),
    ):
        assert not client.call(event, {"project_id": foreign, **more}, timeout=20)["ok"]
    assert [visitor.get(address).status_code for address in addresses] == [200] * 3
    assert visitor.delete(addresses[0]).status_code == 403, "a cookie alone"
    assert visitor.delete(addresses[0], headers={"Origin": server.url}).status_code == 200
    assert [visitor.get(address).status_code for address in addresses] == [404] * 3
    assert not client.call("subscribe", {"conversation_id": project}, timeout=20)["ok"]
