"""Where requests go, and with which headers: gateways, Azure, addresses with a query."""

import json
import logging
from contextlib import closing

import pytest

from selfeng.core.errors import ConfigurationError, ModelError
from selfeng.core.model_server import ModelServer, with_hidden_values
from selfeng.core.settings import load_settings
from selfeng.llm_client import LLMClient
from selfeng.models.embedding.openai_embedder import OpenAIEmbedder
from tests.llm.desk import KEY, Desk
from tests.llm.wire_server import Sent, Served, events, serving

COUNTED = {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 9}, "output_tokens": 7}
COMPLETED = {"type": "response.completed", "response": {"status": "completed", "output": []}}
SECRET = "not-for-anybody-0123456789"


def model(sent: Sent) -> Served:
    if sent.path.endswith("/models"):
        return Served({"object": "list", "data": [{"id": "offline", "object": "model"}]})
    if sent.path.endswith("/embeddings"):
        return Served({"object": "list", "data": [{"index": 0, "embedding": [1.0, 0.0]}]})
    if sent.path.endswith("/responses"):
        return events({"type": "response.output_text.delta", "delta": "fine"}, COMPLETED)
    return events({"choices": [{"delta": {"content": "fine"}, "finish_reason": "stop"}]})


async def test_requests_of_programs_are_sent_to_either_path(desk: Desk) -> None:
    with serving(lambda sent: Served({"path": sent.path})) as server:
        desk.use(base_url=f"{server.url}/v1")
        for options in ({}, {"path": "/responses"}):
            body = {"model": "selfeng", "input": "Hello"}
            head, content = [
                piece async for piece in desk.client.forward(body, desk.budget, **options)
            ]
            assert head == (200, "application/json")
            assert options.get("path", "/chat/completions").encode() in content
        assert [sent.body["model"] for sent in server.requests] == ["offline"] * 2
        assert server.bodies[1] == {"model": "offline", "input": "Hello"}


@pytest.mark.parametrize(
    ("reply", "tokens"),
    [
        (Served({"choices": [{"message": {"content": "x" * 40}}]}), (20, 10)),  # estimated
        (
            Served({"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 7}}),
            (30, 7),
        ),
        (events({"choices": [{"delta": {"content": "fine"}}], "usage": None}), (20, 1)),
        (
            events(
                {"choices": [{"delta": {"content": 'a "usage": {1'}}], "usage": None},
                {"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 7}},
            ),
            (30, 7),
        ),
        (
            events({"type": "response.completed", "response": {"usage": COUNTED}}),
            (30, 7),
        ),
        (Served({"choices": [], "usage": {"prompt_tokens": "many"}}), (20, 0)),
    ],
)
async def test_what_programs_spend_is_charged(
    desk: Desk, reply: Served, tokens: tuple[int, int]
) -> None:
    with serving(lambda sent: reply) as server:
        desk.use(base_url=f"{server.url}/v1", price=lambda *_: 0.5)
        body = {"messages": [{"role": "user", "content": "What is 15 percent of 300?"}]}
        _ = [piece async for piece in desk.client.forward(body, desk.budget)]
    usage = desk.budget.usage
    assert (usage.calls, usage.input_tokens, usage.output_tokens, usage.cost) == (1, *tokens, 0.5)


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/openai/deployments/d", "api-version=2024-10-21"),
        ("/openai/v1", "api-version=preview"),
        ("/openai/v1/", "api-version=2025-04-01-preview&team=a%20b"),
    ],
)
async def test_every_request_to_azure_has_the_query_and_the_key_as_it_wants_it(
    desk: Desk, path: str, query: str
) -> None:
    with serving(model) as server:
        desk.use(base_url=f"{server.url}{path}?{query}")
        assert await desk.collect() == ["fine"]
        assert await desk.client.models() == ("offline",)
        await desk.client.probe()
        _ = [piece async for piece in desk.client.forward({"messages": []}, desk.budget)]
        embedder = OpenAIEmbedder(
            model="e", dimensions=2, api_key=KEY, base_url=f"{server.url}{path}?{query}"
        )
        with closing(embedder):
            embedder.embed(["one"])
    root = path.rstrip("/")
    embeddings = f"{root.removesuffix('d')}e" if root.endswith("/d") else root
    assert [sent.path for sent in server.requests] == [
        f"{root}/chat/completions" if root.endswith("/d") else f"{root}/responses",
        f"{root}/models",
        f"{root}/models",
        f"{root}/chat/completions",
        f"{embeddings}/embeddings",
    ]
    for sent in server.requests:
        assert sent.query["api-version"] == query.partition("=")[2].partition("&")[0]
        assert sent.query.get("team", "a b") == "a b"
        assert (sent.headers["api-key"], sent.headers.get("authorization")) == (KEY, None)


async def test_a_deployment_without_a_list_of_models_is_its_own_model(desk: Desk) -> None:
    with serving(lambda _: Served({"error": {"code": "404"}}, 404)) as server:
        desk.use(base_url=f"{server.url}/openai/deployments/gpt%204?api-version=1", max_retries=0)
        assert await desk.client.models() == ("gpt 4",)


async def test_extra_headers_are_sent_with_every_request_and_to_no_other_host(desk: Desk) -> None:
    headers = {"HTTP-Referer": "https://example.org", "X-Title": "My agent", "X-Secret": SECRET}
    with serving(model) as other:
        away = {"location": f"http://localhost:{other.port}/v1/models"}

        def answer(sent: Sent) -> Served:
            return Served("", 307, headers=away) if sent.method == "GET" else model(sent)

        with serving(answer) as server:
            desk.use(base_url=f"{server.url}/v1", headers=headers)
            assert await desk.collect() == ["fine"]
            await desk.client.models()
    for sent in server.requests:
        assert {name: sent.headers[name.lower()] for name in headers} == headers
        assert sent.headers["authorization"] == f"Bearer {KEY}"
    [led] = other.requests
    assert not {"x-secret", "http-referer", "authorization"} & led.headers.keys()


@pytest.mark.parametrize("query", ["", "?api-version=1"])
async def test_a_header_for_access_replaces_that_of_the_key(desk: Desk, query: str) -> None:
    with serving(model) as server:
        address = f"{server.url}/openai/deployments/d{query}"
        headers = {"Authorization": f"Bearer {SECRET}"}
        desk.use(base_url=address, headers=headers)
        assert await desk.collect() == ["fine"]
        with closing(
            OpenAIEmbedder(model="e", dimensions=2, api_key=KEY, base_url=address, headers=headers)
        ) as embedder:
            embedder.embed(["one"])
    for sent in server.requests:
        assert sent.headers["authorization"] == f"Bearer {SECRET}"
        assert "api-key" not in sent.headers


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://me:pw@h.example/v1/", "https://h.example/v1"),
        (
            f"https://h.example/v1?api-version=2024-10-21&code={SECRET}",
            "https://h.example/v1?api-version=2024-10-21&code=***",
        ),
        ("http://h.example/v1?flag", "http://h.example/v1?flag"),
    ],
)
async def test_an_address_is_shown_with_its_query_and_without_secrets(
    address: str, shown: str
) -> None:
    client = LLMClient(model="m", base_url=address)
    assert client.server == shown
    assert with_hidden_values(shown, address).replace("me:pw@", "") == address.replace(
        "me:pw@", ""
    ).rstrip("/")
    await client.aclose()


@pytest.mark.parametrize("place", ["query", "header"])
async def test_secrets_of_query_and_headers_appear_in_no_error_and_no_log(
    desk: Desk, place: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    def answer(sent: Sent) -> Served:
        return Served({"error": {"message": f"bad: {SECRET} {sent.query}"}}, 418)

    with serving(answer) as server:
        query, headers = ("?code=" + SECRET, {}) if place == "query" else ("", {"X-Key": SECRET})
        desk.use(base_url=f"{server.url}/v1{query}", headers=headers)
        with pytest.raises(ModelError) as caught:
            await desk.collect()
    assert SECRET not in caplog.text
    assert SECRET not in f"{caught.value!r} {caught.value.message} {vars(desk.client)!r}"


@pytest.mark.parametrize(
    ("written", "headers"),
    [
        ("X-Title: My agent", {"X-Title": "My agent"}),
        ("HTTP-Referer: https://a.example:1/b; X-Title: b, c", None),
        (json.dumps({"X-A": "1; 2", "X-B": "3"}), {"X-A": "1; 2", "X-B": "3"}),
        ("X-A: 1\nX-B: 2\n", {"X-A": "1", "X-B": "2"}),
    ],
)
def test_headers_are_read_in_each_form(
    monkeypatch: pytest.MonkeyPatch, written: str, headers: dict[str, str] | None
) -> None:
    monkeypatch.setenv("OPENAI_HEADERS", written)
    settings = load_settings(None)
    expected = headers or {"HTTP-Referer": "https://a.example:1/b", "X-Title": "b, c"}
    assert settings.headers == expected
    assert "openai_base_url" in settings.fixed
    assert not any(value in repr(settings) for value in expected.values() if len(value) > 2)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        (f"X-A: 1; {SECRET}", "header 2 has no value"),
        (f"X A: {SECRET}", "header 1 has no name"),
        (f"X-A: {SECRET}ü", "header 1 is X-A, whose value is not printable ASCII"),
        (f"Host: {SECRET}", "header 1 is Host, which is set by the client"),
        ('{"X-A": ["' + SECRET + '"]}', "header 1 is X-A, whose value is not printable ASCII"),
        ('{"X-A": ' + SECRET, "is not a JSON object"),
        ("X-A:", "header 1 has no value after a colon"),
    ],
)
def test_unusable_headers_are_refused_without_their_values(
    monkeypatch: pytest.MonkeyPatch, written: str, problem: str
) -> None:
    monkeypatch.setenv("OPENAI_HEADERS", written)
    with pytest.raises(ConfigurationError) as caught:
        load_settings(None)
    assert caught.value.message.startswith(f"OPENAI_HEADERS=(hidden): {problem}")
    assert SECRET not in caught.value.message


def test_azure_is_known_by_its_hosts_and_by_the_version_in_the_query() -> None:
    def azure(address: str) -> bool:
        return ModelServer(base_url=address, model="", api_key="", timeout=0).azure

    hosts = ["x.openai.azure.com", "x.services.ai.azure.com", "x.openai.azure.us"]
    assert all(azure(f"https://{host}/openai/v1") for host in hosts)
    assert azure("http://127.0.0.1:1/openai/v1?api-version=preview")
    assert not azure("https://openai.azure.com.example.org/v1")
    assert not azure("https://models.inference.ai.azure.com")
