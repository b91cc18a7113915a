"""The HTTP routes: what they answer, with which headers, and how they fail."""

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from selfeng.core.stage import STAGES
from tests.web.fake_engine import TOOL
from tests.web.server_process import ServerProcess
from web.bundle import load_bundle
from web.texts import addresses_of_texts, catalogue_module, text
from web.vendor import LIBRARIES, NODE_MODULES, load_vendor

WORDS = Path(__file__).parents[1] / "front/stages.json"
"""The words that the tests of the page's modules read."""


def test_the_page_carries_an_import_map_that_its_policy_allows(
    server: ServerProcess, visitor: requests.Session
) -> None:
    first, second = visitor.get(server.url + "/"), visitor.get(server.url + "/")
    nonces = [
        re.findall(r"nonce-([\w-]+)", r.headers["Content-Security-Policy"])[0]
        for r in (first, second)
    ]
    assert nonces[0] != nonces[1]
    assert f'<script type="importmap" nonce="{nonces[0]}">' in first.text
    texts = addresses_of_texts("en")
    assert json.dumps({"imports": texts}) in first.text
    assert f'<link rel="modulepreload" href="{texts["#texts"]}">' in first.text
    assert first.text.count(texts["#later-texts"]) == 1


@pytest.fixture(scope="module")
def development(tmp_path_factory) -> Iterator[ServerProcess]:
    process = ServerProcess(tmp_path_factory.mktemp("modules"), "eventlet", DEVELOPMENT="true")
    yield process
    assert process.end() == (0, "")


def test_the_page_is_a_bundle_of_a_few_files_that_are_kept_for_good(
    server: ServerProcess, visitor: requests.Session
) -> None:
    page = visitor.get(server.url + "/").text
    loaded = re.findall(r'<(?:script|link)[^>]* (?:src|href)="(/bundle/[^"]+)"', page)
    assert {Path(address).suffix for address in loaded} == {".js", ".css"}
    assert len(loaded) <= 11
    size = 0
    for address in loaded:
        zipped = visitor.get(server.url + address, headers={"Accept-Encoding": "br, gzip"})
        plain = visitor.get(server.url + address, headers={"Accept-Encoding": "identity"})
        assert (zipped.content, zipped.headers["Vary"]) == (plain.content, "Accept-Encoding")
        encodings = [r.headers.get("Content-Encoding") for r in (zipped, plain)]
        assert encodings == ["gzip", None]
        assert "immutable" in plain.headers["Cache-Control"]
        shown = visitor.get(f"{server.url}{address}.map").json()
        assert len(shown["sourcesContent"]) == len(shown["sources"])  # none if it only names others
        size += int(zipped.headers["Content-Length"])
    assert size < 200_000


def test_development_serves_the_modules_as_they_are(development: ServerProcess) -> None:
    with development.browser() as visitor:
        page = visitor.get(development.url + "/").text
        assert '<script type="module" src="/static/script.js"></script>' in page
        assert '<link rel="stylesheet" href="/static/style.css">' in page
        imports = load_vendor().addresses | addresses_of_texts("en")
        assert json.dumps({"imports": imports}) in page
        assert visitor.get(development.url + "/bundle/script.js").status_code == 404
        assert '<script type="module" src="/gallery/gallery.js">' in (
            visitor.get(development.url + "/gallery").text
        )


def test_the_gallery_is_for_development_only(server: ServerProcess) -> None:
    with server.browser() as visitor:
        assert visitor.get(server.url + "/gallery").status_code == 404


def test_a_bundle_is_made_once(tmp_path: Path) -> None:
    for library in NODE_MODULES.iterdir():
        if library.name != ".cache":
            (tmp_path / library.name).symlink_to(library)
    first, again = load_bundle(tmp_path), load_bundle(tmp_path)
    assert first == again
    assert first is not None
    assert len(list((tmp_path / ".cache/page").iterdir())) == 1


def test_without_an_esbuild_that_works_there_is_no_bundle(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert load_bundle(tmp_path) is None
    broken = tmp_path / "@esbuild/any/bin/esbuild"
    broken.parent.mkdir(parents=True)
    broken.write_text("#!/bin/sh\necho not on this machine >&2; exit 1\n")
    broken.chmod(0o755)
    assert load_bundle(tmp_path) is None
    assert [record.getMessage() for record in caplog.records] == [
        "the page is served unbundled, because esbuild is not installed: run npm ci",
        "the page is served unbundled, because esbuild failed: not on this machine\n",
    ]


def test_the_page_carries_the_words_of_the_stages(
    server: ServerProcess, visitor: requests.Session
) -> None:
    (words,) = re.findall(
        r'<script type="application/json" id="stages">(.*)</script>',
        visitor.get(server.url + "/").text,
    )
    assert [stage["name"] for stage in json.loads(words)] == list(STAGES)
    assert json.loads(words) == json.loads(WORDS.read_text()), (
        f"write these words into {WORDS}: {words}"
    )


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/static/script.js",
        "/api/v1/tools",
        "/api/v1/unknown",
        "/unknown",
        "/socket.io/?EIO=4&transport=polling",
    ],
)
@pytest.mark.parametrize("with_access", [True, False])
def test_every_response_carries_the_security_headers(
    server: ServerProcess, visitor: requests.Session, path: str, with_access: bool
) -> None:
    headers = (visitor.get if with_access else requests.get)(server.url + path).headers
    policy = re.sub(r"nonce-[\w-]{20,}", "nonce-N", headers["Content-Security-Policy"])
    style = "style-src 'self'" if with_access else "style-src 'self' 'nonce-N'"
    assert policy == (
        f"default-src 'none'; script-src 'self' 'nonce-N'; {style}; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; frame-src 'self'; manifest-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
    assert {
        k: headers[k]
        for k in (
            "X-Content-Type-Options",
            "Referrer-Policy",
            "Cross-Origin-Opener-Policy",
            "X-Frame-Options",
        )
    } == {
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "X-Frame-Options": "DENY",
    }
    assert "Access-Control-Allow-Origin" not in headers


def test_what_may_be_kept_and_what_not(server: ServerProcess, visitor: requests.Session) -> None:
    assert visitor.get(server.url + "/").headers["Cache-Control"] == "no-store"
    assert visitor.get(server.url + "/api/v1/tools").headers["Cache-Control"] == "no-store"
    library = visitor.get(server.url + load_vendor().addresses["preact"])
    assert set(library.headers["Cache-Control"].split(", ")) == {
        "private",
        "max-age=31536000",
        "immutable",
    }
    assert library.headers["Content-Type"] == "text/javascript; charset=utf-8"
    script = visitor.get(server.url + "/static/script.js")
    assert script.headers["Cache-Control"] == "no-cache"
    again = visitor.get(
        server.url + "/static/script.js", headers={"If-None-Match": script.headers["ETag"]}
    )
    assert (again.status_code, again.content) == (304, b"")


def test_long_lists_are_compressed_for_those_who_take_it(
    server: ServerProcess, visitor: requests.Session
) -> None:
    address = f"{server.url}/api/v1/graph"
    zipped = visitor.get(address)
    plain = visitor.get(address, headers={"Accept-Encoding": "identity"})
    assert zipped.json() == plain.json()
    encodings = [r.headers.get("Content-Encoding") for r in (zipped, plain)]
    assert encodings == ["gzip", None]
    assert "Content-Encoding" not in visitor.get(f"{server.url}/api/v1/tools").headers


def test_the_list_of_tools_and_one_tool(server: ServerProcess, visitor: requests.Session) -> None:
    line = {
        "name": "add",
        "description": "Adds two numbers.",
        "uses": 3,
        "created_at": "2026-01-02T03:04:05Z",
        "model": "offline",
        "version": 2,
        "standing": "provisional",
        "merged_into": "",
        "frozen": False,
        "signature": "add(a: int, b: int = 1) -> int",
        "imported": None,
    }
    imports = {"modules": ["math"], "packages": ["numpy"]}
    used = {"last_used": "2026-01-03T04:05:06Z"}
    listed = visitor.get(server.url + "/api/v1/tools").json()["tools"]
    assert [tool for tool in listed if tool["name"] == "add"] == [{**line, **imports, **used}]
    assert visitor.get(server.url + "/api/v1/tools", params={"q": "1 plus 2?"}).json() == {
        "tools": [{**line, **imports, "confidence": 0.9, "request": "What is 1 plus 2?"}]
    }
    assert visitor.get(server.url + "/api/v1/tools", params={"q": "fly"}).json() == {"tools": []}
    assert visitor.get(server.url + "/api/v1/tools/add").json() == {
        **line,
        "code": TOOL.code,
        "tests": "from add import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n",
        "example_requests": ["What is 1 plus 2?"],
        "requires": [],
        "witnesses": 0,
        "network": [],
        "exchanges": 0,
        "limits": {"seconds": None, "memory": None, "space": None},
        "needed": [],
        "ungranted": [],
        "used_requests": ["3 and 4 together", "sum of 1 and 1"],
        "habits": {
            "after": [{"tool": "double", "request": "Double that", "times": 2}],
            "together": ["double"],
            "made": None,
            "last": [{"conversation_id": "c1", "request": "Add 1 and 2"}],
            "calls": [{"at": "2026-01-03T04:05:06Z", "returned": True}],
        },
        "digest": "0" * 64,
        "returns": "int",
        "input_schema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}},
            "required": ["a"],
            "additionalProperties": False,
        },
        "parameters": [
            {
                "name": "a",
                "annotation": "int",
                "default": None,
                "description": "",
                "required": True,
            },
            {
                "name": "b",
                "annotation": "int",
                "default": "1",
                "description": "",
                "required": False,
            },
        ],
    }


def test_health_tells_model_sandbox_and_library(
    server: ServerProcess, visitor: requests.Session
) -> None:
    health = visitor.get(server.url + "/api/v1/health").json()
    assert health["model"] == {
        "name": "offline",
        "offline": True,
        "server": "",
        "answers": True,
        "trouble": "",
        "cause": "",
        "local_servers": [],
    }
    assert set(health["sandbox"]) == {"available", "backend", "detail", "not_guaranteed"}
    assert health["library"] == {"tools": 1, "search": "ready", "detail": "ready"}


def test_conversations_and_their_records(server: ServerProcess, visitor: requests.Session) -> None:
    with server.socket(visitor) as page:
        conversation = page.ask("say by rest")["conversation_id"]
        live = page.records(until="turn_finished")
    summary, *_ = visitor.get(server.url + "/api/v1/conversations").json()["conversations"]
    assert (summary["id"], summary["title"], set(summary)) == (
        conversation,
        "say by rest",
        {
            "id",
            "title",
            "kind",
            "created_at",
            "active_at",
            "pinned",
            "model",
            "tokens",
            "cost",
            "running",
            "unread",
            "has_files",
            "snippet",
        },
    )
    address = f"{server.url}/api/v1/conversations/{conversation}/records"
    assert visitor.get(address).json() == {"records": live}
    assert visitor.get(address, params={"after": "1"}).json() == {"records": live[1:]}


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "²", str(2**31), "9" * 5000, ""])
def test_a_number_that_is_none_is_refused(
    server: ServerProcess, visitor: requests.Session, after: str
) -> None:
    response = visitor.get(
        f"{server.url}/api/v1/conversations/unknown/records", params={"after": after}
    )
    assert response.status_code == 400
    assert re.match("after.*: .*integer|.*than or equal", response.json()["error"]["message"])


@pytest.mark.parametrize(
    ("call", "status", "message"),
    [
        ("GET /api/v1/tools/unknown", 404, "there is no tool 'unknown'"),
        ("GET /api/v1/tools/%00", 404, "there is no tool '\\x00'"),
        ("GET /api/v1/tools/..%2f..%2fetc%2fpasswd", 404, None),
        ("GET /api/v1/unknown", 404, None),
        ("GET /api/v1/", 404, None),
        ("POST /api/v1/tools", 405, None),
        ("DELETE /api/v1/tools/add", 405, None),
        ("POST /api/v1/health", 405, None),
        ("GET /api/v1/tools/crash", 500, "something went wrong in the server"),
        ("GET /api/v1/tools/away", 503, "the database does not answer"),
    ],
)
def test_every_error_of_the_api_is_json(
    server: ServerProcess, visitor: requests.Session, call: str, status: int, message: str | None
) -> None:
    method, path = call.split()
    response = visitor.request(method, server.url + path, headers={"Origin": server.url})
    assert (response.status_code, response.headers["Content-Type"]) == (status, "application/json")
    error = response.json()["error"]
    assert set(error) - {"kind", "cause", "values"} == {"message", "remedy"}
    assert error["message"] == message if message else error["message"]
    if status == 405:
        assert "GET" in response.headers["Allow"]
    assert response.headers.get("Retry-After") == ("5" if status == 503 else None)


@pytest.mark.parametrize(
    "path",
    [
        "/unknown",
        "/static/unknown",
        "/static/../app.py",
        "/vendor/unknown",
        "/vendor/../app.py",
        "/static/%2e%2e/app.py",
    ],
)
def test_other_errors_are_plain_text(
    server: ServerProcess, visitor: requests.Session, path: str
) -> None:
    with socket.create_connection(
        (str(urlsplit(server.url).hostname), int(urlsplit(server.url).port or 0))
    ) as connection:
        cookie = "; ".join(f"{c.name}={c.value}" for c in visitor.cookies)
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: {cookie}\r\nConnection: "
            "close\r\n\r\n".encode()
        )
        answer = b"".join(iter(lambda: connection.recv(4096), b"")).decode()
    assert answer.startswith("HTTP/1.1 404 ")
    assert "text/plain" in answer


def test_a_body_that_is_too_large_is_refused(
    server: ServerProcess, visitor: requests.Session
) -> None:
    response = visitor.post(
        server.url + "/api/v1/tools", data=b"x" * 70_000, headers={"Origin": server.url}
    )
    assert (response.status_code, response.json()["error"]["message"]) == (
        413,
        "the body is larger than 65536 bytes",
    )


def test_every_library_is_served_and_imports_nothing_that_is_not(
    server: ServerProcess, visitor: requests.Session
) -> None:
    vendor = load_vendor()
    for name, address in vendor.addresses.items():
        file = next(f"/vendor/{f}" for f in vendor.files if f"/vendor/{f}".startswith(address))
        response = visitor.get(server.url + file)
        assert response.status_code == 200, name
        imports = re.findall(
            r"""(?:^|[;}\s])(?:import|export)\s?[\w{}$*,\s]*?from\s?["']([^"']+)["']|^import\s?["']([^"']+)["']""",
            response.text,
        )
        for imported in ("".join(found) for found in imports):
            assert imported in LIBRARIES or imported.startswith("."), f"{name} imports {imported}"


@pytest.mark.parametrize(
    ("headers", "language"),
    [
        ({}, "en"),
        ({"Accept-Language": "de-CH, en;q=0.5"}, "de"),
        ({"Accept-Language": "fr, de;q=0.2"}, "de"),
        ({"Accept-Language": "fr"}, "en"),
        ({"Accept-Language": "de", "Cookie": "language=en"}, "en"),
        ({"Accept-Language": "en", "Cookie": "language=../de"}, "en"),
    ],
)
def test_the_page_speaks_the_chosen_language_or_the_browsers(
    server: ServerProcess, headers: dict[str, str], language: str
) -> None:
    page = requests.get(
        server.url + "/",
        headers=headers | {"Authorization": f"Bearer {server.token}"},
        timeout=10,
    )
    assert f'<html lang="{language}">' in page.text
    assert f'<noscript><p class="noscript">{text(language, "page-needs-javascript")}<' in page.text
    for name, address in addresses_of_texts(language).items():
        texts = requests.get(
            server.url + address, headers={"Authorization": f"Bearer {server.token}"}, timeout=10
        )
        assert texts.content == catalogue_module(language, name)[1]
        assert "immutable" in texts.headers["Cache-Control"]
