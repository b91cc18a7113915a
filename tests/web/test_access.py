"""Access: nothing is open to somebody without the token, under a strange name, or from another
site's page.
"""

import re
import secrets
from itertools import product
from pathlib import Path

import pytest
import requests
import socketio
from socketio.exceptions import ConnectionError as Refused

from tests.fork_server import ROOT
from tests.web.server_process import Client, ServerProcess
from web.access import signing_key
from web.bundle import load_bundle
from web.middleware import ALIVE
from web.vendor import load_vendor

BUNDLE = load_bundle()
assert BUNDLE is not None
PATHS = [
    "/",
    "/static/script.js",
    "/static/style.css",
    "/static/unknown",
    "/diagram",
    next(iter(load_vendor().addresses.values())),
    "/vendor/unknown",
    "/bundle/unknown",
    f"/bundle/{BUNDLE.style}",
    f"/bundle/{BUNDLE.style}.map",
    "/texts/unknown",
    "/api/v1/openapi.json",
    "/api/v1/health",
    "/api/v1/turns",
    "/api/v1/turns/unknown",
    "/api/v1/turns/unknown/wrong",
    "/api/v1/tools",
    "/api/v1/tools/add",
    "/api/v1/tools/add/call",
    "/api/v1/programs",
    "/api/v1/tools/add/export",
    "/api/v1/bundles",
    "/api/v1/bundles/check",
    "/api/v1/tools/add/versions",
    "/api/v1/tools/add/versions/1",
    "/api/v1/tools/add/diff",
    "/api/v1/tools/add/recomputed",
    "/api/v1/tools/add/verdict",
    "/api/v1/tools/add/edit",
    "/api/v1/tools/add/teach",
    "/api/v1/tools/add/freeze",
    "/api/v1/tools/add/unfreeze",
    "/api/v1/proposals",
    "/api/v1/proposals/add",
    "/api/v1/proposals/add/behaviour",
    "/api/v1/proposals/add/accept",
    "/api/v1/proposals/add/refuse",
    "/api/v1/proposals/add/reopen",
    "/api/v1/tools/add/rollback",
    "/api/v1/tools/add/retire",
    "/api/v1/tools/add/restore",
    "/api/v1/tools/add/forget",
    "/api/v1/grants",
    "/api/v1/tools/add/allow",
    "/api/v1/tools/add/revoke",
    "/api/v1/servers",
    "/api/v1/servers/files/allow",
    "/api/v1/servers/files/revoke",
    "/api/v1/graph",
    "/api/v1/lessons",
    "/api/v1/lessons/unknown",
    "/hooks/unknown",
    "/api/v1/health/library",
    "/api/v1/tools/add/merge",
    "/api/v1/tools/add/unmerge",
    "/api/v1/subscriptions",
    "/api/v1/subscriptions/check",
    "/api/v1/subscriptions/unknown",
    "/api/v1/schedules",
    "/api/v1/schedules/unknown",
    "/api/v1/schedules/unknown/run",
    "/api/v1/schedules/unknown/pause",
    "/api/v1/schedules/unknown/resume",
    "/api/v1/data",
    "/api/v1/conversations",
    "/api/v1/conversations/unknown",
    "/api/v1/conversations/unknown/export.md",
    "/api/v1/conversations/unknown/fork",
    "/api/v1/conversations/unknown/records",
    "/api/v1/conversations/unknown/shares",
    "/api/v1/conversations/unknown/shares/unknown",
    "/api/v1/conversations/unknown/files/unknown/unknown",
    "/api/v1/conversations/unknown/results/unknown",
    "/api/v1/files",
    "/api/v1/projects",
    "/api/v1/projects/unknown",
    "/api/v1/projects/unknown/zip",
    "/api/v1/projects/unknown/files/folder/main.py",
    "/api/v1/secrets",
    "/api/v1/secrets/unknown",
    "/api/v1/secrets/unknown/authorization",
    "/api/v1/settings",
    "/api/v1/settings/models",
    "/api/v1/settings/servers",
    "/api/v1/spending",
    "/api/v1/spending/tools",
    "/v1/models",
    "/v1/models/unknown",
    "/v1/chat/completions",
    "/api/v1/unknown",
    "/unknown",
    "/gallery",
    "/gallery/unknown",
    "/socket.io/?EIO=4&transport=polling",
    "/socket.io/",
    "/socket.io/static",
    "/favicon.ico",
    "/mcp",
    "/metrics",
]
OPEN = [
    "/share/unknown",
    "/share/unknown/conversation",
    "/share/unknown/files/unknown/unknown",
    "/share/unknown/results/unknown",
    "/share/unknown/static/style.css",
    "/share/unknown/api/v1/tools",
    "/share/",
]
"""Open to anybody, if the second part is the token of a link, and never anything else."""
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]


def test_every_rule_of_the_application_is_in_the_matrix() -> None:
    rules = re.findall(
        r'@app\.\w+\("([^"]+)"\)', "".join(path.read_text() for path in (ROOT / "web").glob("*.py"))
    )
    assert len(rules) == 109
    rules.remove(ALIVE)
    for rule in [*rules, "/static/<path:name>"]:
        pattern = re.compile(re.sub(r"<[^>]+>", ".+", rule))
        assert any(pattern.fullmatch(path) for path in [*PATHS, *OPEN]), rule


@pytest.mark.parametrize("path", PATHS)
def test_nothing_is_open_without_the_token(
    server: ServerProcess, visitor: requests.Session, path: str
) -> None:
    strangers = (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer "},
        {"Authorization": f"Basic {server.token}"},
        {"Cookie": "; ".join(f"{c.name}=wrong" for c in visitor.cookies)},
    )
    for method, headers in product(METHODS, strangers):
        response = requests.request(
            method, server.url + path, headers=headers, allow_redirects=False, timeout=20
        )
        assert (response.status_code, response.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert "Set-Cookie" not in response.headers


@pytest.mark.parametrize("path", OPEN)
def test_nothing_below_a_link_is_open_without_its_own_token(
    server: ServerProcess, visitor: requests.Session, path: str
) -> None:
    with server.program() as program:
        for session in (requests.Session(), visitor, program):
            program.get(f"{server.url}/api/v1/graph")  # the right token: guesses do not wait yet
            for method in METHODS:
                response = session.request(method, server.url + path, timeout=20)
                assert response.status_code == 404, method
                assert {"Set-Cookie", "WWW-Authenticate"}.isdisjoint(response.headers)


def test_a_link_opens_what_it_shows_and_nothing_else(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        conversation = page.ask("say shared")["conversation_id"]
        page.records(until="turn_finished")
    address = f"{server.url}/api/v1/conversations/{conversation}"
    own = {"Origin": server.url}
    made = visitor.post(f"{address}/shares", json={}, headers=own).json()
    link = server.url + made["path"]
    assert requests.get(link, timeout=20).status_code == 200
    for path in PATHS:
        response = requests.get(link + path, timeout=20)
        asset = path.startswith(("/bundle/", "/static/", "/vendor/", "/texts/", "/diagram"))
        assert response.status_code in ({200, 404} if asset else {404}), path
    for method in set(METHODS) - {"GET", "HEAD"}:
        assert requests.request(method, link, timeout=20).status_code == 404
    for headers in ({"Authorization": f"Bearer {made['token']}"}, {"Cookie": made["token"]}):
        assert requests.get(address, headers=headers, timeout=20).status_code == 401
    assert requests.get(link, headers={"Host": "evil.example"}, timeout=20).status_code == 403
    refused = requests.get(link, headers={"Origin": "http://evil.example"}, timeout=20)
    assert refused.status_code == 403
    visitor.delete(f"{address}/shares/{made['id']}", headers=own)


@pytest.mark.parametrize("path", PATHS)
def test_the_token_in_a_header_opens_everything(server: ServerProcess, path: str) -> None:
    with server.program() as program:
        assert program.get(server.url + path).status_code in {200, 400, 404, 405}


def test_refusals_have_the_form_that_the_caller_reads(server: ServerProcess) -> None:
    page, api = (
        requests.get(server.url + "/", timeout=20),
        requests.get(server.url + "/api/v1/tools", timeout=20),
    )
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert '<form class="login-form" method="get">' in page.text
    assert "<script" not in page.text
    assert api.json() == {
        "error": {
            "message": "this needs the access token",
            "remedy": "open the link that the server printed",
        }
    }


def test_the_link_leads_to_a_clean_address_with_closed_cookies(server: ServerProcess) -> None:
    response = requests.get(server.link, allow_redirects=False, timeout=20)
    assert (response.status_code, response.headers["Location"]) == (303, "/")
    assert re.fullmatch(
        r"access_\w{8}=\w{64}; HttpOnly; Path=/; SameSite=Lax", response.headers["Set-Cookie"]
    )
    assert server.token not in response.headers["Set-Cookie"]
    page = requests.get(server.url + "/", cookies=response.cookies, timeout=20)
    assert page.status_code == 200
    assert "Set-Cookie" not in page.headers


def test_an_old_link_says_why_it_does_not_work(
    server: ServerProcess, visitor: requests.Session
) -> None:
    response = requests.get(server.url + "/?token=old", timeout=20)
    assert response.status_code == 401
    assert "This token does not open the page" in response.text
    german = {"Accept-Language": "de-AT, en;q=0.5"}
    response = requests.get(server.url + "/?token=old", headers=german, timeout=20)
    assert '<html lang="de">' in response.text
    assert "Dieses Token öffnet die Seite nicht" in response.text
    again = visitor.get(server.url + "/?token=old")
    assert (again.status_code, again.url) == (200, server.url + "/")


def test_anybody_may_ask_whether_the_server_is_alive(server: ServerProcess) -> None:
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Host": "10.0.0.5"}):
        response = requests.get(server.url + ALIVE, headers=headers, timeout=20)
        assert (response.status_code, response.text) == (200, "ok\n")
        assert "Set-Cookie" not in response.headers
    for method in set(METHODS) - {"GET", "HEAD"}:
        assert requests.request(method, server.url + ALIVE, timeout=20).status_code == 401
    for path in ("/healthz/", "/healthz/x", "/healthz;x"):
        assert requests.get(server.url + path, timeout=20).status_code == 401


def listed(server: ServerProcess, session: requests.Session) -> set[str]:
    told = session.get(f"{server.url}/api/v1/conversations").json()["conversations"]
    return {conversation["id"] for conversation in told}


def test_the_same_person_continues_on_another_device(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        conversation = page.ask("say from the desk")["conversation_id"]
        page.records(until="turn_finished")
    with server.browser() as phone, server.socket(phone) as page:
        assert conversation in listed(server, phone)
        assert len(page.follow(conversation)) > 1
        assert page.ask("say from the phone", conversation)["conversation_id"] == conversation
        page.records(until="turn_finished")


def test_programs_are_the_same_person(server: ServerProcess, visitor: requests.Session) -> None:
    with server.program() as program:
        with server.socket(program) as client:
            conversation = client.ask("say from a program")["conversation_id"]
        assert conversation in listed(server, program) & listed(server, visitor)
        assert "Set-Cookie" not in program.get(f"{server.url}/api/v1/tools").headers


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "[::1].evil.example",
        "192.0.2.1",
        "0.0.0.0",
        "",
        "a@127.0.0.1",
        "127.0.0.1:x",
        "x/y",
    ],
)
def test_strange_host_names_are_refused(server: ServerProcess, host: str) -> None:
    with server.program() as program:
        for path in [*PATHS, *OPEN]:
            response = program.get(server.url + path, headers={"Host": host})
            assert (response.status_code, "ALLOWED_HOSTS" in response.text) == (403, True), path


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1:{port}",
        "localhost:{port}",
        "LOCALHOST",
        "[::1]:{port}",
        "127.8.9.1",
        "[::ffff:127.0.0.1]",
        "agent.example",
    ],
)
def test_local_and_allowed_host_names_are_accepted(server: ServerProcess, host: str) -> None:
    with server.program() as program:
        host = host.format(port=server.url.rpartition(":")[2])
        assert program.get(server.url + "/api/v1/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1:1",
        "http://localhost",
        "https://127.0.0.1:{port}",
        "",
        "file://",
        "http://[",
        "x",
    ],
)
@pytest.mark.parametrize("path", ["/socket.io/?EIO=4&transport=polling", "/api/v1/tools", "/"])
def test_pages_of_other_sites_are_refused(
    server: ServerProcess, visitor: requests.Session, origin: str, path: str
) -> None:
    origin = origin.format(port=server.url.rpartition(":")[2])
    for method in ("GET", "POST"):
        assert (
            visitor.request(method, server.url + path, headers={"Origin": origin}).status_code
            == 403
        )


def test_the_page_itself_and_allowed_hosts_may_send_requests(server: ServerProcess) -> None:
    with server.program() as program:
        for headers in (
            {"Origin": server.url},
            {"Origin": "https://agent.example"},
            {"Origin": "https://agent.example", "Host": "agent.example"},
            {"Origin": "http://localhost", "Host": "localhost"},
        ):
            assert program.get(f"{server.url}/api/v1/tools", headers=headers).status_code == 200


def test_a_cookie_alone_changes_nothing_without_an_origin(
    server: ServerProcess, visitor: requests.Session
) -> None:
    assert visitor.post(server.url + "/api/v1/tools").status_code == 403
    assert (
        visitor.post(server.url + "/api/v1/tools", headers={"Origin": server.url}).status_code
        == 405
    )
    with server.program() as program:
        assert program.post(server.url + "/api/v1/tools").status_code == 405
    cookie = "; ".join(f"{c.name}={c.value}" for c in visitor.cookies)
    client = socketio.Client(reconnection=False, websocket_extra_options={"suppress_origin": True})
    with pytest.raises(Refused):
        client.connect(server.url, headers={"Cookie": cookie}, transports=["websocket"])


@pytest.mark.parametrize("transport", ["websocket", "polling"])
@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Cookie": "access=1"}], ids=str
)
def test_no_socket_connects_without_the_token(
    server: ServerProcess, transport: str, headers: dict[str, str]
) -> None:
    client = Client()
    with pytest.raises(Refused):
        client.connect(server.url, headers=headers, transports=[transport], wait_timeout=20)


def test_servers_with_one_token_accept_each_others_browsers(
    server: ServerProcess, tmp_path: Path
) -> None:
    same = secrets.token_urlsafe(24)
    servers = []
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        servers.append(ServerProcess(tmp_path / name, "eventlet", ACCESS_TOKEN=same))
    with servers[0].browser() as browser:
        answers = [
            browser.get(f"{s.url}/api/v1/health", timeout=20).status_code
            for s in (*servers, server)
        ]
    assert answers == [200, 200, 401]
    for one in servers:
        one.end()


def test_the_signing_key_is_made_once_and_is_private(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("key") / "new"
    key = signing_key(folder)
    assert (len(key), signing_key(folder)) == (32, key)
    assert (folder / "cookie.key").stat().st_mode & 0o777 == 0o600
    (folder / "cookie.key").write_bytes(b"")
    assert signing_key(folder) not in {key, b""}
