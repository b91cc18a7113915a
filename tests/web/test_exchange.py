"""The routes of tools that leave and arrive: what they answer, what they refuse, and that nobody
imports anything from elsewhere.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from selfeng.library.exchange.tool_bundle import LARGEST, read_bundle
from tests.exchange.bundles import LOCK, authors_keys, bundle, draft, members, packed
from tests.web.fake_engine import TOOL
from tests.web.server_process import ServerProcess


@pytest.fixture
def program(server: ServerProcess) -> Iterator[requests.Session]:
    with server.program() as session:
        yield session


def events(response: requests.Response) -> list[tuple[str, Any]]:
    assert response.status_code == 200, response.text
    assert response.headers["Content-Type"].startswith("text/event-stream")
    found = [event.splitlines() for event in response.text.split("\n\n") if event[:6] == "event:"]
    return [(kind[7:], json.loads(data[6:])) for kind, data in found]


def finding(name: str, outcome: str, detail: str = "") -> tuple[str, dict[str, Any]]:
    error = {"kind": "task", "cause": "", "values": {}, "receipt": ""}
    return "finding", {"name": name, "outcome": outcome, "detail": detail, **error}


def problem(response: requests.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("form", "file"),
    [
        ("script", "add.py"),
        ("skill", "add.zip"),
        ("bundle", "add.zip"),
        ("", "add.zip"),
    ],
)
def test_a_tool_is_downloaded_in_each_form(
    server: ServerProcess, program: requests.Session, form: str, file: str
) -> None:
    address = f"{server.url}/api/v1/tools/add/export"
    response = program.get(address, params={"as": form} if form else {})
    assert response.headers["Content-Disposition"] == f"attachment; filename={file}"
    assert response.headers["Content-Type"] == "application/octet-stream"
    if form == "bundle":
        (tool,) = read_bundle(response.content).tools
        assert (tool.name, tool.code, tool.tests) == ("add", TOOL.code, TOOL.tests)
    assert problem(program.get(address, params={"as": "exe"}))[0] == 400
    gone = program.get(f"{server.url}/api/v1/tools/gone/export")
    assert problem(gone) == (404, "there is no tool 'gone'")


def test_the_library_is_downloaded_whole(server: ServerProcess, program: requests.Session) -> None:
    content = program.get(f"{server.url}/api/v1/bundles").content
    assert "add" in [tool.name for tool in read_bundle(content).tools]


def test_a_bundle_is_checked_then_imported(
    server: ServerProcess, program: requests.Session, tmp_path: Path
) -> None:
    good, wrong = draft("reverse_words"), draft("wrong_words")
    content, address = bundle(tmp_path, good, wrong), f"{server.url}/api/v1/bundles"
    (kind, offer), *findings = events(program.post(f"{address}/check", data=content))
    digest = hashlib.sha256(content).hexdigest()
    assert (kind, offer["digest"], [t["name"] for t in offer["tools"]]) == (
        "offer",
        digest,
        ["reverse_words", "wrong_words"],
    )
    own = authors_keys(tmp_path).own_key()
    assert (offer["signer"]["status"], offer["signer"]["key"]) == ("unknown", own)
    assert offer["tools"][0] == {
        "name": "reverse_words",
        "signature": "reverse_words(text: str) -> str",
        "description": "Does what reverse_words says.",
        "parameters": {"text": "Any text."},
        "example_requests": ["please reverse words abc"],
        "model": "gpt-4",
        "packages": [],
        "imports": [],
        "network": [],
        "code": good.code,
        "tests": good.tests,
    }
    refused = finding("wrong_words", "refused", "wrong_words: 1 of 2 tests failed; ask its author")
    passes = finding(
        "reverse_words", "passed", "2 of 2 tests passed; the file has no receipt of it"
    )
    passes[1]["receipt"] = "missing"
    assert findings == [passes, refused]
    query = {"digest": digest, "file": "friends.zip", "only": "reverse_words"}
    added = [finding("reverse_words", "added", "Does what reverse_words says.")]
    added[0][1]["receipt"] = "missing"
    assert events(program.post(address, data=content, params=query)) == added
    locked = bundle(tmp_path, draft("ordinal_words", lock=LOCK))
    (_, (_, asking)) = events(program.post(f"{address}/check", data=locked))
    (_, (_, passed)) = events(program.post(f"{address}/check?installs=true", data=locked))
    assert (asking["outcome"], asking["cause"], asking["values"]) == (
        "asks",
        "consent",
        {"name": "ordinal_words", "needs": "humanize==4.9.0"},
    )
    assert passed["outcome"] == "passed"
    again = events(program.post(address, data=content, params={"digest": digest}))
    assert again == [finding("reverse_words", "present"), refused]


def test_what_is_no_bundle_is_refused(
    server: ServerProcess, program: requests.Session, tmp_path: Path
) -> None:
    address, content = f"{server.url}/api/v1/bundles", bundle(tmp_path)
    told = {"digest": hashlib.sha256(content).hexdigest()}
    for path, query in ((f"{address}/check", {}), (address, told)):
        for body in (b"", b"PK\x03\x04", packed([("../evil.py", b"")])):
            refused = program.post(path, data=body, params=query)
            assert refused.json()["error"]["remedy"], refused.text
            assert refused.status_code == 400
        large = program.post(path, data=bytes(LARGEST + 1), params=query)
        assert problem(large) == (413, f"the body is larger than {LARGEST} bytes")
    assert problem(program.post(address, data=content, params={"digest": "0" * 64})) == (
        400,
        "the file is not the one that was checked",
    )
    assert problem(program.post(address, data=content))[0] == 400
    unknown = program.post(address, data=content, params={**told, "only": "print"})
    assert problem(unknown) == (400, "the bundle has no tool named 'print'")
    other = members(bundle(tmp_path, draft("other")))["signature.json"]
    broken = packed({**members(content), "signature.json": other}.items())
    status, message = problem(program.post(f"{address}/check", data=broken))
    assert (status, "is broken" in message) == (400, True)


def test_a_sandbox_that_breaks_is_the_last_event(
    server: ServerProcess, program: requests.Session, tmp_path: Path
) -> None:
    content = bundle(tmp_path, draft("broken_tool"))
    *_, last = events(program.post(f"{server.url}/api/v1/bundles/check", data=content))
    codes = {"kind": "sandbox", "cause": "missing", "values": {}}
    error = {"message": "there is no sandbox", "remedy": "start Docker", **codes}
    assert last == ("error", error)


def test_nothing_is_imported_from_another_site(
    server: ServerProcess, visitor: requests.Session, tmp_path: Path
) -> None:
    content = bundle(tmp_path)
    for path in ("/api/v1/bundles", "/api/v1/bundles/check"):
        assert requests.post(server.url + path, data=content, timeout=20).status_code == 401
        assert visitor.post(server.url + path, data=content).status_code == 403, "a cookie alone"
        elsewhere = {"Origin": "http://evil.example"}
        assert visitor.post(server.url + path, data=content, headers=elsewhere).status_code == 403


def test_subscriptions_are_followed_checked_and_left(
    server: ServerProcess, program: requests.Session
) -> None:
    address = f"{server.url}/api/v1/subscriptions"
    refused = program.post(address, json={"place": "/etc"})
    assert problem(refused) == (400, "'/etc' can't be followed")
    new = program.post(address, json={"place": "https://tools.example.org/index.json"})
    assert (new.status_code, new.json()["name"]) == (201, "tools")
    assert program.get(address).json() == {"subscriptions": [new.json()]}
    objection = "of your tests, test_sum fails (assert 4 == 3)"
    assert events(program.post(f"{address}/check"))[0] == finding("add", "waits", objection)
    (line,) = program.get(f"{server.url}/api/v1/proposals").json()["proposals"]
    assert line["objections"] == [objection]
    program.post(f"{server.url}/api/v1/proposals/add/refuse")
    assert program.delete(f"{address}/tools").json() == {}
    assert program.get(address).json() == {"subscriptions": []}
