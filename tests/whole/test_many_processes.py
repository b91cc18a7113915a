"""Two page servers and three workers on one PostgreSQL and one Chroma, as real processes: clients
of both servers ask a hundred times, a worker and a server are killed meanwhile, and nothing is
lost; nor is it where code runs on two Docker engines, one of which is killed as well. It takes both
cores of a small machine for minutes, so that `make test-everywhere` alone runs it.
"""

import asyncio
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import pytest
import requests
import socketio.exceptions
import sqlalchemy as sa

from selfeng.core.events import FINAL
from selfeng.library.seeding import SeedMark
from selfeng.sandbox import SecureSandbox
from selfeng.store.database import attach
from selfeng.store.journal import Journal
from selfeng.store.schema import turns
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.chroma_server import ChromaServer
from tests.databases import Postgres
from tests.home import Home
from tests.sandbox.private_engine import PrivateEngine
from tests.web.server_process import Client
from web.access import PERSON

pytestmark = [pytest.mark.postgres, pytest.mark.everywhere]

PEOPLE, EACH = 10, 10
TOKEN = "a-token-of-all-servers-of-this-test"
BUILDS = (
    ("Reverse the string 'stressed'", "desserts"),
    ("Count the vowels in 'education'", "5"),
    ("Is 'level' a palindrome?", "Yes"),
)
ENDS = {kind.model_fields["type"].default for kind in FINAL}


class Process:
    """A page server or a worker with folders of its own."""

    def __init__(self, home: Home, *program: str, **environment: str) -> None:
        (home.tools).mkdir(parents=True)
        database = attach(environment["DATABASE_URL"])
        SeedMark(database).put()  # the requests build what they need
        database.dispose()
        self._errors = (home.folder / "errors").open("w+")
        self._process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", sys.executable, *program],
            env=home.environment(**environment),
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )

    def link(self) -> str:
        """The link that a page server prints."""
        assert self._process.stdout
        return self._process.stdout.readline().strip()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def end(self) -> tuple[int, list[str]]:
        """Its exit code, and what it complained of."""
        self._process.send_signal(signal.SIGTERM)
        code = self._process.wait(timeout=60)
        self._errors.seek(0)
        said = self._errors.read().splitlines()
        return code, [line for line in said if " ERROR " in line or "Traceback" in line]

    def close(self) -> None:
        self.kill()
        if self._process.stdout:
            self._process.stdout.close()
        self._errors.close()


class Person:
    """One who asks one request after the other in one conversation, and goes to another server
    when theirs is gone.
    """

    def __init__(self, number: int, addresses: list[str]) -> None:
        self.number, self._addresses = number, addresses
        self.conversation_id: str | None = None
        self.turn_ids: list[str] = []
        self.records: list[dict[str, Any]] = []

    def ask(self, text: str) -> dict[str, Any]:
        """Ask until it is acknowledged, and wait for the end of the turn, which is returned."""
        request_id, ended = str(uuid4()), None
        while ended is None:
            with (
                suppress(socketio.exceptions.SocketIOError, requests.RequestException, OSError),
                connected(self._addresses[0]) as client,
            ):
                ended = self._turn(client, text, request_id)
            if ended is None:
                self._addresses = self._addresses[1:] + self._addresses[:1]
        return ended

    def _turn(self, client: Client, text: str, request_id: str) -> dict[str, Any]:
        payload = {
            "text": text,
            "conversation_id": self.conversation_id,
            "request_id": request_id,
        }
        reply = client.call("ask", payload, timeout=10)
        assert reply.get("turn_id"), reply
        self.conversation_id = reply["conversation_id"]
        if reply["turn_id"] not in self.turn_ids:
            self.turn_ids.append(reply["turn_id"])
        self._take(client.follow(reply["conversation_id"], self._last))
        while not (ended := self._end(reply["turn_id"])):
            with suppress(socketio.exceptions.TimeoutError):  # it does not see that a server ends
                name, *rest = client.receive(timeout=0.5)
                if name == "records" and rest[0]["conversation_id"] == self.conversation_id:
                    self._take(rest[0]["records"])
        return ended

    @property
    def _last(self) -> int:
        return int(self.records[-1]["seq"]) if self.records else 0

    def _take(self, records: list[dict[str, Any]]) -> None:
        self.records += [record for record in records if record["seq"] > self._last]

    def _end(self, turn_id: str) -> dict[str, Any] | None:
        mine = (r["event"] for r in self.records if r["turn_id"] == turn_id)
        return next((event for event in mine if event["type"] in ENDS), None)


@contextmanager
def connected(address: str) -> Iterator[Client]:
    """A client of a page server while it lasts."""
    with requests.Session() as http:
        http.headers["Authorization"] = f"Bearer {TOKEN}"
        client = Client(http_session=http)
        client.connect(address, headers=dict(http.headers), transports=["websocket"])
        try:
            yield client
        finally:
            with suppress(Exception):
                client.disconnect()


def cut_listeners(url: str) -> None:
    """End the connections by which the processes hear of each other."""
    database = attach(url)
    ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"
    with database.connect() as connection:
        assert len(connection.scalars(sa.text(ended)).all()) >= 3
    database.dispose()


def requests_of(number: int) -> Iterator[tuple[str, str]]:
    """Requests with what their answers hold; one person has the tools built."""
    builds = BUILDS if number == 0 else ()
    yield from builds
    for n in range(EACH - len(builds)):
        word = f"word {number} and {n}"
        yield f"Reverse the string '{word}'", word[::-1]


@pytest.mark.bubblewrap
@pytest.mark.timeout(400)
def test_a_killed_worker_and_a_killed_server_lose_nothing(
    tmp_path: Path, postgres: Postgres
) -> None:
    lose_nothing(tmp_path, postgres, bubblewrap=True)


@pytest.mark.docker
@pytest.mark.timeout(600)
def test_nor_does_a_killed_engine_of_two(
    tmp_path: Path, postgres: Postgres, private_engine: PrivateEngine
) -> None:
    both = ("unix:///var/run/docker.sock", private_engine.environment["DOCKER_HOST"])
    try:
        lose_nothing(tmp_path, postgres, {70: private_engine.kill}, DOCKER_HOSTS=",".join(both))
    finally:
        private_engine.start()
    asyncio.run(next_start(both))
    assert private_engine.containers() == []


async def next_start(hosts: Sequence[str]) -> None:
    """A server's clean-up of containers when it starts: those of a worker that was killed, and of
    an engine that was, are there still.
    """
    sandbox = SecureSandbox(docker_hosts=hosts)
    await sandbox.reap()
    await sandbox.aclose()


def lose_nothing(
    folder: Path,
    postgres: Postgres,
    troubles: Mapping[int, Callable[[], None]] = MappingProxyType({}),
    *,
    bubblewrap: bool = False,
    **more: str,
) -> None:
    """`troubles` happen after so many turns, beside the end of a worker and of a server, and of
    all connections that listen.
    """
    url = postgres.new()
    with ExitStack() as stack:
        model = stack.enter_context(OfflineServer(Cookbook(), delay=0))
        chroma = stack.enter_context(ChromaServer(folder / "chroma"))
        environment = {
            "DATABASE_URL": url,
            "CHROMA_URL": chroma.url,
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": model.api_key,
            "OPENAI_MODEL": model.model,
            "ACCESS_TOKEN": TOKEN,
            **more,
        }

        def start(name: str, *program: str, room: int) -> Process:
            home = Home(folder / name, bubblewrap=bubblewrap)
            process = Process(home, *program, **environment, TURNS_PER_PROCESS=str(room))
            stack.callback(process.close)
            return process

        servers = [start(f"server{n}", "web/app.py", room=0) for n in range(2)]
        workers = [start(f"worker{n}", "-m", "selfeng", "worker", room=3) for n in range(3)]
        addresses = [server.link().partition("/?")[0] for server in servers]
        people = [Person(n, addresses if n % 2 else addresses[::-1]) for n in range(PEOPLE)]
        done = Counter[str]()
        moments = {
            20: workers[0].kill,
            35: lambda: cut_listeners(url),
            45: servers[0].kill,
            **troubles,
        }
        lock = threading.Lock()
        wrong: list[Any] = []

        built = threading.Event()

        def live(person: Person) -> None:
            if person.number:
                built.wait()
            for text, held in requests_of(person.number):
                ended = person.ask(text)
                built.set()
                if ended["type"] != "turn_finished" or held not in ended["answer"]:
                    wrong.append((text, ended))
                with lock:
                    done["turns"] += 1
                    happens: Callable[[], None] | None = moments.pop(done["turns"], None)
                if happens:
                    happens()

        with ThreadPoolExecutor(PEOPLE) as pool:
            list(pool.map(live, people))
        ends = [process.end() for process in (servers[1], *workers[1:])]

    assert wrong == [], wrong
    assert ends == [(0, [])] * 3
    assert moments == {}
    database = attach(url)
    try:
        journal = Journal(database)
        with database.connect() as connection:
            states = {row.id: row.state for row in connection.execute(turns.select())}
        assert states == dict.fromkeys((i for p in people for i in p.turn_ids), "finished")
        assert len(states) == PEOPLE * EACH
        assert len(journal.conversations(PERSON)) == PEOPLE
        for person in people:
            history = journal.history(person.conversation_id or "")
            assert [r["seq"] for r in person.records] == [record.seq for record in history]
            asked = [r.event.request for r in history if r.event.type == "turn_started"]
            assert asked == [text for text, _ in requests_of(person.number)]
    finally:
        database.dispose()
