"""Files over HTTP: sent before the request that takes them, served to their owner only, and shown
in place only if they are pictures.
"""

import os
import re
import socket
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
import requests

from selfeng.core.errors import RequestError
from selfeng.core.files import MB, File, LargeContent
from tests.web.server_process import ServerProcess, of_somebody_else
from web.uploads import Uploads, UploadsFull

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


def send(
    server: ServerProcess, visitor: requests.Session, name: str, content: bytes
) -> requests.Response:
    return visitor.post(
        f"{server.url}/api/v1/files",
        params={"name": name},
        data=content,
        headers={"Origin": server.url},
    )


def converse(
    server: ServerProcess, visitor: requests.Session, *files: tuple[str, bytes]
) -> tuple[str, list[dict[str, Any]]]:
    """Have the files handed back; the conversation and its events."""
    uploads = [send(server, visitor, *file).json()["id"] for file in files]
    with server.socket(visitor) as page:
        asked = page.call("ask", {"text": "say back", "files": uploads}, timeout=20)
        assert asked["ok"], asked
        return asked["conversation_id"], [r["event"] for r in page.records(until="turn_finished")]


def address(server: ServerProcess, conversation: str, events: list[dict[str, Any]]) -> str:
    """Where the first file of the request is."""
    file = events[0]["files"][0]
    return f"{server.url}/api/v1/conversations/{conversation}/files/{file['sha256']}/{quote(file['name'])}"


def test_files_come_with_a_request_and_are_handed_out(
    server: ServerProcess, visitor: requests.Session
) -> None:
    content = bytes(range(256)) * 2000
    conversation, events = converse(server, visitor, ("data.csv", content), ("Größe ½.png", PNG))
    assert [e["type"] for e in events] == [
        "turn_started",
        "files_made",
        "answer_token",
        "turn_finished",
    ]
    for event, names in zip(
        events[:2],
        (["data.csv", "Größe ½.png"], ["back-data.csv", "back-Größe ½.png"]),
        strict=True,
    ):
        assert [f["name"] for f in event["files"]] == names
        assert [f["media_type"] for f in event["files"]] == ["text/csv", "image/png"]
        assert "contents" not in event
    assert visitor.get(address(server, conversation, events)).content == content


@pytest.mark.parametrize(
    ("file", "query", "served"),
    [
        (("a.png", PNG), "", ("image/png", "inline; filename=a.png")),
        (("a.png", PNG), "?download", ("image/png", "attachment; filename=a.png")),
        (("picture.txt", PNG), "", ("image/png", "inline; filename=picture.txt")),
        (("a.png", SVG), "", ("application/octet-stream", "attachment; filename=a.png")),
        (("a.svg", SVG), "", ("application/octet-stream", "attachment; filename=a.svg")),
        (
            ("a.html", b"<script>alert(1)</script>"),
            "",
            ("application/octet-stream", "attachment; filename=a.html"),
        ),
        (("a.csv", b"x"), "", ("application/octet-stream", "attachment; filename=a.csv")),
        (("empty", b""), "", ("application/octet-stream", "attachment; filename=empty")),
        (('a"; x=y', b"x"), "", ("application/octet-stream", r'attachment; filename="a\"; x=y"')),
        (
            ("é.csv", b"x"),
            "",
            ("application/octet-stream", "attachment; filename=e.csv; filename*=UTF-8''%C3%A9.csv"),
        ),
    ],
)
def test_only_pictures_are_shown_in_place(
    server: ServerProcess,
    visitor: requests.Session,
    file: tuple[str, bytes],
    query: str,
    served: tuple[str, str],
) -> None:
    name, content = file
    conversation, events = converse(server, visitor, (name, content))
    response = visitor.get(address(server, conversation, events) + query)
    assert (response.status_code, response.content) == (200, content)
    assert (response.headers["Content-Type"], response.headers["Content-Disposition"]) == served
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert set(response.headers["Cache-Control"].split(", ")) == {"no-cache", "private"}
    again = visitor.get(response.url, headers={"If-None-Match": response.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_large_file_is_streamed_to_disk_and_back(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, "threading", FILES_MAX_MB="20")
    try:
        visitor, content = server.browser(), os.urandom(12_000_000)
        conversation, events = converse(server, visitor, ("large.bin", content))
        assert events[0]["files"][0]["size"] == len(content)
        assert visitor.get(address(server, conversation, events)).content == content
        (copy,) = (tmp_path / "files").iterdir()
        copy.unlink()  # the database has it
        assert visitor.get(address(server, conversation, events)).content == content
        with socket.create_connection(
            (urlsplit(server.url).hostname, urlsplit(server.url).port)
        ) as cancelled:
            head = f"POST /api/v1/files?name=a HTTP/1.1\r\nHost: {urlsplit(server.url).netloc}\r\n"
            head += f"Authorization: Bearer {server.token}\r\nContent-Length: {5 * MB}\r\n\r\n"
            cancelled.sendall(head.encode() + bytes(2 * MB))
        ends = time.monotonic() + 20
        while len(list((tmp_path / "files").iterdir())) > 1:  # nothing of it is left
            assert time.monotonic() < ends
            time.sleep(0.05)
    finally:
        server.end()


def test_a_file_is_named_again_without_being_sent(
    server: ServerProcess, visitor: requests.Session
) -> None:
    conversation, events = converse(server, visitor, ("a.csv", b"1,2"))
    place = address(server, conversation, events)
    again = visitor.post(place, headers={"Origin": server.url}).json()
    with server.socket(visitor) as page:
        page.call("ask", {"text": "say back", "files": [again.pop("id")]}, timeout=20)
        first, *_ = (r["event"] for r in page.records(until="turn_finished"))
    assert first["files"] == [again] == events[0]["files"]
    unknown = visitor.post(place.replace("a.csv", "b.csv"), headers={"Origin": server.url})
    assert unknown.status_code == 404


def test_nobody_gets_what_is_not_theirs(server: ServerProcess, visitor: requests.Session) -> None:
    conversation, events = converse(server, visitor, ("a.csv", b"secret"))
    place = address(server, conversation, events)
    assert requests.get(place, timeout=20).status_code == 401
    elsewhere, _ = converse(server, visitor, ("b.csv", b"other"))
    for other in (elsewhere, of_somebody_else(server.folder)):
        assert visitor.get(place.replace(conversation, other)).status_code == 404


@pytest.mark.parametrize(
    "sha256", ["unknown", "0" * 64, "..%2f..%2fetc%2fpasswd", "%00", "x" * 5_000]
)
def test_what_is_not_there_is_not_found(
    server: ServerProcess, visitor: requests.Session, sha256: str
) -> None:
    conversation, _ = converse(server, visitor)
    response = visitor.get(f"{server.url}/api/v1/conversations/{conversation}/files/{sha256}/a.csv")
    assert (response.status_code, response.headers["Content-Type"]) == (404, "application/json")


@pytest.mark.parametrize(
    "name", ["", "../a", "a/b", ".hidden", "a\nb", "a\0", "x" * 256, "\x1b[2J", " "]
)
def test_a_name_that_cannot_be_used_is_refused(
    server: ServerProcess, visitor: requests.Session, name: str
) -> None:
    response = send(server, visitor, name, b"x")
    assert response.status_code == 400
    assert "can't be the name of a file: " in response.json()["error"]["message"]


def test_what_is_too_much_is_refused(server: ServerProcess, visitor: requests.Session) -> None:
    assert send(server, visitor, "a", bytes(2**20)).status_code == 200
    refused = send(server, visitor, "a", bytes(2**20 + 1))
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        413,
        "the body is larger than 1048576 bytes",
    )
    headers = {"Origin": server.url, "Transfer-Encoding": "chunked"}
    chunked = visitor.post(
        f"{server.url}/api/v1/files?name=a", data=(bytes(2**16) for _ in range(20)), headers=headers
    )
    assert chunked.status_code == 411
    uploads = [send(server, visitor, f"{n}", bytes(400_000)).json()["id"] for n in range(3)]
    empty = [send(server, visitor, f"{n}", b"").json()["id"] for n in range(4)]
    with server.socket(visitor) as page:
        for some, problem in (
            (uploads, "the files have 1.1 MB; 1 MB are allowed"),
            (empty, "there are 4 files; 3 are allowed"),
            (["x"] * 101, "files: Tuple should have at most 100 items"),
        ):
            assert page.call("ask", {"text": "say back", "files": some}, timeout=20)["error"][
                "message"
            ].startswith(problem)


def test_another_sites_page_sends_no_files(
    server: ServerProcess, visitor: requests.Session
) -> None:
    for headers in ({"Origin": "http://evil.example"}, {}):
        assert (
            visitor.post(
                f"{server.url}/api/v1/files?name={quote('a.csv')}", data=b"x", headers=headers
            ).status_code
            == 403
        )


def test_the_limits_are_told(server: ServerProcess, visitor: requests.Session) -> None:
    assert visitor.get(f"{server.url}/api/v1/health").json()["files"] == {
        "count": 3,
        "size": 2**20,
        "each": 2**20,
    }


def test_large_files_make_room_by_their_size() -> None:
    def large(mb: int) -> File:
        content = LargeContent(path=Path("nowhere"), size=mb * MB, sha256="0" * 64)
        return File(name="large", large=content)

    uploads = Uploads()
    first = [uploads.put("me", large(500)) for _ in range(2)]
    assert len(uploads.take("me", first)) == 2
    first = [uploads.put("me", large(500)) for _ in range(3)]
    with pytest.raises(RequestError):
        uploads.take("me", first[:1])


def test_uploads_that_nobody_takes_make_room_for_the_same_persons() -> None:
    uploads = Uploads(most=100_000, most_of_one=10_000)
    ids = [uploads.put("me", File(name=f"{n}", content=bytes(4000))) for n in range(3)]
    assert all(re.fullmatch(r"[0-9a-f]{32}", upload) for upload in ids)
    with pytest.raises(RequestError):
        uploads.take("me", ids[:1])
    assert [f.name for f in uploads.take("me", ids[1:])] == ["1", "2"]
    with pytest.raises(RequestError):
        uploads.take("me", ids[1:])
    large = uploads.put("me", File(name="large", content=bytes(20_000)))
    with pytest.raises(RequestError):
        uploads.take("somebody", [large])
    assert len(uploads.take("me", [large])) == 1


@pytest.mark.parametrize(
    ("count", "size", "owners"),
    [(9, 9_000, 9), (300, 0, 300), (40, 4_000, 1)],
    ids=["large", "empty", "of one"],
)
def test_nobodys_waiting_files_are_pushed_out_by_others(count: int, size: int, owners: int) -> None:
    now = [0.0]
    uploads = Uploads(most=50_000, most_of_one=10_000, clock=lambda: now[0])
    mine = uploads.put("me", File(name="mine", content=bytes(5_000)))

    def flood() -> int:
        refused = 0
        for n in range(count):
            try:
                uploads.put(f"other {n % owners}", File(name="a", content=bytes(size)))
            except UploadsFull:
                refused += 1
        return refused

    assert (flood() > 0) == (owners > 1)
    assert [f.name for f in uploads.take("me", [mine])] == ["mine"]
    now[0] = 301
    assert uploads.put("late", File(name="late", content=bytes(9_000))), "what nobody took is gone"
