"""Access: nothing is open to somebody without the token, under a strange name, or from another
site's page.
"""

import re
from itertools import product

import pytest
import requests
import socketio
from socketio.exceptions import ConnectionError as Refused

from tests.web.server_process import ROOT, Client, ServerProcess
from web.access import signing_key
from web.vendor import load_vendor

PATHS = [
    "/",
    "/static/script.js",
    "/static/style.css",
    "/static/unknown",
    next(iter(load_vendor().addresses.values())),
    "/vendor/unknown",
    "/api/health",
    "/api/tools",
    "/api/tools/add",
    "/api/tools/add/versions",
    "/api/tools/add/versions/1",
    "/api/tools/add/diff",
    "/api/tools/add/rollback",
    "/api/tools/add/retire",
    "/api/tools/add/restore",
    "/api/tools/add/forget",
    "/api/graph",
    "/api/lessons",
    "/api/lessons/unknown",
    "/api/conversations",
    "/api/conversations/unknown",
    "/api/conversations/unknown/export.md",
    "/api/conversations/unknown/records",
    "/api/conversations/unknown/files/unknown/unknown",
    "/api/conversations/unknown/results/unknown",
    "/api/files",
    "/api/projects",
    "/api/projects/unknown",
    "/api/projects/unknown/zip",
    "/api/projects/unknown/files/folder/main.py",
    "/api/unknown",
    "/unknown",
    "/socket.io/?EIO=4&transport=polling",
    "/socket.io/",
    "/socket.io/static",
    "/favicon.ico",
]
METHODS = ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"]


def test_every_rule_of_the_application_is_in_the_matrix() -> None:
    rules = re.findall(
        r'@app\.\w+\("([^"]+)"\)', "".join(path.read_text() for path in (ROOT / "web").glob("*.py"))
    )
    assert len(rules) == 28
    for rule in [*rules, "/static/<path:name>"]:
        pattern = re.compile(re.sub(r"<[^>]+>", ".+", rule))
        assert any(pattern.fullmatch(path) for path in PATHS), rule


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


@pytest.mark.parametrize("path", PATHS)
def test_the_token_in_a_header_opens_everything(server: ServerProcess, path: str) -> None:
    with server.program() as program:
        assert program.get(server.url + path).status_code in {200, 400, 404, 405}


def test_refusals_have_the_form_that_the_caller_reads(server: ServerProcess) -> None:
    page, api = (
        requests.get(server.url + "/", timeout=20),
        requests.get(server.url + "/api/tools", timeout=20),
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
    again = visitor.get(server.url + "/?token=old")
    assert (again.status_code, again.url) == (200, server.url + "/")


def listed(server: ServerProcess, session: requests.Session) -> set[str]:
    told = session.get(f"{server.url}/api/conversations").json()["conversations"]
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
        assert "Set-Cookie" not in program.get(f"{server.url}/api/tools").headers


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
        for path in PATHS:
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
        assert program.get(server.url + "/api/health", headers={"Host": host}).status_code == 200


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
@pytest.mark.parametrize("path", ["/socket.io/?EIO=4&transport=polling", "/api/tools", "/"])
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
            assert program.get(f"{server.url}/api/tools", headers=headers).status_code == 200


def test_a_cookie_alone_changes_nothing_without_an_origin(
    server: ServerProcess, visitor: requests.Session
) -> None:
    assert visitor.post(server.url + "/api/tools").status_code == 403
    assert (
        visitor.post(server.url + "/api/tools", headers={"Origin": server.url}).status_code == 405
    )
    with server.program() as program:
        assert program.post(server.url + "/api/tools").status_code == 405
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


def test_the_signing_key_is_made_once_and_is_private(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("key") / "new"
    key = signing_key(folder)
    assert (len(key), signing_key(folder)) == (32, key)
    assert (folder / "cookie.key").stat().st_mode & 0o777 == 0o600
    (folder / "cookie.key").write_bytes(b"")
    assert signing_key(folder) not in {key, b""}
