"""Whether many people at once see their answers in time: `python -m benchmarks.feed [CLIENTS
[TOKENS]]`, by default 300 and 500; the last line is JSON.

20 turns stream 50 tokens a second each, from a model that notes in each token when it sent it, to
1, 50 and 300 Socket.IO clients of the product as many people use it: a page server and a worker on
PostgreSQL, with engine, journal and sandbox, as compose.yaml starts them. All are processes of
their own, also model and clients. Measured are the time from the model to a client, p50 and p99,
with the window in which tokens are merged; the round trip of a reply through the page server's
engine and back, with 50 clients while a further person asks for one tool after another; tokens that
a client did not get, got twice or out of order; and memory of the page server for each client.
Beside it, in turns, a bare Flask-SocketIO app emits the same to 50 and 300 clients; `bare_ratio` is
p99 with 300 over its p99, each the median of three runs, and `round_trip_ratio` that of a round
trip with 50. The exit code is 1 if a goal is missed.

Last comes the product as one person starts it, one process on SQLite, with 50 and 300 clients:
`one_process_…`, without goals.

Fresh clones on two cores of a shared machine: p99 is 58 to 66 ms in seven runs, p99 of the bare
app 59 to 69 ms, each the median of three measurements, which lie between 56 and 105 ms; round trips
take 10 to 13 ms, nothing is lost, and a client takes 70 to 72 kB. One process on SQLite has 57 to
118 ms, and 30 to 46 ms. It needs a machine with nothing else to do.
"""

import math
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import requests
import socketio

from benchmarks.feed_clients import Seen, follow
from benchmarks.feed_model import MARKED, TURNS, serve
from benchmarks.goals import report
from benchmarks.learning import offline_settings
from tests.databases import running_postgres

GOALS = {
    "lost": 0,
    "bare_ratio": 1.5,
    "round_trip_ratio": 8,
    "kb_per_client": 100,
}
"""The largest allowed figures."""
_CLIENTS, _REPEATS = 300, 3
"""The largest number of clients, and how often it is measured. A sixth of them comes before, while
somebody uses the engine.
"""
_TOKENS = 500
"""Of each turn: ten seconds."""
_REUSE = "Reverse the string 'hello world'"
_ROOT = Path(__file__).parents[1]
_TOKEN = "the-feeds-benchmark-8Zq3Rt7Lp"  # noqa: S105 - of a server that lives for a minute
_MODEL = "paced"
Spawned = multiprocessing.get_context("spawn").Process


class Level(NamedTuple):
    """The observations of one number of clients; times in milliseconds."""

    p50: float
    p99: float
    trip_p50: float
    trip_p99: float
    lost: int
    kb: float
    """More memory of the server than before they came."""
    cpu: float
    """Seconds of processor time of the server."""


class Server:
    """A server process, its address, and how its clients show that they may come in."""

    def __init__(self, process: "subprocess.Popen[str]", header: str) -> None:
        assert process.stdout is not None
        link = urlsplit(process.stdout.readline().strip())
        self.url, self.header = f"{link.scheme}://{link.netloc}", header
        self.process = process

    @property
    def kb(self) -> float:
        """Its memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        assert found is not None
        return float(found[1])

    @property
    def cpu(self) -> float:
        """Seconds of processor time so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def get(self, path: str) -> Any:
        name, _, value = self.header.partition(": ")
        response = requests.get(self.url + path, headers={name: value}, timeout=30)
        response.raise_for_status()
        return response.json()


class Asker:
    """A client that begins turns and waits for their ends."""

    def __init__(self, server: Server) -> None:
        self._ended = threading.Event()
        self._client = socketio.Client(reconnection=False)
        self._client.on("records", self._look)
        name, _, value = server.header.partition(": ")
        self._client.connect(server.url, headers={name: value}, transports=["websocket"])

    def begin(self, request: str) -> str:
        """Returns the conversation's id."""
        self._ended.clear()
        reply = self._client.call("ask", {"text": request}, timeout=60)
        assert reply["ok"], reply
        conversation_id: str = reply["conversation_id"]
        return conversation_id

    def ask(self, request: str) -> None:
        self.begin(request)
        assert self._ended.wait(120), request

    def close(self) -> None:
        self._client.disconnect()

    def _look(self, body: dict[str, Any]) -> None:
        for record in body["records"]:
            if record["event"]["type"] in ("turn_finished", "turn_failed", "turn_stopped"):
                self._ended.set()


@contextmanager
def own_process(target: Any, *arguments: Any) -> Iterator[Connection]:
    """A function's process, and the pipe to it; it ends when it receives something."""
    ours, theirs = multiprocessing.Pipe()
    process = Spawned(target=target, args=(theirs, *arguments))
    process.start()
    theirs.close()
    try:
        yield ours
    finally:
        ours.send(None)
        process.join()


@contextmanager
def started(command: Sequence[str], header: str, **environment: str) -> Iterator[Server]:
    process = subprocess.Popen(  # noqa: S603 - our own modules
        [sys.executable, *command],
        cwd=_ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield Server(process, header)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


@contextmanager
def real_server(model_url: str, database: str = "", **changes: str) -> Iterator[Server]:
    """The product, set up, on the paced model: one process on SQLite, or on a PostgreSQL a page
    server with a worker; `changes` of its environment.
    """
    header = f"Authorization: Bearer {_TOKEN}"
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        environment = {**_environment(Path(folder), "server", model_url, database), **changes}
        if database:
            environment["TURNS_PER_PROCESS"] = "0"
            stack.enter_context(_worker(_environment(Path(folder), "worker", model_url, database)))
        server = stack.enter_context(started(["web/app.py"], header, **environment))
        while server.get("/api/v1/health")["unready"]:
            time.sleep(0.2)
        asker = Asker(server)
        asker.ask(_REUSE)
        asker.close()
        yield server


def _environment(folder: Path, name: str, model_url: str, database: str) -> dict[str, str]:
    home = folder / name
    home.mkdir()
    settings = offline_settings(home)
    folders = ("data_dir", "tools_dir", "chroma_persist_dir")
    return {
        **{name.upper(): str(getattr(settings, name)) for name in folders},
        "DATABASE_URL": database,
        "FLASK_HOST": "127.0.0.1",
        "FLASK_PORT": "0",
        "ACCESS_TOKEN": _TOKEN,
        "OPENAI_BASE_URL": f"{model_url}/v1",
        "OPENAI_API_KEY": "none",
        "OPENAI_MODEL": _MODEL,
        "LESSONS_LEARN": "false",
        "TURNS_MAX_RUNNING": str(TURNS + 4),
        "TURNS_MAX_PER_PERSON": str(TURNS + 4),
    }


@contextmanager
def _worker(environment: dict[str, str]) -> Iterator[None]:
    process = subprocess.Popen(
        [sys.executable, "-m", "selfeng", "worker"], cwd=_ROOT, env={**os.environ, **environment}
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def measured(
    server: Server, conversations: Sequence[str], count: int, tokens: int, go: Any
) -> Level:
    """The observations of `count` clients of the turns of these conversations, which `go` lets
    stream.
    """
    before = server.kb
    with own_process(follow, (server.url, server.header), conversations, count, tokens) as crowd:
        assert crowd.recv() == "ready"
        cpu = server.cpu
        go()
        seen: Seen = crowd.recv()
        kb, cpu = (server.kb - before) / count, server.cpu - cpu
    return Level(
        *(1000 * percentile(seen.delays, part) for part in (0.5, 0.99)),
        *(1000 * percentile(seen.trips, part) for part in (0.5, 0.99)),
        seen.lost,
        kb,
        cpu,
    )


def percentile(values: Sequence[float], part: float) -> float:
    return sorted(values)[int(part * (len(values) - 1))] if values else math.inf


def real_level(server: Server, model_url: str, count: int, tokens: int, *, loaded: bool) -> Level:
    """Twenty turns, begun and ready to stream, with `count` clients."""
    asker = Asker(server)
    conversations = [asker.begin(MARKED) for _ in range(TURNS)]
    asker.close()
    while requests.get(f"{model_url}/waiting", timeout=30).json() < TURNS:
        time.sleep(0.05)
    stop = threading.Event()
    loads = [threading.Thread(target=_load, args=(server, stop))] if loaded else []

    def go() -> None:
        for load in loads:
            load.start()
        requests.post(f"{model_url}/go", timeout=30)

    try:
        return measured(server, conversations, count, tokens, go)
    finally:
        stop.set()
        for load in loads:
            load.join()


def _load(server: Server, stop: threading.Event) -> None:
    """One more person, who asks for a tool again and again."""
    asker = Asker(server)
    while not stop.is_set():
        asker.ask(_REUSE)
    asker.close()


def bare_level(server: Server, count: int, tokens: int) -> Level:
    conversations = [f"{turn:032}" for turn in range(TURNS)]
    return measured(
        server, conversations, count, tokens, lambda: requests.post(f"{server.url}/go", timeout=30)
    )


def run(clients: int, tokens: int) -> dict[str, float]:
    some = clients // 6
    counts = (1, some, *[clients] * _REPEATS)
    with ExitStack() as stack:
        model_url = stack.enter_context(own_process(serve, tokens)).recv()
        bare = stack.enter_context(
            started(["-m", "benchmarks.feed_bare", str(tokens)], "X-Nothing: none")
        )
        levels, beside = list[Level](), list[Level]()
        with running_postgres() as database, real_server(model_url, database.new()) as real:
            for count in counts:
                levels.append(real_level(real, model_url, count, tokens, loaded=count == some))
                _report(f"{count} clients", levels[-1])
                if count > 1:
                    beside.append(bare_level(bare, count, tokens))
                    _report(f"bare app, {count} clients", beside[-1])
        with real_server(model_url) as one:
            alone = [
                real_level(one, model_url, count, tokens, loaded=count == some)
                for count in (some, clients)
            ]
        for count, level in zip((some, clients), alone, strict=True):
            _report(f"one process, {count} clients", level)
    most = [level for count, level in zip(counts, levels, strict=True) if count == clients]
    p99, trip = median(level.p99 for level in most), levels[counts.index(some)].trip_p99
    return {
        "p99_ms_300": round(p99, 1),
        "round_trip_p99_ms_50": round(trip, 1),
        "lost": sum(level.lost for level in levels + alone),
        "bare_ratio": round(p99 / median(level.p99 for level in beside[1:]), 2),
        "round_trip_ratio": round(trip / beside[0].trip_p99, 2),
        "kb_per_client": round(most[0].kb, 1),
        "one_process_p99_ms_300": round(alone[-1].p99, 1),
        "one_process_round_trip_p99_ms_50": round(alone[0].trip_p99, 1),
    }


def _report(name: str, level: Level) -> None:
    sys.stdout.write(
        f"{name:>24}: delivery p50 {level.p50:6.1f} ms, p99 {level.p99:6.1f} ms, "
        f"round trip p50 {level.trip_p50:6.1f} ms, p99 {level.trip_p99:6.1f} ms, "
        f"lost {level.lost}, {level.kb:.0f} kB a client, {level.cpu:.1f} s of processor time\n"
    )
    sys.stdout.flush()


def main(clients: int = _CLIENTS, tokens: int = _TOKENS) -> int:
    figures = run(clients, tokens)
    return report(figures, GOALS)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
