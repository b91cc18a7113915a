"""OAuth's device flow against a service on loopback, and tokens that the vault renews."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
import sqlalchemy as sa

from selfeng.core.errors import NetworkRefused, RequestError
from selfeng.servers.oauth import DeviceFlow, OAuthClient, token_of
from selfeng.servers.vault import Vault


class Service(ThreadingHTTPServer):
    """A service that answers with these, in order; `seen` has the forms that it received."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[tuple[int, Mapping[str, object]]] = []
        self.seen: list[tuple[str, dict[str, str], str]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        authorization = self.headers.get("Authorization", "")
        self.server.seen.append((self.path, dict(parse_qsl(body)), authorization))
        status, answer = self.server.answers.pop(0)
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def oauth_service() -> Iterator[Service]:
    with Service() as service:
        thread = threading.Thread(target=service.serve_forever, args=(0.01,))
        thread.start()
        yield service
        service.shutdown()
        thread.join()


@pytest.fixture
def service() -> Iterator[Service]:
    with oauth_service() as service:
        yield service


def client(service: Service, secret: str = "") -> OAuthClient:
    return OAuthClient(token_url=f"{service.url}/token", client_id="me", client_secret=secret)


CODE = {
    "device_code": "device",
    "user_code": "ABCD-1234",
    "verification_uri": "https://service.example/device",
    "interval": 1,
    "expires_in": 60,
    "unknown": "field",
}


def test_the_flow_waits_until_the_person_has_allowed_it(service: Service) -> None:
    service.answers = [
        (200, CODE),
        (400, {"error": "authorization_pending"}),
        (400, {"error": "slow_down"}),
        (200, {"access_token": "first-token", "refresh_token": "again", "expires_in": 3600}),
    ]
    flow = DeviceFlow.begin(client(service), f"{service.url}/device", "repo")
    assert (flow.user_code, flow.verification_uri) == ("ABCD-1234", CODE["verification_uri"])
    pauses: list[float] = []
    token = flow.wait(pauses.append)
    assert pauses == [1, 1, 6]
    assert (token.access_token, token.refresh_token, token.expired) == (
        "first-token",
        "again",
        False,
    )
    (begun, *looks) = service.seen
    assert begun == ("/device", {"client_id": "me", "scope": "repo"}, "")
    for path, form, _ in looks:
        assert path == "/token"
        assert (form["client_id"], form["device_code"]) == ("me", "device")
        assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:device_code"


def test_a_client_with_a_secret_authenticates_itself(service: Service) -> None:
    service.answers = [(200, CODE), (200, {"access_token": "first-token"})]
    flow = DeviceFlow.begin(client(service, "s3cret"), f"{service.url}/device")
    assert flow.wait(lambda seconds: None).expires_at is None
    assert service.seen[-1][2].startswith("Basic ")


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ((400, {"error": "access_denied"}), "access_denied"),
        ((400, {"error": "expired_token", "error_description": "too late"}), "too late"),
        ((200, {"token": "?"}), "gave no token"),
    ],
)
def test_a_flow_that_ends_without_a_token_says_why(
    service: Service, answer: tuple[int, Mapping[str, object]], problem: str
) -> None:
    service.answers = [(200, CODE), answer]
    flow = DeviceFlow.begin(client(service), f"{service.url}/device")
    with pytest.raises(NetworkRefused, match=problem):
        flow.wait(lambda seconds: None)


def test_a_person_who_does_not_answer(service: Service) -> None:
    service.answers = [(200, {**CODE, "expires_in": 0})]
    flow = DeviceFlow.begin(client(service), f"{service.url}/device")
    with pytest.raises(NetworkRefused, match="the person did not answer in time"):
        flow.wait(lambda seconds: None)


def test_addresses_must_be_https_and_answer_as_services_do(service: Service) -> None:
    with pytest.raises(RequestError, match="is not an https address"):
        DeviceFlow.begin(client(service), "http://service.example/device")
    for answer in ((404, {}), (200, {"user_code": "x"})):
        service.answers = [answer]
        with pytest.raises(NetworkRefused, match=r"127\.0\.0\.1 gave no code"):
            DeviceFlow.begin(client(service), f"{service.url}/device")


def test_the_vault_renews_a_token_that_has_expired(
    service: Service, database: sa.Engine, tmp_path: Path
) -> None:
    vault = Vault(database, tmp_path / "data", keyring=lambda: None)
    service.answers = [
        (200, CODE),
        (200, {"access_token": "first-token", "refresh_token": "again", "expires_in": 1}),
        (200, {"access_token": "second-token", "expires_in": 3600}),
    ]
    flow = DeviceFlow.begin(client(service), f"{service.url}/device")
    token = flow.wait(lambda seconds: None)
    vault.set("TOKEN", token.model_dump_json())
    assert token.expires_at is not None
    assert token.expires_at < time.time() + 2
    assert [vault.value("TOKEN") for _ in range(2)] == ["second-token"] * 2
    assert service.seen[-1][1]["refresh_token"] == "again"
    assert not service.answers
    service.answers = [(400, {"error": "invalid_grant"})]
    stale = token.model_copy(update={"refresh_token": "again"})
    vault.set("TOKEN", stale.model_dump_json())
    with pytest.raises(NetworkRefused, match="does not renew the token"):
        vault.value("TOKEN")


def test_other_secrets_that_look_like_json_stay_as_they_are(
    database: sa.Engine, tmp_path: Path
) -> None:
    vault = Vault(database, tmp_path / "data", keyring=lambda: None)
    for value in ('{"a": "b"}', "{not json"):
        vault.set("KEY", value)
        assert token_of(value) is None
        assert vault.value("KEY") == value
