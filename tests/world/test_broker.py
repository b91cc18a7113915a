"""The broker, in the test world: what tools get, and what they don't."""

import asyncio
import base64
import time
from typing import Any

import pytest

from selfeng.core.errors import NetworkRefused
from selfeng.core.http import Exchange, HttpRequest, HttpResponse, NetworkAccess, SecretUse
from selfeng.servers.addresses import reach_of, resolve
from selfeng.servers.broker import BrokerLimits
from tests.world.world import CANARY, PUBLIC, World, json_of

API = "https://api.world.example"
READ = NetworkAccess(host="api.world.example")


def get(path: str, *headers: tuple[str, str]) -> HttpRequest:
    return HttpRequest(method="GET", url=API + path, headers=headers)


def with_key(place: Any, key: str = "", name: str = "KEY") -> NetworkAccess:
    return READ.model_copy(update={"secrets": (SecretUse(name=name, place=place, key=key),)})


async def send(
    world: World, request: HttpRequest, *accesses: NetworkAccess
) -> tuple[HttpResponse, list[Exchange]]:
    exchanges = list[Exchange]()
    network = world.broker().network(accesses, exchanges.append)
    return await network.send(request), exchanges


async def test_a_request_is_sent_and_recorded(world: World) -> None:
    request = get("/v1/rates?page=3", ("Accept", "application/json"), ("X-Api-Version", "2"))
    response, (exchange,) = await send(world, request, READ)
    assert json_of(response.body)["next"] is None
    assert response.status == 200
    assert response.url == f"{API}/v1/rates?page=3"
    assert ("content-type", "application/json") in response.headers
    assert (exchange.request.url, exchange.response) == (request.url, response)
    (seen,) = world.seen
    assert seen.headers["host"] == "api.world.example"
    assert seen.headers["x-api-version"] == "2"
    assert seen.headers["user-agent"].startswith("selfeng/")


async def test_a_body_reaches_the_service(world: World) -> None:
    body = base64.b64encode(b'{"amount": 5}').decode()
    request = HttpRequest(method="POST", url=f"{API}/v1/echo", body=body)
    await send(world, request, READ.model_copy(update={"methods": ("POST",)}))
    assert (world.seen[0].method, world.seen[0].body) == ("POST", b'{"amount": 5}')


@pytest.mark.parametrize(
    ("place", "key"),
    [("bearer", ""), ("basic", "user"), ("header", "X-Api-Key"), ("query", "key")],
)
async def test_a_secret_opens_the_service_and_is_not_seen(
    world: World, place: str, key: str
) -> None:
    response, (exchange,) = await send(world, get("/v1/private?key=1"), with_key(place, key))
    assert json_of(response.body) == {"balance": 12}
    assert CANARY not in exchange.model_dump_json() + response.model_dump_json()
    echo, _ = await send(world, get("/v1/echo"), with_key(place, key))
    assert "${KEY}" in base64.b64decode(echo.body).decode()


async def test_a_secret_stays_with_redirects_at_its_origin_only(world: World) -> None:
    other = NetworkAccess(
        host="other.world.example",
        secrets=(SecretUse(name="KEY", place="header", key="x-api-key"),),
    )
    await send(world, get("/redirect/302//v1/echo"), with_key("bearer"))
    await send(world, get("/redirect/302/https://other.world.example/"), with_key("bearer"), other)
    assert [f"Bearer {CANARY}" == seen.headers.get("authorization") for seen in world.seen] == [
        *(True, True, True, False)
    ]
    assert "x-api-key" not in world.seen[-1].headers


async def test_a_missing_secret_is_an_error_that_names_it(world: World) -> None:
    with pytest.raises(NetworkRefused, match="there is no secret OTHER"):
        await send(world, get("/v1/rates"), with_key("bearer", name="OTHER"))
    assert world.seen == []


async def test_a_redirect_to_another_host_needs_a_consent_of_its_own(world: World) -> None:
    url = get("/redirect/302/https://other.world.example/v1/echo")
    with pytest.raises(NetworkRefused, match="redirects to https://other") as error:
        await send(world, url, READ)
    access = error.value.lacks
    assert access
    assert (access.host, access.methods, access.after) == (
        "other.world.example",
        ("GET",),
        "api.world.example",
    )
    await send(world, url, READ, access)
    direct = HttpRequest(method="GET", url="https://other.world.example/v1/echo")
    with pytest.raises(NetworkRefused, match="is not allowed"):
        await send(world, direct, READ, access)
    for target in ("http://other.world.example/", "https://printer.local/", "https://127.0.0.1/"):
        with pytest.raises(NetworkRefused) as refused:
            await send(world, get(f"/redirect/302/{target}"), READ)
        assert refused.value.lacks is None


@pytest.mark.parametrize(("status", "method"), [(301, "GET"), (303, "GET"), (307, "POST")])
async def test_a_redirect_changes_the_method_as_browsers_do(
    world: World, status: int, method: str
) -> None:
    both = READ.model_copy(update={"methods": ("GET", "POST")})
    url = f"{API}/redirect/{status}//v1/echo"
    response, _ = await send(world, HttpRequest(method="POST", url=url, body="YQ=="), both)
    assert (world.seen[-1].method, response.url) == (method, f"{API}/v1/echo")
    assert world.seen[-1].body == (b"a" if method == "POST" else b"")


@pytest.mark.parametrize("packed", ["gzip", "deflate"])
async def test_a_packed_answer_is_unpacked(world: World, packed: str) -> None:
    response, _ = await send(world, get(f"/packed/{packed}"), READ)
    assert base64.b64decode(response.body) == b"packed"
    assert "content-encoding" not in dict(response.headers)


async def test_errors_of_a_service_are_answers(world: World) -> None:
    response, (exchange,) = await send(world, get("/v1/status/503"), READ)
    assert response.status == exchange.response.status == 503


async def test_plain_http_needs_an_access_that_says_so(world: World) -> None:
    request = HttpRequest(method="GET", url="http://api.world.example/v1/rates")
    with pytest.raises(NetworkRefused, match="is not allowed"):
        await send(world, request, READ)
    plain = NetworkAccess(host="api.world.example", scheme="http", port=80)
    assert (await send(world, request, plain))[0].status == 200


async def test_a_private_address_needs_an_access_that_says_so(world: World) -> None:
    home = NetworkAccess(host="home.world.example")
    request = HttpRequest(method="GET", url="https://home.world.example/v1/rates")
    with pytest.raises(NetworkRefused, match=r"has the address 127\.0\.0\.1, which is private"):
        await send(world, request, home)
    allowed = home.model_copy(update={"private": True})
    assert (await send(world, request, allowed))[0].status == 200


async def test_names_of_other_scripts_are_sent_in_ascii(world: World) -> None:
    access = NetworkAccess(host="bücher.world.example")
    request = HttpRequest(method="GET", url="https://BÜCHER.world.example/v1/rates")
    await send(world, request, access)
    assert world.seen[0].host == "xn--bcher-kva.world.example"


async def test_another_address_is_tried_if_one_does_not_answer(world: World) -> None:
    world.hosts["api.world.example"] = [f"{PUBLIC}200", f"{PUBLIC}1"]
    response, _ = await send(world, get("/v1/rates"), READ)
    assert (response.status, len(world.refusals)) == (200, 1)


async def test_requests_to_a_host_wait_for_each_other_after_a_burst(world: World) -> None:
    limits = BrokerLimits(rate=20.0, burst=2)
    network = world.broker(limits=limits).network([READ], lambda exchange: None)
    began = time.monotonic()
    for _ in range(6):
        await network.send(get("/v1/rates"))
    assert time.monotonic() - began >= 3 / 20


async def test_a_call_has_four_requests_under_way(world: World) -> None:
    network = world.broker().network([READ], lambda exchange: None)
    await asyncio.gather(*(network.send(get("/pause")) for _ in range(6)))
    assert world.most_at_once == 4


@pytest.mark.parametrize(
    ("address", "reach"),
    [
        ("93.184.215.14", "public"),
        ("2606:2800:21f:cb07::1", "public"),
        ("64:ff9b::5db8:d70e", "public"),
        ("::ffff:93.184.215.14", "public"),
        ("192.168.1.9", "private"),
        ("100.64.0.9", "private"),
        ("::ffff:10.0.0.1", "private"),
        ("fd12::1", "private"),
        ("64:ff9b::a00:1", "forbidden"),
        ("2002:a00:1::", "forbidden"),
        ("169.254.169.254", "forbidden"),
        ("192.0.2.1", "forbidden"),
        ("0.1.2.3", "forbidden"),
        ("4000::1", "forbidden"),
    ],
)
def test_reach_of_addresses(address: str, reach: str) -> None:
    assert reach_of(address) == reach


async def test_names_are_resolved_by_the_system() -> None:
    assert {reach_of(address) for address in await resolve("localhost", 80)} == {"private"}
