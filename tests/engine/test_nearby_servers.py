"""Model servers on this machine: found by their lists of models, and never anything else."""

import socket
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any

import pytest

from selfeng.core.settings import Settings, load_settings
from selfeng.core.status import LocalServer
from selfeng.llm_client import LLMClient
from selfeng.provision.configuration import Configuration
from selfeng.provision.local_servers import local_servers
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.llm.wire_server import Sent, Served, serving

PATIENCE = 10


def listed(*ids: str, owner: str = "", **fields: Any) -> Served:
    data = [{"id": id, "object": "model", "owned_by": owner} for id in ids]
    return Served({"object": "list", "data": data, **fields})


@pytest.mark.parametrize(
    ("usual", "served", "kind", "models"),
    [
        ("ollama", listed("qwen3:8b", "nomic-embed-text", owner="library"), "ollama", ("qwen3:8b",)),
        ("lmstudio", listed("a", "b", owner="organization_owner"), "lmstudio", ("a", "b")),
        ("jan", listed("llama3.2-3b", owner=""), "jan", ("llama3.2-3b",)),
        ("vllm", listed("m", owner="llamacpp", models=[{"name": "m"}]), "llamacpp", ("m",)),
        ("llamacpp", listed("m", owner="vllm"), "vllm", ("m",)),
    ],
)  # fmt: skip
async def test_a_server_is_found_with_its_models_that_chat(
    usual: Any, served: Served, kind: Any, models: tuple[str, ...]
) -> None:
    with serving(lambda _: served) as server:
        found = await local_servers({server.port: usual}, PATIENCE)
    address = f"http://localhost:{server.port}/v1"
    assert found == (LocalServer(kind=kind, address=address, models=models),)
    assert (server.requests[0].method, server.requests[0].path) == ("GET", "/v1/models")


async def test_several_servers_are_found_in_the_order_of_their_ports() -> None:
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(lambda _: listed("m"))) for _ in range(3)]
        ports: Mapping[int, Any] = {server.port: "jan" for server in reversed(servers)}
        found = await local_servers(ports, PATIENCE)
    assert [server.address for server in found] == [
        f"http://localhost:{server.port}/v1" for server in reversed(servers)
    ]


async def test_a_server_on_ipv6_alone_is_found_by_that_address() -> None:
    with serving(lambda _: listed("m"), host="::1") as server:
        [found] = await local_servers({server.port: "ollama"}, PATIENCE)
    assert found.address == f"http://[::1]:{server.port}/v1"


@pytest.mark.parametrize(
    "served",
    [
        Served("<html>", kind="text/html"),
        Served({"error": "no key"}, 401),
        Served({"data": []}),
        Served({"object": "list", "data": None}),
        Served({"object": "list", "data": ["m"]}),
        Served({"object": "list", "data": [{"name": "m"}]}),
        Served({"data": [{"id": "1", "title": "a row of another program"}]}),
        Served(["m"]),
        Served("", 307, headers={"location": "http://127.0.0.1:9/v1/models"}),
        listed("nomic-embed-text"),
        listed("selfeng", "m", owner="selfeng"),
    ],
)
async def test_other_programs_at_these_ports_are_not_taken_for_servers(served: Served) -> None:
    with serving(lambda _: served) as server:
        assert await local_servers({server.port: "vllm"}, PATIENCE) == ()


async def test_what_does_not_answer_in_time_or_at_all_is_not_found() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent, socket.create_server(("", 0)) as taken:
        free = taken.getsockname()[1]
        taken.close()
        ports: Mapping[int, Any] = {silent.getsockname()[1]: "ollama", free: "jan"}
        assert await local_servers(ports) == ()


def configured(settings: Settings, ports: Mapping[int, Any]) -> Configuration:
    def connect(settings: Settings, news: Any) -> LLMClient:
        return LLMClient(model="m", base_url=settings.openai_base_url, news=news)

    return Configuration(settings, connect, lambda: local_servers(ports, PATIENCE))


@pytest.fixture
def settings(tmp_path, monkeypatch) -> Settings:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    return load_settings(None)


async def test_without_a_key_the_first_looks_are_made_unasked_and_further_ones_on_demand(
    settings: Settings,
) -> None:
    def answer(_: Sent) -> Served:
        return listed("m") if started else Served({}, 503)

    started, news = [], list[int]()
    with serving(answer) as server:
        configuration = configured(settings, {server.port: "ollama"})
        configuration.news.subscribe(lambda: news.append(len(configuration.status.local_servers)))
        for _ in range(3):
            await configuration.probe()
        assert (len(server.requests), configuration.status.local_servers) == (2, ())
        started.append(True)
        [found] = await configuration.look()
        assert configuration.status.local_servers == (found,)
        assert news == [1]
        assert str(configuration.status).endswith(
            f"Ollama runs on this machine: set OPENAI_BASE_URL={found.address} and "
            "OPENAI_MODEL=m to use it."
        )
        await configuration.change({"openai_base_url": found.address, "openai_model": "m"})
        assert configuration.status.local_servers == ()
        asked = len(server.requests)
        await configuration.look()
        assert len(server.requests) == asked + 1
    await configuration.aclose()


async def test_what_cannot_be_chosen_is_not_offered(settings: Settings, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_HEADERS", "X-Title: a")
    with serving(lambda _: listed("m")) as server:
        configuration = configured(load_settings(None), {server.port: "ollama"})
        await configuration.look()
        assert configuration.status.local_servers == ()
    await configuration.aclose()


async def test_our_own_offline_server_is_not_found() -> None:
    with OfflineServer(Cookbook()) as server:
        port = int(server.base_url.split(":")[2].partition("/")[0])
        assert await local_servers({port: "ollama"}, PATIENCE) == ()
