"""The losses of a kill: `python -m benchmarks.faults [N]`, with real processes and a scripted
model.

A server (or an import of tools, or a worker that runs a build for a page server, on a PostgreSQL)
is killed with SIGKILL at a random moment of a turn of each kind in turn, and started again, N
times, each in folders of its own. The last line is one JSON object:
`lost` are acknowledged messages, tools, versions and lessons that are not there after the restart;
`paid_twice` are recorded model calls that were made again; `resumed_or_ended` is the share of turns
that ended with an event that says how; `orphans` are containers and processes of the killed server
that are still there once the next one is ready; `events_wrong` are events that a client missed or
had twice over its connections.

Then a PostgreSQL is away for a minute under load, frozen and, in a second round, ended and started
again: people ask and follow, programs read. `refused` are requests that were answered with 503 and
Retry-After meanwhile, `answered_wrong` those with an answer that is not true, and `back_s` is how
long it took, once the database was back, until a new turn of each person had ended. The exit code
is 1 if a goal is missed.

The last run of fifty, on Docker, met all goals; 35 turns were resumed.
"""

import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Any
from uuid import uuid4

import requests
import socketio.exceptions
import sqlalchemy as sa

from benchmarks.goals import report
from selfeng.core.events import FINAL
from selfeng.library.seeding import SeedMark
from selfeng.store.database import open_database
from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.databases import Postgres, running_postgres
from tests.home import Home
from tests.web.server_process import Client

GOALS = {"lost": 0, "paid_twice": 0, "orphans": 0, "events_wrong": 0, "answered_wrong": 0}
"""The largest allowed figures."""
LEAST = {"resumed_or_ended": 100.0}
BACK = 20.0
"""The most seconds until all works again."""
KINDS = ("reuse", "build", "plan", "rollback", "import", "project", "worker")
_ENDS = {kind.model_fields["type"].default for kind in FINAL}
_WORKER = ("-m", "selfeng", "worker")
_ROLLING = 0.4
"""Seconds of rollbacks until the kill, at most."""
_PATIENCE = 120.0
_PEOPLE = 4
_USED = "Reverse the string 'hello world'"
_REQUESTS = {
    "reuse": "Reverse the string 'abc'",
    "build": "Count the vowels in 'education'",
    "plan": "Reverse the string 'hello world' and then count the vowels in 'education'",
    "worker": "Count the vowels in 'education'",
}
_IMPORTED = ("Is 'level' a palindrome?", "What is the factorial of 6?", "Is 2024 a leap year?")
_REVISE = """
import asyncio
from selfeng.bootstrap import build_engine
from selfeng.core.tool import ToolDraft
from selfeng.core.provenance import Provenance
from selfeng.core.settings import load_settings

async def main():
    engine = await build_engine(load_settings(None))
    (tool,) = await engine.library.tools()
    draft = ToolDraft.model_validate({n: getattr(tool, n) for n in ToolDraft.model_fields})
    code = draft.code + "\\n# the second version\\n"
    await engine.library.revise(draft.model_copy(update={"code": code}), 1, Provenance())
    await engine.aclose()

asyncio.run(main())
"""


def _without_seeds(url: str) -> str:
    """The URL of a database whose library gets no seed tools, which take a while."""
    database = open_database(url)
    SeedMark(database).put()
    database.dispose()
    return url


class Writer:
    """The cookbook, which never writes the same code twice and counts what turns asked for. Every
    other suite lacks its tests, so that builds teach lessons.
    """

    def __init__(self) -> None:
        self._cookbook = Cookbook()
        self.asked, self._suites = 0, 0

    def complete(self, request: CompletionRequest) -> Completion:
        if request.prompt == "lessons":  # extracted after the turn
            return Completion(content=json.dumps({"lessons": [self._lesson()]}))
        self.asked += 1
        reply = self._cookbook.complete(request)
        written = reply.content.replace("```python\n", f"```python\n# {self.asked}\n")
        if request.prompt == "tests":
            self._suites += 1
            written = "There are none." if self._suites % 2 else written
        return reply.model_copy(update={"content": written})

    def _lesson(self) -> dict[str, Any]:
        advice = f"Write tests: {self.asked}."
        return {"agent": "test", "trigger": "a function", "advice": advice, "known": None}


class Life:
    """A process of a home, until it ends or is killed."""

    def __init__(self, home: Home, *program: str, **environment: str) -> None:
        self._errors = (home.folder / "stderr.txt").open("a")
        self.process = subprocess.Popen(  # noqa: S603 - of this program
            [sys.executable, *program],
            env=home.environment(**environment),
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            start_new_session=True,
        )

    def kill(self) -> None:
        self.process.kill()
        self._close()

    def end(self) -> None:
        self.process.terminate()
        self._close()

    def _close(self) -> None:
        self.process.wait(_PATIENCE)
        assert self.process.stdout
        self.process.stdout.close()
        self._errors.close()


class Server(Life):
    """A life of the server of a home."""

    def __init__(self, home: Home, **environment: str) -> None:
        super().__init__(home, "web/app.py", **environment)
        assert self.process.stdout
        self.url, _, self._token = self.process.stdout.readline().strip().partition("/?token=")
        self.http = requests.Session()
        self.http.headers["Authorization"] = f"Bearer {self._token}"

    def wait_until_set_up(self) -> None:
        while any(part["state"] != "failed" for part in self.get("health")["unready"]):
            time.sleep(0.05)

    def get(self, path: str) -> Any:
        reply = self.http.get(f"{self.url}/api/v1/{path}", timeout=_PATIENCE)
        reply.raise_for_status()
        return reply.json()

    def send(self, method: str, path: str, **body: Any) -> Any:
        reply = self.http.request(method, f"{self.url}/api/v1/{path}", json=body, timeout=_PATIENCE)
        reply.raise_for_status()
        return reply.json()

    @contextmanager
    def client(self) -> Iterator[Client]:
        client = Client(http_session=self.http)
        client.connect(
            self.url,
            headers={"Authorization": self.http.headers["Authorization"]},
            transports=["websocket"],
        )
        try:
            yield client
        finally:
            with suppress(Exception):
                client.disconnect()

    def _close(self) -> None:
        super()._close()
        self.http.close()


@dataclass
class Person:
    """A client's view of one conversation over several lives of the server."""

    conversation_id: str = ""
    turn_id: str = ""
    records: list[dict[str, Any]] = field(default_factory=list)
    wrong: int = 0

    def begin(self, client: Client, kind: str) -> None:
        reply = (
            client.call("build", {"name": "words", "goal": "count words"}, timeout=_PATIENCE)
            if kind == "project"
            else client.ask(_REQUESTS[kind])
        )
        self.conversation_id, self.turn_id = reply["conversation_id"], reply["turn_id"]

    def watch(self, client: Client, until: Callable[[], bool]) -> None:
        """Follow the conversation until then, or until the server is gone."""
        self.take(client.follow(self.conversation_id, self.last))
        self.follow(client, until)

    def follow(self, client: Client, until: Callable[[], bool]) -> None:
        """Take the records that arrive until then."""
        while not until():
            with suppress(socketio.exceptions.TimeoutError):
                name, *rest = client.receive(timeout=0.2)
                if name == "records" and rest[0]["conversation_id"] == self.conversation_id:
                    self.take(rest[0]["records"])

    @property
    def types(self) -> list[str]:
        """Of the events of the turn."""
        return [r["event"]["type"] for r in self.records if r["turn_id"] == self.turn_id]

    @property
    def ended(self) -> bool:
        return not _ENDS.isdisjoint(self.types)

    @property
    def calls(self) -> int:
        """Of the model, as the turn counted them."""
        return max((r["event"].get("usage") or {}).get("calls", 0) for r in self.records)

    def compare(self, history: list[dict[str, Any]]) -> None:
        """Count what differs from the journal."""
        known, had = {r["seq"]: r for r in history}, {r["seq"]: r for r in self.records}
        for number in sorted(known.keys() | had.keys()):
            if known.get(number) != had.get(number):
                self.wrong += 1
                _say(f"  had {had.get(number)}\n  for {known.get(number)}")
        self.wrong += len(had) - max(had, default=0)

    @property
    def last(self) -> int:
        return int(self.records[-1]["seq"]) if self.records else 0

    def take(self, records: list[dict[str, Any]]) -> None:
        for record in records:
            if record["seq"] > self.last:  # as the page: what it subscribes for may come twice
                self.wrong += record["seq"] - self.last - 1
                self.records.append(record)


@dataclass
class Figures:
    lost: int = 0
    paid_twice: int = 0
    turns: int = 0
    ended: int = 0
    orphans: int = 0
    events_wrong: int = 0
    answered_wrong: int = 0
    failed: int = 0
    resumed: int = 0


class Load:
    """People who ask a server one request after the other and follow, and programs that read,
    while its database goes away and comes back.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self.over = threading.Event()
        self.people = [Person() for _ in range(_PEOPLE)]
        self.asked: dict[str, tuple[Person, str]] = {}
        """By acknowledged turn, who asked it, and a word that its answer holds."""
        self.read = self.refused = self.wrong = 0

    def run(self) -> None:
        """Until it is over, and the last turns have ended."""
        with ThreadPoolExecutor(2 * _PEOPLE) as pool:
            list(pool.map(lambda work: work(), map(self._work, range(2 * _PEOPLE))))

    def wait_for_turns(self, before: Collection[str]) -> None:
        """Until a turn of each person has ended that is none of these."""

        def has_ended(person: Person) -> bool:
            return any(
                r["event"]["type"] in _ENDS and r["turn_id"] not in before
                for r in [*person.records]
            )

        while not all(map(has_ended, self.people)):
            time.sleep(0.05)

    def _work(self, number: int) -> Callable[[], None]:
        return partial(self._ask, self.people[number]) if number < _PEOPLE else self._read

    def _ask(self, person: Person) -> None:
        for number in count():
            if self.over.is_set():
                return
            word, request_id = f"word {number}", str(uuid4())
            request = {"text": f"Reverse the string '{word}'", "request_id": request_id}
            ended = False
            while not ended:  # over as many connections as that takes
                with (
                    suppress(socketio.exceptions.SocketIOError, requests.RequestException),
                    self._server.client() as client,
                ):
                    ended = self._ended(client, person, request, word[::-1])

    def _ended(self, client: Client, person: Person, request: dict[str, str], answer: str) -> bool:
        """Whether the turn has ended before the server refused something or was gone."""
        ours = {"conversation_id": person.conversation_id or None}
        reply = client.call("ask", request | ours, timeout=_PATIENCE)
        if not self._is_done(reply):
            return False
        person.conversation_id, person.turn_id = reply["conversation_id"], reply["turn_id"]
        self.asked[person.turn_id] = person, answer
        after = {"conversation_id": person.conversation_id, "after": person.last}
        reply = client.call("subscribe", after, timeout=_PATIENCE)
        if self._is_done(reply):
            person.take(reply["records"])
            person.follow(client, lambda: person.ended or not client.connected)
        return person.ended

    def _is_done(self, reply: dict[str, Any]) -> bool:
        self.refused += not reply["ok"]
        if not reply["ok"] and not reply["error"]["remedy"]:
            self._note(reply)
        return bool(reply["ok"])

    def _read(self) -> None:
        with requests.Session() as http:
            http.headers.update(self._server.http.headers)
            for path in cycle(("tools", "tools/reverse_string", "tools?q=reverse a string")):
                if self.over.is_set():
                    return
                reply = http.get(f"{self._server.url}/api/v1/{path}", timeout=_PATIENCE)
                self.read += 1
                if reply.status_code == 503 and "Retry-After" in reply.headers:
                    self.refused += 1
                    self.over.wait(0.2)
                elif reply.status_code != 200 or not any(reply.json().values()):
                    self._note((path, reply.status_code, reply.text[:300]))

    def _note(self, answer: object) -> None:
        self.wrong += 1
        _say(f"  answered {answer}")


class Bench:
    def __init__(self, folder: Path, docker: bool, postgres: Postgres) -> None:
        self._folder, self._docker, self._postgres = folder, docker, postgres
        self._random = random.Random()
        self._others: set[str] = set()
        self._others = self._sandboxes()
        self._seconds: dict[str, float] = {}
        """How long a turn of each kind takes."""
        self._lessons: dict[str, str] = {}
        """The lessons of the prepared home: the advice by the lesson's id."""
        self.figures = Figures()

    def prepare(self) -> None:
        """A home with a tool of two versions and a lesson, a file of tools to import, and how long
        all takes.
        """
        first, other = self._home("first"), self._home("other")
        with OfflineServer(Writer(), delay=0) as model:
            self._run(first, "-m", "selfeng", "ask", _USED, **_connected(model))
            self._run(first, "-m", "selfeng", "learn", **_connected(model))
        self._run(first, "-c", _REVISE)
        for request in _IMPORTED:
            self._run(other, "-m", "selfeng", "ask", request)
        self._run(other, "-m", "selfeng", "export", "-o", str(self._folder / "tools.zip"))
        with self._copy() as (home, environment, _):
            server = Server(home, **environment)
            self._lessons = _lessons(server)
            server.end()
        assert self._lessons, "the prepared home has no lesson"
        self._seconds = {kind: self._measure(kind) for kind in KINDS if kind != "rollback"}

    def kill(self, kind: str) -> None:
        """One kill, and what comes after it."""
        with self._copy() as (home, environment, writer):
            if kind == "import":
                self._kill_import(home, environment)
            elif kind == "rollback":
                self._kill_rollback(home, environment)
            elif kind == "worker":
                self._kill_worker(environment, writer)
            else:
                self._kill_turn(home, environment, kind, writer)

    def _measure(self, kind: str) -> float:
        """The seconds that it takes when nothing is killed."""
        if kind == "worker":
            return self._measure("build")
        with self._copy() as (home, environment, _):
            began = time.monotonic()
            if kind == "import":
                self._run(home, *self._import, **environment)
                return time.monotonic() - began
            person, server = Person(), Server(home, **environment)
            server.wait_until_set_up()
            with server.client() as client:
                began = time.monotonic()
                person.begin(client, kind)
                person.watch(client, lambda: person.ended)
                seconds = time.monotonic() - began
            server.end()
            return seconds

    def away(
        self, how: Callable[[Postgres], AbstractContextManager[None]], seconds: float
    ) -> dict[str, float]:
        """The database of a page server and a worker is away under load."""
        page, workers = self._home("page"), self._home("workers")
        with OfflineServer(Cookbook(), delay=0) as model, running_postgres() as postgres:
            token = {"ACCESS_TOKEN": "of-both-processes", "PROGRAM_REQUESTS_PER_MINUTE": "100000"}
            environment = (
                _connected(model) | token | {"DATABASE_URL": _without_seeds(postgres.new())}
            )
            self._run(workers, "-m", "selfeng", "ask", _USED, **environment)
            server = Server(page, **environment, TURNS_PER_PROCESS="0")
            worker, load = Life(workers, *_WORKER, **environment), Load(server)
            work = threading.Thread(target=load.run)
            work.start()
            load.wait_for_turns(set())
            with how(postgres):
                time.sleep(seconds)
            back, refused, before = time.monotonic(), load.refused, set(load.asked)
            load.wait_for_turns(before)
            took = time.monotonic() - back
            load.over.set()
            work.join()
            self._after_away(server, load)
            for life in (server, worker):
                life.end()
        for home in (page, workers):
            shutil.rmtree(home.folder)
        counts = {"turns": len(load.asked), "reads": load.read, "refused": refused}
        return {**counts, "back_s": round(took, 1)}

    def _after_away(self, server: Server, load: Load) -> None:
        self.figures.answered_wrong += load.wrong
        for person in load.people:
            path = f"conversations/{person.conversation_id}/records"
            person.compare(server.get(path)["records"])
            self.figures.events_wrong += person.wrong
        for turn_id, (person, answer) in load.asked.items():
            events = [r["event"] for r in person.records if r["turn_id"] == turn_id]
            ends = [event for event in events if event["type"] in _ENDS]
            self.figures.turns += 1
            self.figures.ended += len(ends) == 1
            self.figures.lost += not events
            for end in ends:
                if end["type"] == "turn_failed":
                    self.figures.failed += 1
                    _say(f"  {end['message']}")
                elif answer not in end.get("answer", ""):
                    load.wrong += 1
                    self.figures.answered_wrong += 1
                    _say(f"  answered {end}")

    @contextmanager
    def _copy(self) -> Iterator[tuple[Home, dict[str, str], Writer]]:
        """The prepared home, with the environment of its servers and their model."""
        home, writer = self._home("copy", self._folder / "first"), Writer()
        with OfflineServer(writer, delay=0) as model:
            token = {"ACCESS_TOKEN": "a-token-for-every-life-of-it"}
            yield home, {**_connected(model), **token}, writer
        shutil.rmtree(home.folder)

    @property
    def _import(self) -> tuple[str, ...]:
        return "-m", "selfeng", "import", "--yes", str(self._folder / "tools.zip")

    def _kill_turn(
        self, home: Home, environment: dict[str, str], kind: str, writer: Writer
    ) -> None:
        person, server = Person(), Server(home, **environment)
        server.wait_until_set_up()
        lessons = {lesson: _reword(server, lesson, f"before {kind}") for lesson in self._lessons}
        with server.client() as client, suppress(socketio.exceptions.SocketIOError):
            killer = threading.Timer(
                self._random.uniform(0, self._seconds[kind]), lambda: self._strike(server)
            )
            killer.start()
            person.begin(client, kind)
            person.watch(client, lambda: not killer.is_alive() and not client.connected)
        killer.join()
        asked, said = writer.asked, _said(person)
        steps = home.folder / "data" / "steps.db"
        recorded = _recorded_calls(f"sqlite:///{steps}", person.turn_id) if steps.exists() else 0
        left = self._left(server)
        server = Server(home, **environment)
        server.wait_until_set_up()
        if person.turn_id:
            self._after(server, person, said)
            self.figures.paid_twice += max(0, writer.asked - person.calls - (asked - recorded))
        self._look_for(left)
        self.figures.lost += _missing(server, {"reverse_string": 2})
        self.figures.lost += _forgotten(server, lessons)
        server.end()

    def _kill_worker(self, environment: dict[str, str], writer: Writer) -> None:
        """While it runs a build for a page server, which lives on."""
        environment = environment | {"DATABASE_URL": _without_seeds(self._postgres.new())}
        page, workers = self._home("page"), self._home("workers")
        person, server = Person(), Server(page, **environment, TURNS_PER_PROCESS="0")
        worker = Life(workers, *_WORKER, **environment)
        with server.client() as client:
            person.begin(client, "worker")
            person.watch(client, lambda: "stage_entered" in person.types)
            killer = threading.Timer(
                self._random.uniform(0, self._seconds["worker"]), lambda: self._strike(worker)
            )
            killer.start()
            person.watch(client, lambda: not killer.is_alive())
        asked, said = writer.asked, _said(person)
        recorded = _recorded_calls(environment["DATABASE_URL"], person.turn_id)
        left = self._left(worker)
        worker = Life(workers, *_WORKER, **environment)
        self._after(server, person, said)
        self.figures.paid_twice += max(0, writer.asked - person.calls - (asked - recorded))
        server.end()  # its own containers end with it
        self._wait_until_gone(left)
        worker.end()
        self._look_for(left)
        for home in (page, workers):
            shutil.rmtree(home.folder)

    def _after(self, server: Server, person: Person, said: dict[str, int]) -> None:
        with server.client() as client:
            patience = time.monotonic() + _PATIENCE
            person.watch(client, lambda: person.ended or time.monotonic() > patience)
        self.figures.turns += 1
        self.figures.ended += person.ended
        self.figures.resumed += "turn_resumed" in person.types
        self.figures.lost += "turn_started" not in person.types
        self.figures.lost += _missing(server, said)
        path = f"conversations/{person.conversation_id}/records"
        person.compare(server.get(path)["records"])
        self.figures.events_wrong += person.wrong
        if not person.ended or person.wrong:
            _say(f"  {person.types}")

    def _kill_rollback(self, home: Home, environment: dict[str, str]) -> None:
        server = Server(home, **environment)
        server.wait_until_set_up()
        killer = threading.Timer(self._random.uniform(0, _ROLLING), lambda: self._strike(server))
        killer.start()
        version, lessons = 2, dict(self._lessons)
        with suppress(requests.RequestException):
            while True:  # to the first and to the second, as often as there is time for
                path = "tools/reverse_string/rollback"
                version = server.send("POST", path, to=version - 1)["version"]
                for lesson in lessons:
                    lessons[lesson] = _reword(server, lesson, f"at version {version}")
        killer.join()
        left = self._left(server)
        server = Server(home, **environment)
        server.wait_until_set_up()
        self._look_for(left)
        self.figures.lost += _missing(server, {"reverse_string": version})
        self.figures.lost += _forgotten(server, lessons, f"at version {version}")
        self.figures.turns += 1
        self.figures.ended += _whole(server, "reverse_string")
        server.end()

    def _kill_import(self, home: Home, environment: dict[str, str]) -> None:
        process = home.start(*self._import, **environment)
        said: list[str] = []
        assert process.stderr
        reader = threading.Thread(target=lambda: said.extend(process.stderr or ()))
        reader.start()
        time.sleep(self._random.uniform(0, self._seconds["import"]))
        before = self._sandboxes()
        process.kill()
        process.wait()
        reader.join()
        if process.stdout:
            process.stdout.close()
        process.stderr.close()
        added = {
            name: 1
            for name in _IMPORTED_NAMES
            if any(line.startswith(f"added: {name}:") for line in said)
        }
        server = Server(home, **environment)
        server.wait_until_set_up()
        self._look_for(before)
        self.figures.lost += _missing(server, {"reverse_string": 2, **added})
        self.figures.lost += _forgotten(server, self._lessons)
        server.end()
        self._run(home, *self._import, **environment)
        server = Server(home, **environment)
        names = [tool["name"] for tool in server.get("tools")["tools"]]
        self.figures.turns += 1
        self.figures.ended += all(_whole(server, name) for name in names) and len(names) == 4
        server.end()

    def _strike(self, process: Life) -> None:
        self._before = self._sandboxes()
        process.kill()

    def _left(self, process: Life) -> set[str]:
        assert process.process.returncode == -signal.SIGKILL
        return self._before

    def _wait_until_gone(self, before: set[str]) -> None:
        """Give the next worker time: it does not say when it is ready, and the turn may have ended
        before the kill.
        """
        patience = time.monotonic() + _PATIENCE
        while before & self._sandboxes() and time.monotonic() < patience:
            time.sleep(0.05)

    def _look_for(self, before: set[str]) -> None:
        left = before & self._sandboxes()
        self.figures.orphans += len(left)
        if left:
            _say(f"  left {sorted(left)}")

    def _sandboxes(self) -> set[str]:
        """The containers, or the processes of bubblewrap, that came since the begin."""
        asked = ("docker", "ps", "-aq") if self._docker else ("pgrep", "-x", "bwrap")
        return set(_told(*asked)) - self._others

    def _home(self, name: str, like: Path | None = None) -> Home:
        folder = self._folder / name
        if like and not folder.exists():
            shutil.copytree(like, folder, symlinks=True)
        home = Home(folder, bubblewrap=not self._docker)
        home.tools.mkdir(exist_ok=True)
        _without_seeds(f"sqlite:///{home.folder / 'data' / 'agent.db'}")
        return home

    def _run(self, home: Home, *arguments: str, **environment: str) -> None:
        done = home.run(*arguments, patience=300, **environment)
        if done.returncode:
            raise SystemExit(f"{arguments}: {done.stderr}")


_IMPORTED_NAMES = ("is_palindrome", "calculate_factorial", "is_leap_year")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _told(program: str, *arguments: str) -> list[str]:
    """The words that a program prints; none if it isn't there or fails."""
    if (path := shutil.which(program)) is None:
        return []
    done = subprocess.run([path, *arguments], capture_output=True, text=True, check=False)  # noqa: S603
    return [] if done.returncode else done.stdout.split()


def _said(person: Person) -> dict[str, int]:
    """The tools that the client was told to be registered."""
    events = [r["event"] for r in person.records]
    return {
        e["tool"]: 1
        for e in events
        if e.get("step") == "register" and e.get("state") == "finished" and e.get("tool")
    }


def _missing(server: Server, versions: dict[str, int]) -> int:
    found = {tool["name"]: tool for tool in server.get("tools")["tools"]}
    lost = [n for n, v in versions.items() if found.get(n, {}).get("version", 0) < v]
    if lost:
        _say(f"  lost {lost}: {found}")
    return len(lost)


def _connected(model: OfflineServer) -> dict[str, str]:
    """The environment of what asks that model."""
    return {
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": model.api_key,
        "OPENAI_MODEL": model.model,
    }


def _lessons(server: Server) -> dict[str, str]:
    return {lesson["id"]: lesson["advice"] for lesson in server.get("lessons")["lessons"]}


def _reword(server: Server, lesson: str, advice: str) -> str:
    """The advice that was acknowledged."""
    words = {"trigger": "a function to reverse a text", "advice": advice}
    return str(server.send("PATCH", f"lessons/{lesson}", **words)["advice"])


def _forgotten(server: Server, lessons: dict[str, str], asked_for: str = "") -> int:
    """The lessons that are neither as acknowledged nor as was asked for when it was killed."""
    found = _lessons(server)
    lost = [n for n, advice in lessons.items() if found.get(n) not in (advice, asked_for or advice)]
    if lost:
        _say(f"  forgot {lost}: {found}")
    return len(lost)


def _whole(server: Server, name: str) -> bool:
    return bool(server.get(f"tools/{name}")["code"])


def _recorded_calls(database: str, turn_id: str) -> int:
    """The model's replies that were stored before the kill."""
    engine, found = sa.create_engine(database), 0
    table = "dbos.operation_outputs" if engine.name == "postgresql" else "operation_outputs"
    query = (
        f"select count(*) from {table}"  # noqa: S608 - one of two names
        " where workflow_uuid like :mine and function_name like 'model.%'"
    )
    with suppress(sa.exc.DBAPIError), engine.connect() as connection:  # it may have no tables yet
        found = connection.scalar(sa.text(query), {"mine": f"{turn_id or '-'}%"}) or 0
    engine.dispose()
    return found


def main(kills: int = 50, away: float = 60) -> int:
    docker = bool(_told("docker", "version"))
    with tempfile.TemporaryDirectory(prefix="faults-") as folder, running_postgres() as postgres:
        bench = Bench(Path(folder), docker, postgres)
        if kills:
            bench.prepare()
        for number in range(kills):
            kind = KINDS[number % len(KINDS)]
            began = time.monotonic()
            bench.kill(kind)
            _say(f"{number + 1}: {kind}, {time.monotonic() - began:.1f} s")
        gone = {
            "frozen": bench.away(Postgres.frozen, away),
            "stopped": bench.away(Postgres.stopped, away),
        }
    f = bench.figures
    figures = {
        "kills": kills,
        "sandbox": "docker" if docker else "bubblewrap",
        "resumed": f.resumed,
        "lost": f.lost,
        "paid_twice": f.paid_twice,
        "resumed_or_ended": round(100 * f.ended / max(1, f.turns), 1),
        "orphans": f.orphans,
        "events_wrong": f.events_wrong,
        "answered_wrong": f.answered_wrong,
        "failed": f.failed,
        "away": gone,
    }
    problems = [
        f"{how}: {of}" for how, of in gone.items() if of["back_s"] > BACK or not of["refused"]
    ]
    return report(figures, GOALS, LEAST, problems=problems)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
