"""The settings over HTTP: read and changed by whoever has opened the page, never with a key in an
answer; and tests of a model's server over the socket.
"""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from selfeng.core.choices import CHOICES
from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.server import OfflineServer
from tests.llm.wire_server import Served, serving
from tests.script import Script
from tests.servers.test_oauth import CODE, Service, oauth_service
from tests.web.server_process import ServerProcess

SECRET = "sk-not-for-anybody-else-1234567890"
TOTAL = Completion(content='{"sentence": "Five.", "total": 5}')


@pytest.fixture
def model() -> Iterator[OfflineServer]:
    script = Script(*[TOTAL] * 9)
    with OfflineServer(script, model="good-model", api_key=SECRET, delay=0) as server:
        yield server


@pytest.fixture
def service() -> Iterator[Service]:
    with oauth_service() as service:
        yield service


@pytest.fixture
def visitor(server: ServerProcess) -> Iterator[requests.Session]:
    with server.program() as program:
        yield program


@pytest.fixture
def settings(server: ServerProcess, visitor: requests.Session) -> Iterator[str]:
    """The address of the settings, with all choices taken back in the end."""
    address = server.url + "/api/v1/settings"
    yield address
    names = visitor.get(address).json()["defaults"]
    back = {**dict.fromkeys(names), "openai_api_key": None}
    assert visitor.patch(address, json={"changes": back}).status_code == 200


def chosen(model: OfflineServer) -> dict[str, Any]:
    return {
        "openai_base_url": model.base_url,
        "openai_api_key": SECRET,
        "openai_model": model.model,
    }


def test_the_settings_tell_values_defaults_and_what_only_a_restart_changes(
    server: ServerProcess, visitor: requests.Session, settings: str
) -> None:
    told = visitor.get(settings).json()
    assert (told["key_set"], told["fixed"]) == (False, {})
    assert told["values"] == {
        "openai_base_url": None,
        "openai_model": "gpt-4",
        "openai_timeout": 60.0,
        "turn_max_seconds": 600.0,
        "turn_max_calls": 40,
        "turn_max_tokens": 400_000,
        "turn_max_cost": None,
        "month_max_cost": None,
        "keep_days": 0,
        "synthesis_candidates": 3,
        "synthesis_max_repairs": 3,
        "lessons_learn": True,
        "library_changes": "auto",
        "turns_max_running": 24,
        "turns_max_per_person": 16,
        "turns_max_waiting": 100,
    }
    assert told["defaults"] == told["values"]
    elsewhere = {one["name"]: (one["variable"], one["value"]) for one in told["elsewhere"]}
    assert list(elsewhere) == [
        "sandbox", "run_seconds", "embedder", "database", "data", "tools", "index", "address",
    ]  # fmt: skip
    assert elsewhere["data"] == ("DATA_DIR", str(server.folder))
    assert elsewhere["address"] == ("FLASK_HOST", "127.0.0.1:0")


def test_a_change_shows_in_the_status_of_every_page_and_no_answer_has_the_key(
    server: ServerProcess, visitor: requests.Session, settings: str, model: OfflineServer
) -> None:
    with server.socket(visitor) as page:
        changed = visitor.patch(settings, json={"changes": chosen(model)})
        status = page.next("status")
        while not status["model"]["answers"]:
            status = page.next("status")
    assert status["model"] == {
        "name": "good-model",
        "offline": False,
        "server": model.base_url,
        "answers": True,
        "trouble": "",
        "cause": "",
        "local_servers": [],
    }
    assert changed.json()["key_set"]
    health = visitor.get(server.url + "/api/v1/health")
    assert not any(SECRET in r.text for r in (changed, visitor.get(settings), health))
    assert (server.folder / CHOICES).stat().st_mode & 0o777 == 0o600


def test_refused_values_are_told_by_field(visitor: requests.Session, settings: str) -> None:
    wrong = {"turn_max_calls": 0, "openai_base_url": "ftp://host", "sandbox": "docker"}
    answer = visitor.patch(settings, json={"changes": wrong})
    assert answer.status_code == 422
    fields = answer.json()["error"]["fields"]
    assert {name: (f["kind"], f["limit"]) for name, f in fields.items()} == {
        "turn_max_calls": ("greater_than_equal", 1),
        "openai_base_url": ("address", None),
        "sandbox": ("extra_forbidden", None),
    }
    for body in (b"", b"[]", b"{}", b'{"changes": {"turn_max_calls": [1]}}', b'{"changes": 1}'):
        assert visitor.patch(settings, data=body).status_code == 400, body


def test_the_servers_own_models_are_listed_before_it_is_chosen(
    visitor: requests.Session, settings: str, model: OfflineServer
) -> None:
    asked = visitor.post(settings + "/models", json={"changes": chosen(model)})
    assert asked.json() == {"models": ["good-model"]}
    wrong = {"changes": {**chosen(model), "openai_api_key": "wrong"}}
    refused = visitor.post(settings + "/models", json=wrong)
    assert refused.status_code == 503
    assert "refused the API key" in refused.json()["error"]["message"]
    assert visitor.post(settings + "/models", json={"changes": {}}).json() == {"models": []}


def test_a_test_tells_each_ability_and_what_they_mean(
    server: ServerProcess, visitor: requests.Session, model: OfflineServer
) -> None:
    with server.socket(visitor) as page:
        assert page.call("test", {"id": "t1", "changes": chosen(model)})["ok"]
        told = [page.next("tested") for _ in range(11)]
    assert {news["id"] for news in told} == {"t1"}
    assert [(n["ability"]["purpose"], n["ability"]["way"]) for n in told[:3]] == [
        ("server", "models"),
        ("text", "stream"),
        ("value", "schema"),
    ]
    assert told[-1]["suitability"] == {"missing": ["choice"], "wasted": 3, "usable": False}
    (month,) = visitor.get(f"{server.url}/api/v1/spending").json()["months"]
    assert month["tokens"] > 0


def test_a_test_is_cancelled_and_one_of_wrong_values_names_them(
    server: ServerProcess, visitor: requests.Session
) -> None:
    entered, gone_on = threading.Event(), threading.Event()

    def slow(request: CompletionRequest) -> Completion:
        entered.set()
        gone_on.wait(20)
        return TOTAL

    with (
        OfflineServer(Script(*[slow] * 9), model="m", api_key=SECRET) as model,
        server.socket(visitor) as page,
    ):
        page.call("test", {"id": "t1", "changes": chosen(model)})
        assert page.next("tested")["ability"]["way"] == "models"
        assert entered.wait(20)
        assert page.call("stop_test", {}) == {"ok": True}
        gone_on.set()
        page.call("test", {"id": "t2", "changes": {"openai_model": 7}})
        told = page.next("tested")
    assert (told["id"], told["error"]["fields"]["openai_model"]["kind"]) == ("t2", "string_type")


def test_a_test_ends_with_its_page(server: ServerProcess, visitor: requests.Session) -> None:
    entered = threading.Event()

    def endless(request: CompletionRequest) -> Completion:
        entered.set()
        return Completion(content="on and on " * 20_000)

    script = Script(*[endless] * 9)
    with OfflineServer(script, model="m", api_key=SECRET) as model:
        with server.socket(visitor) as page:
            page.call("test", {"id": "t1", "changes": chosen(model)})
            assert entered.wait(20)
        assert model.left.wait(20), "its client left before the reply was whole"
    assert len(script.requests) == 1


def test_model_servers_of_the_machine_are_found_and_chosen_like_any_setting(tmp_path: Path) -> None:
    models = {"object": "list", "data": [{"id": "qwen3:8b", "owned_by": "library"}]}
    with serving(lambda _: Served(models)) as local:
        ports = json.dumps({local.port: "ollama"})
        server = ServerProcess(tmp_path, "threading", LOCAL_PORTS=ports)
        try:
            with server.program() as program:
                address = f"{server.url}/api/v1/settings"
                [found] = program.post(f"{address}/servers").json()["servers"]
                assert found == {
                    "kind": "ollama",
                    "address": f"http://localhost:{local.port}/v1",
                    "models": ["qwen3:8b"],
                }
                health = program.get(f"{server.url}/api/v1/health").json()
                assert health["model"]["local_servers"] == [found]
                changes = {"openai_base_url": found["address"], "openai_model": "qwen3:8b"}
                assert program.patch(address, json={"changes": changes}).status_code == 200
                model = program.get(f"{server.url}/api/v1/health").json()["model"]
                assert (model["name"], model["local_servers"]) == ("qwen3:8b", [])
        finally:
            assert server.end() == (0, "")


def test_a_secret_is_kept_and_no_answer_has_its_value(
    server: ServerProcess, visitor: requests.Session
) -> None:
    address = f"{server.url}/api/v1/secrets"
    assert visitor.get(address).json() == {"secrets": []}
    answers = [
        visitor.put(f"{address}/API_KEY", json={"value": SECRET}),
        visitor.put(f"{address}/api_key", json={"value": SECRET}),
        visitor.put(f"{address}/API_KEY", json={"value": SECRET[:5]}),
        visitor.put(f"{address}/API_KEY", json={"value": [SECRET]}),
        visitor.get(address),
        visitor.get(f"{address}/API_KEY"),
        visitor.delete(f"{address}/API_KEY"),
        visitor.delete(f"{address}/API_KEY"),
    ]
    assert [answer.status_code for answer in answers] == [200, 400, 400, 400, 200, 405, 200, 404]
    ((name, readable),) = {(s["name"], s["readable"]) for s in answers[4].json()["secrets"]}
    assert (name, readable) == ("API_KEY", True)
    assert SECRET[:5] not in "".join(answer.text for answer in answers)


def ended_state(visitor: requests.Session, address: str) -> dict[str, Any]:
    """The state when the wait for the person has ended."""
    while (state := visitor.get(address).json())["state"] == "waiting":
        assert "token" not in str(state)
    return dict(state)


def test_a_token_is_kept_when_the_person_has_allowed_it(
    server: ServerProcess, visitor: requests.Session, service: Service
) -> None:
    secrets = f"{server.url}/api/v1/secrets"
    address = f"{secrets}/RATES_TOKEN/authorization"
    assert visitor.get(address).json()["state"] == "none"
    body = {
        "device_url": f"{service.url}/device",
        "token_url": f"{service.url}/token",
        "client_id": "me",
        "scope": "rates",
    }
    code = {**CODE, "interval": 0.05}
    service.answers = [
        (200, code),
        (400, {"error": "authorization_pending"}),
        (200, {"access_token": SECRET}),
    ]
    begun = visitor.post(address, json=body)
    assert (begun.status_code, begun.json()) == (
        200,
        {
            "state": "waiting",
            "user_code": "ABCD-1234",
            "verification_uri": "https://service.example/device",
            "error": None,
        },
    )
    assert ended_state(visitor, address)["state"] == "kept"
    (kept,) = visitor.get(secrets).json()["secrets"]
    assert (kept["name"], kept["readable"]) == ("RATES_TOKEN", True)
    service.answers = [(200, code), (400, {"error": "access_denied"})]
    visitor.post(address, json=body)
    failed = ended_state(visitor, address)
    assert (failed["state"], failed["error"]["message"]) == (
        "failed",
        "the service refused: access_denied",
    )
    refused = [
        visitor.post(address.replace("RATES", "rates"), json=body),
        visitor.post(address, json={**body, "device_url": "http://service.example/device"}),
        visitor.post(address, json={**body, "client_id": ""}),
    ]
    assert [answer.status_code for answer in refused] == [400, 400, 400]
    assert "is not an https address" in refused[1].json()["error"]["message"]
    visitor.delete(f"{secrets}/RATES_TOKEN")
