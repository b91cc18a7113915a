"""Connections on real sockets: those that only wait, however many they are, keep nobody else out,
and nothing may take for ever.
"""

import resource
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest
import requests
from openai import OpenAI

from tests.web.server_process import ServerProcess
from web.connections import Connections, origin
from web.serving import AsyncMode

MODES = ["eventlet", pytest.param("threading", marks=pytest.mark.everywhere)]
MOST = 512


@pytest.fixture(scope="module", params=MODES)
def guarded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    """A server that waits 20 seconds for nothing."""
    server = ServerProcess(tmp_path_factory.mktemp("guarded"), cast(AsyncMode, request.param))
    yield server
    assert server.end() == (0, "")
    # thousands are told in one line a minute; Werkzeug may say that it lacked a descriptor
    assert server.errors.count("\n") <= 30, server.errors


@pytest.fixture(scope="module", params=MODES)
def hasty(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    """A server of little patience: seconds for a head, a request, a piece of a response, and of
    silence on a websocket.
    """
    server = ServerProcess(
        tmp_path_factory.mktemp("hasty"), cast(AsyncMode, request.param), PATIENCE="1 4 1.5 60"
    )
    yield server
    assert server.end() == (0, "")
    assert server.errors == ""


def dial(server: ServerProcess) -> socket.socket:
    parts = urlsplit(server.url)
    return socket.create_connection((str(parts.hostname), int(parts.port or 0)), timeout=20)


def head(server: ServerProcess, line: str, *headers: str) -> bytes:
    return "\r\n".join(
        [f"{line} HTTP/1.1", f"Host: {urlsplit(server.url).netloc}", *headers, "", ""]
    ).encode()


def rest(connection: socket.socket) -> bytes:
    """All until the server closes; a reset is an end as well."""
    found = b""
    try:
        while data := connection.recv(65536):
            found += data
    except ConnectionError:
        pass
    return found


@contextmanager
def crowd(server: ServerProcess, size: int, says: bytes) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [_said(stack.enter_context(dial(server)), says) for _ in range(size)]


def _said(connection: socket.socket, says: bytes) -> socket.socket:
    connection.sendall(says)
    return connection


@pytest.mark.parametrize(
    "says",
    [
        pytest.param(b"", id="silent", marks=pytest.mark.extended),
        pytest.param(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ", id="half a head"),
        pytest.param(
            b"GET /api/v1/tools HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", id="answered and kept"
        ),
        pytest.param(b"\x16\x03\x01", id="no HTTP", marks=pytest.mark.extended),
    ],
)
def test_thousands_of_connections_without_the_token_keep_nobody_out(
    guarded: ServerProcess, says: bytes
) -> None:
    with (
        guarded.browser() as visitor,
        guarded.socket(visitor) as page,
        crowd(guarded, MOST + 200, says),
    ):
        for _ in range(3):
            assert requests.get(guarded.url + "/", timeout=10).status_code == 401
            with guarded.browser() as another:
                assert another.get(f"{guarded.url}/api/v1/tools", timeout=10).status_code == 200
        page.ask("say still here")
        assert page.records(until="turn_finished")[-1]["event"]["answer"] == "stillhere"


def test_a_process_without_descriptors_goes_on_accepting_when_it_has_some(
    guarded: ServerProcess,
) -> None:
    descriptors = Path(f"/proc/{guarded.process.pid}/fd")
    soft, hard = resource.prlimit(guarded.process.pid, resource.RLIMIT_NOFILE)
    for room in (0, 1, 5):
        resource.prlimit(
            guarded.process.pid,
            resource.RLIMIT_NOFILE,
            (len(list(descriptors.iterdir())) + room, hard),
        )
        with crowd(guarded, 30, b""):
            time.sleep(0.3)  # it fails to accept
        resource.prlimit(guarded.process.pid, resource.RLIMIT_NOFILE, (soft, hard))
        guarded.browser().close()


def _never_speaks(
    server: ServerProcess, visitor: requests.Session, connection: socket.socket
) -> None:
    pass


def _trickles_its_head(
    server: ServerProcess, visitor: requests.Session, connection: socket.socket
) -> None:
    connection.sendall(head(server, "GET /")[:-2])
    _trickle(connection, b"X-Slow: yes\r\n")


def _comes_back_too_late(
    server: ServerProcess, visitor: requests.Session, connection: socket.socket
) -> None:
    connection.sendall(head(server, "GET /api/v1/tools", f"Authorization: Bearer {server.token}"))
    assert connection.recv(12) == b"HTTP/1.1 200"


def _trickles_its_body(
    server: ServerProcess, visitor: requests.Session, connection: socket.socket
) -> None:
    connection.sendall(
        head(
            server,
            "POST /api/v1/files?name=a",
            f"Authorization: Bearer {server.token}",
            "Content-Length: 50000",
        )
    )
    _trickle(connection, b"x")


def _trickles_a_body_that_nobody_wants(
    server: ServerProcess, visitor: requests.Session, connection: socket.socket
) -> None:
    connection.sendall(head(server, "POST /api/v1/files?name=a", "Content-Length: 50000"))
    _trickle(connection, b"x")


def _upgrade(server: ServerProcess, connection: socket.socket) -> None:
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    headers = (
        f"Authorization: Bearer {server.token}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        key,
    )
    connection.sendall(head(server, "GET /socket.io/?EIO=4&transport=websocket", *headers))
    assert connection.recv(12) == b"HTTP/1.1 101"


def _trickle(connection: socket.socket, piece: bytes) -> None:
    end = time.monotonic() + 15
    while time.monotonic() < end:
        try:
            connection.sendall(piece)
        except OSError:
            return
        time.sleep(0.1)
    pytest.fail("the server has all the time in the world")


@pytest.mark.parametrize(
    "dawdle",
    [
        _never_speaks,
        _trickles_its_head,
        _comes_back_too_late,
        pytest.param(_trickles_its_body, marks=pytest.mark.extended),
        _trickles_a_body_that_nobody_wants,
    ],
)
def test_who_takes_too_long_is_shut_out(
    hasty: ServerProcess, dawdle: Callable[[ServerProcess, requests.Session, socket.socket], None]
) -> None:
    with hasty.browser() as visitor, hasty.socket(visitor) as page, dial(hasty) as connection:
        dawdle(hasty, visitor, connection)
        rest(connection)
        page.ask("say I am slow as well")  # but honest
        assert page.records(until="turn_finished")[-1]["event"]["answer"] == "Iamslowaswell"


def test_an_answer_that_comes_whole_may_take_longer_than_a_request(hasty: ServerProcess) -> None:
    with OpenAI(base_url=f"{hasty.url}/v1", api_key=hasty.token, max_retries=0) as client:
        said: Any = [{"role": "user", "content": "essay 5000"}]
        reply = client.chat.completions.create(model="selfeng", messages=said)
    assert len((reply.choices[0].message.content or "").split()) > 4000


@pytest.mark.extended
def test_a_websocket_that_falls_silent_is_ended(tmp_path: Path) -> None:
    server = ServerProcess(
        tmp_path, "threading", PATIENCE="20 60 60 2"
    )  # eventlet's ends after 45 seconds, which Engine.IO sets
    with dial(server) as connection:
        _upgrade(server, connection)
        rest(connection)
    assert server.end() == (0, "")
    assert server.errors == ""


@pytest.mark.extended
def test_who_never_reads_the_answer_is_shut_out_and_who_reads_slowly_is_not(
    hasty: ServerProcess,
) -> None:
    with hasty.browser() as visitor, hasty.socket(visitor) as page:
        conversation = None
        for _ in range(16):
            conversation = page.ask("say " + "語" * 19_990, conversation)["conversation_id"]
            page.records(until="turn_finished")
        cookie = "Cookie: " + "; ".join(f"{c.name}={c.value}" for c in visitor.cookies)
    asks = head(
        hasty, f"GET /api/v1/conversations/{conversation}/records", cookie, "Connection: close"
    )

    def fetched(pause: float, pauses: int) -> int:
        with socket.socket() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
            connection.settimeout(20)
            connection.connect(
                (str(urlsplit(hasty.url).hostname), int(urlsplit(hasty.url).port or 0))
            )
            connection.sendall(asks)
            found = 0
            for _ in range(pauses):
                time.sleep(pause)
                found += len(connection.recv(200_000))
            return found + len(rest(connection))

    everything = fetched(0, 0)
    assert everything > 5_000_000  # more than the machine's buffers take
    assert fetched(pause=0.02, pauses=40) == everything
    assert fetched(pause=8, pauses=1) < everything


def test_a_page_that_reads_nothing_delays_no_other(guarded: ServerProcess) -> None:
    with (
        guarded.browser() as visitor,
        guarded.socket(visitor) as page,
        socket.socket() as connection,
    ):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(20)
        parts = urlsplit(guarded.url)
        connection.connect((str(parts.hostname), int(parts.port or 0)))
        asked = page.ask("hold slow")
        conversation = asked["conversation_id"]
        _upgrade(guarded, connection)
        _say(connection, "40")
        _say(connection, f'42["subscribe",{{"conversation_id":"{conversation}"}}]')
        for _ in range(24):  # more than the buffers of the machine take
            page.ask("recite " + "語" * 19_000, conversation)
        page.ask("flood 1000", conversation)
        page.records(until="turn_finished")
        page.ask("release slow", conversation)
        page.records(until="turn_finished", turn_id=asked["turn_id"])


def _say(connection: socket.socket, message: str) -> None:
    """A frame of a websocket whose mask is 0."""
    size = len(message)
    assert size < 126
    connection.sendall(bytes([0x81, 0x80 | size]) + bytes(4) + message.encode())


def test_one_address_has_its_share_and_this_machine_has_all() -> None:
    def taken(connections: Connections, *addresses: str) -> list[bool]:
        found = []
        for place in addresses:
            connection = connections.opened(here, place)
            if connection:
                connection.await_response(0)
            found.append(connection is not None)
        return found

    here, there = socket.socketpair()
    with here, there:
        assert (
            taken(Connections(2, most=9), *["192.0.2.1"] * 3, *["192.0.2.2"] * 3)
            == [True, True, False] * 2
        )
        assert taken(Connections(2, most=9), *(f"2001:db8::{n}" for n in range(3))) == [
            True,
            True,
            False,
        ]
        assert taken(Connections(2, most=9), *["192.0.2.1", "::ffff:192.0.2.1", "192.0.2.1"]) == [
            True,
            True,
            False,
        ]
        assert taken(Connections(2, most=4), *["127.0.0.1"] * 5) == [True] * 4 + [False]


@pytest.mark.parametrize(
    ("address", "stands_for"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::"),
        ("::1", "::1"),
        ("", ""),
    ],
)
def test_a_network_of_ipv6_counts_as_one_address(address: str, stands_for: str) -> None:
    assert origin(address) == stands_for
