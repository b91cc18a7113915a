"""How long a search takes, and what a library costs: `python -m benchmarks.lookup [TOOLS...]`, by
default 1000, 10000 and 100000.

Each size is a library of its own in a temporary folder, and is measured in processes of their own:
one builds the index, one opens the library and searches on one core, one asks Chroma alone, with
the same vectors and requests. The last line is one JSON object: `lookup_ms` with `p50` and `p99` by
size, of a search without any call of a model, the request's embedding included; `chroma_ms` the
same for Chroma alone; `exact_ms` without an index; and by size `open_s` until the library can be
searched, `ready_s` until that is with the index, `rebuild_s` from opening a library without an
index until it has one, `memory_mb` of the process that searches, and `chroma_memory_mb`. The exit
code is 1 if a search takes longer than its goal.

`python -m benchmarks.lookup grown [SIZE]` compares a server of so many tools and turns, by default
5000, with one of a tenth of it, on SQLite and on PostgreSQL. A fifth of the turns is one
conversation, each other has one of its own. The last line is one JSON object: by database and by
what is done, the milliseconds with `few` and with `many`, of the deletions for each tool and
conversation, and their `ratio`. The exit code is 1 if a ratio is more than its goal.

`python -m benchmarks.lookup life [SIZE [MINUTES]]` compares a server of so many tools and turns, by
default 5000, and a tenth as many schedules, with a new one, on SQLite, which has as many tools as
there are seeds, one turn and one schedule: its start, a search, the first page with its newest
conversations, and a turn, as `*_ratio` of the medians; both servers run and do each in turns, with
the index of their tools open. Then four people ask the large one for so many minutes, by default
30: `rss_growth` is its memory at the end over that after a tenth of the time, and `more_files`,
`more_threads` and `more_containers` are what it has more then. The last line is one JSON object;
the exit code is 1 if a goal is missed.

A search on one of two cores, without the model's call and with the request's embedding (3 ms):

tools     search, ms    Chroma alone, ms  memory, MB  Chroma alone, MB  opens, s  index made, s
          p50 / p99     p50 / p99
1,000     14.6 / 18.9   3.8 / 5.4         242         234               0.4       3.0
10,000    12.6 / 16.9   4.7 / 6.5         294         249               0.7       8.7
100,000   12.5 / 18.4   3.3 / 4.6         579         438               3.4       67

`grown` on SQLite, on two shared cores at a load of 15; the list of all tools has no pages:

                                       500, ms   5,000, ms   goal of the ratio
start, until the page is served        25,014    17,227      2
search in the library                  17        15          3
list of all tools                      169       1,646       13
list of the newest conversations       99        277         5
search in conversations                59        16          10
delete a conversation                  25        6           4
remove a tool for good                 373       656         5
remove a long deleted conversation     0.4       1.5         5
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa

from benchmarks.faults import Server
from benchmarks.goals import missed, report
from benchmarks.synthetic import fill, requests
from benchmarks.turn import REUSE, model_server
from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.events import Event, ExecutionFinished, ToolFound, TurnFinished, TurnStarted
from selfeng.core.process import exit_process, name_of
from selfeng.core.result import canonical, reference_to
from selfeng.core.schedule import Schedule, SchedulePlan
from selfeng.core.settings import load_settings
from selfeng.core.verdict import Returned
from selfeng.library.seeding import SeedMark
from selfeng.models.embedding.minilm import MiniLM
from selfeng.models.embedding.model_files import FOLDER
from selfeng.sandboxes.bwrap_container import running
from selfeng.seeds import load_seeds
from selfeng.store.database import open_database, writing
from selfeng.store.journal import Journal, JournalEntry
from selfeng.store.schedules import Schedules
from selfeng.store.schema import conversations
from tests.databases import running_postgres
from tests.home import Home
from tests.web.server_process import Client
from web.access import PERSON

SIZES = (1_000, 10_000, 100_000)
_ROOT = Path(__file__).parents[1]
_REQUESTS, _WARM_UP = 400, 50
_REMOVED = 50
_PAGE = os.sysconf("SC_PAGE_SIZE")
LOOKUP_GOAL = 25
"""The most milliseconds of a search at the median, at each size."""
GOALS = {
    "start": 2.0,
    "ready": 2.0,
    "list_tools": 13.0,
    "search": 3.0,
    "show_tool": 10.0,
    "list_conversations": 5.0,
    "find_conversations": 10.0,
    "show_short_conversation": 3.0,
    "delete_conversation": 4.0,
    "command_line": 2.0,
    "remove_tool": 5.0,
    "remove_conversation": 5.0,
}
"""The largest ratios, of what tenfold tools and turns take."""
LIFE_GOALS = {
    "start_ratio": 1.5,
    "search_ratio": 1.5,
    "first_page_ratio": 1.5,
    "turn_ratio": 1.5,
    "rss_growth": 1.05,
    "more_files": 2,
    "more_threads": 2,
    "more_containers": 0,
}
"""The maximum of each figure. A connection may come or go while the descriptors are counted."""
_ASKERS = 4
_STARTS, _ROUNDS = 3, 40
_OPENING = 8.0
"""Seconds after which a server has opened the index of its tools."""
_PATIENCE = 1800.0
"""Seconds for the index of the largest library."""


_Times = dict[str, list[float]]
"""Milliseconds by what was done."""


def measure(
    sizes: tuple[int, ...] = SIZES, say: Callable[[str], None] = lambda line: None
) -> dict[str, dict[str, Any]]:
    """All figures, each by size; `say` gets a line for each part that begins."""
    figures: dict[str, dict[str, Any]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory(prefix="lookup-") as folder:
            for part in ("fill", "index", "search", "chroma"):
                say(f"{size} tools: {part}")
                for name, figure in apart(part, Path(folder), size).items():
                    figures.setdefault(name, {})[str(size)] = figure
    return figures


def apart(part: str, folder: Path, size: int) -> dict[str, Any]:
    """Run a part of the measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.lookup", part, str(folder), str(size)]
    done = subprocess.run(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 - our own words
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


async def _fill(folder: Path, size: int) -> dict[str, Any]:
    started = time.perf_counter()
    engine = open_database(f"sqlite:///{folder / 'agent.db'}")
    fill(engine, folder / "tools", _embedder(), size)
    return {"fill_s": _since(started)}


async def _index(folder: Path, size: int) -> dict[str, Any]:
    started = time.perf_counter()
    keeper = library(folder)
    await keeper.start()
    assert await keeper.settle(_PATIENCE) == "ready"
    figures: dict[str, Any] = {"rebuild_s": _since(started)}
    other = library(folder)  # a second one has no index
    await other.start()
    figures["exact_ms"] = await _times(other.search, _REQUESTS // 8)
    await other.aclose()
    await keeper.aclose()
    return figures


async def _search(folder: Path, size: int) -> dict[str, Any]:
    _pin()
    started = time.perf_counter()
    opened = library(folder)
    await opened.start()
    figures: dict[str, Any] = {"open_s": _since(started)}
    assert await opened.settle(_PATIENCE) == "ready"
    figures |= {
        "ready_s": _since(started),
        "lookup_ms": await _times(opened.search, min(_REQUESTS, size)),
        "memory_mb": _memory_mb(),
    }
    await opened.aclose()
    return figures


async def _chroma(folder: Path, size: int) -> dict[str, Any]:
    """Chroma alone, as one would use it without anything of ours but the embedder."""
    _pin()
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(
        path=str(folder / "chroma_db"), settings=Settings(anonymized_telemetry=False)
    )
    (collection,) = client.list_collections()
    embedder = _embedder()

    async def query(request: str) -> object:
        return collection.query(
            query_embeddings=embedder.embed([request]),
            n_results=8,
            include=["distances", "metadatas"],
        )

    return {
        "chroma_ms": await _times(query, min(_REQUESTS, size)),
        "chroma_memory_mb": _memory_mb(),
    }


async def _times(search: Callable[[str], Awaitable[object]], count: int) -> dict[str, float]:
    """Milliseconds of so many searches, after some that don't count."""
    for request in requests(_WARM_UP):
        await search(request)
    taken = []
    for request in requests(_WARM_UP + count)[_WARM_UP:]:
        started = time.perf_counter()
        await search(request)
        taken.append(1000 * (time.perf_counter() - started))
    return {
        "p50": round(float(np.percentile(taken, 50)), 2),
        "p99": round(float(np.percentile(taken, 99)), 2),
    }


def library(folder: Path) -> CapabilityRegistry:
    return CapabilityRegistry(
        open_database(f"sqlite:///{folder / 'agent.db'}"),
        folder / "tools",
        folder / "chroma_db",
        _embedder(),
    )


def grown(size: int, say: Callable[[str], None]) -> dict[str, dict[str, Any]]:
    """By database and by what is done: milliseconds at both sizes, and the ratio."""
    figures: dict[str, dict[str, Any]] = {}
    with running_postgres() as postgres:
        for kind in ("sqlite", "postgres"):
            taken = []
            for tools in (size // 10, size):
                say(f"{kind}: {tools} tools and turns")
                with tempfile.TemporaryDirectory(prefix="grown-") as folder:
                    home = Home(Path(folder), bubblewrap=True)
                    url = f"sqlite:///{folder}/data/agent.db"
                    url = postgres.new() if kind == "postgres" else url
                    taken.append(_served(home, url, tools))
            few, many = taken
            figures[kind] = {
                what: {
                    "few": few[what],
                    "many": many[what],
                    "ratio": round(many[what] / few[what], 1),
                }
                for what in few
            }
            say(json.dumps(figures[kind]))
    return figures


def _served(home: Home, url: str, size: int) -> dict[str, float]:
    """Milliseconds of what a server does with so many tools and turns, and of the deletions."""
    engine = open_database(url)
    fill(engine, home.tools, _embedder(), size)
    SeedMark(engine).put()
    journal = Journal(engine)
    threads, names = _talk(journal, size), sorted(p.stem for p in home.tools.glob("*_[0-9]*.py"))
    names = [name for name in names if not name.startswith("test_")]
    taken = {}
    began = time.perf_counter()
    server = Server(home, DATABASE_URL=url)
    taken["start"] = _ms(began)
    server.wait_until_set_up()
    taken["ready"] = _ms(began)
    texts = iter(requests(100))
    for what, path in {
        "list_tools": lambda: "tools",
        "search": lambda: f"tools?q={next(texts)}",
        "show_tool": lambda: f"tools/{names[0]}",
        "list_conversations": lambda: "conversations",
        "find_conversations": lambda: "conversations?q=weighted balance",
        "show_conversation": lambda: f"conversations/{threads[0]}",
        "show_short_conversation": lambda: f"conversations/{threads[-1]}",
    }.items():
        taken[what] = _least(lambda path=path: server.get(path()))
    leaving = iter(threads[1:])
    taken["delete_conversation"] = _least(
        lambda: server.send("DELETE", f"conversations/{next(leaving)}")
    )
    server.end()
    taken["command_line"] = _least(lambda: _list(home, url), 3)
    taken |= asyncio.run(_emptied(home, url, journal, names, engine))
    engine.dispose()
    return taken


async def _emptied(
    home: Home, url: str, journal: Journal, names: Sequence[str], engine: sa.Engine
) -> dict[str, float]:
    """Milliseconds for each tool and conversation while all are deleted."""
    opened = CapabilityRegistry(
        open_database(url), home.tools, home.folder / "chroma_db", _embedder()
    )
    await opened.start()
    await opened.settle(_PATIENCE)
    began = time.perf_counter()
    for name in names[:_REMOVED]:
        await opened.remove(name)
    taken = {"remove_tool": _ms(began) / _REMOVED}
    await opened.aclose()
    with writing(engine) as connection:
        long_ago = datetime.now(UTC) - timedelta(days=2)
        count = connection.execute(conversations.update().values(deleted_at=long_ago)).rowcount
    began = time.perf_counter()
    journal.remove_deleted()
    taken["remove_conversation"] = _ms(began) / count
    return taken


def life(size: int, minutes: float, say: Callable[[str], None]) -> dict[str, float]:
    with (
        model_server() as (url, key, model),
        tempfile.TemporaryDirectory(prefix="life-") as folder,
    ):
        own = {"OPENAI_BASE_URL": url, "OPENAI_API_KEY": key, "OPENAI_MODEL": model}
        homes = [Home(Path(folder, name), bubblewrap=True) for name in ("new", "old")]
        for home, tools, turns in (homes[0], len(load_seeds()), 1), (homes[1], size, size):
            say(f"{tools} tools and {turns} turns")
            asyncio.run(_fill_home(home, tools, turns))
        taken: tuple[_Times, _Times] = defaultdict(list), defaultdict(list)
        for _ in range(_STARTS):
            for home, times in zip(homes, taken, strict=True):
                with _running(home, times, **own):
                    pass
        with _running(homes[1], taken[1], **own) as large:
            with _running(homes[0], taken[0], **own) as small:
                time.sleep(_OPENING)
                _use((small, large), taken)
            few, many = (
                {what: statistics.median(of) for what, of in times.items()} for times in taken
            )
            say(json.dumps([few, many]))
            growth = _soaked(large, 60 * minutes, say)
    return {
        **{f"{what}_ratio": round(many[what] / few[what], 2) for what in few},
        **{f"{what}_ms": many[what] for what in many},
        **growth,
    }


async def _fill_home(home: Home, tools: int, turns: int) -> None:
    """With so many tools and turns and a tenth as many schedules, and an index of the tools."""
    engine = open_database(f"sqlite:///{home.folder}/data/agent.db")
    fill(engine, home.tools, _embedder(), tools)
    SeedMark(engine).put()
    _talk(Journal(engine), turns)
    _plan(engine, max(1, turns // 10))
    opened = CapabilityRegistry(engine, home.tools, home.folder / "chroma_db", _embedder())
    await opened.start()
    await opened.settle(_PATIENCE)
    await opened.aclose()
    engine.dispose()


@contextmanager
def _running(home: Home, times: _Times, **own: str) -> Iterator[Server]:
    """A server of the home; the milliseconds of its start are added."""
    began = time.perf_counter()
    database = f"sqlite:///{home.folder}/data/agent.db"
    server = Server(home, DATABASE_URL=database, LESSONS_LEARN="false", **own)
    times["start"].append(_ms(began))
    try:
        server.wait_until_set_up()
        yield server
    finally:
        server.end()


def _use(servers: Sequence[Server], taken: Sequence[_Times]) -> None:
    """Add the milliseconds of searches, then of first pages, then of turns, of the servers by
    turns.
    """
    texts = [text for text in requests(_ROUNDS) for _ in servers]  # the same for each
    with ExitStack() as stack:
        clients = [stack.enter_context(server.client()) for server in servers]
        for client in clients:
            _ask(client)  # builds the tool
        works: dict[str, Callable[[Server, Client], object]] = {
            "search": lambda server, _: server.get(f"tools?q={texts.pop()}"),
            "first_page": _open_page,
            "turn": lambda _, client: _ask(client),
        }
        for what, work in works.items():
            for _ in range(_ROUNDS):
                for server, client, times in zip(servers, clients, taken, strict=True):
                    began = time.perf_counter()
                    work(server, client)
                    times[what].append(_ms(began))


def _open_page(server: Server, _: Client) -> None:
    server.http.get(server.url, timeout=_PATIENCE).raise_for_status()
    server.get("conversations?limit=50")  # as the page; the others follow


def _ask(client: Client) -> None:
    turn = client.ask(REUSE)
    client.records(until="turn_finished", turn_id=turn["turn_id"])


def _plan(engine: sa.Engine, count: int) -> None:
    """Schedules of several owners, each due once a year."""
    now, schedules = datetime.now(UTC), Schedules(engine)
    for number in range(count):
        plan = SchedulePlan(name=f"schedule {number}", tool="convert", cron="0 8 1 1 *")
        schedule = Schedule(
            **plan.model_dump(),
            id=f"{number:032x}",
            owner=f"{PERSON}{number // 100 or ''}",
            conversation_id=f"{number:032x}",
            created_at=now,
            next_at=plan.next_due(now + timedelta(days=2)),
        )
        schedules.put(schedule)


def _soaked(server: Server, seconds: float, say: Callable[[str], None]) -> dict[str, float]:
    """The growth of a server after people have asked it for so long."""
    end, turns = time.monotonic() + seconds, Counter[int]()

    def ask(number: int) -> None:
        with server.client() as client:
            while time.monotonic() < end:
                _ask(client)
                turns[number] += 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(_ASKERS)]
    for thread in threads:
        thread.start()
    time.sleep(seconds / 20)
    warm = _held(server, seconds / 20)
    say(json.dumps(warm))
    time.sleep(0.85 * seconds)
    held = _held(server, seconds / 20)
    say(json.dumps(held))
    for thread in threads:
        thread.join()
    more = {f"more_{what}": held[what] - warm[what] for what in ("files", "threads", "containers")}
    growth = round(held["rss_mb"] / warm["rss_mb"], 3)
    return {"turns": turns.total(), "rss_growth": growth, **more, "rss_mb": held["rss_mb"]}


def _held(server: Server, seconds: float) -> dict[str, float]:
    """The medians of what the server holds during so many seconds."""
    end, samples = time.monotonic() + seconds, [_sample(server)]
    while time.monotonic() < end:
        time.sleep(1)
        samples.append(_sample(server))
    return {what: statistics.median(one[what] for one in samples) for what in samples[0]}


def _sample(server: Server) -> dict[str, float]:
    folder = Path(f"/proc/{server.process.pid}")
    owner = name_of(server.process.pid)
    return {
        "rss_mb": round(int((folder / "statm").read_text().split()[1]) * _PAGE / 2**20, 1),
        "files": len(list((folder / "fd").iterdir())),
        "threads": len(list((folder / "task").iterdir())),
        "containers": sum(its == owner for _, its in running()),
    }


def _talk(journal: Journal, turns: int) -> list[str]:
    """Conversations with so many turns, of which the first has a fifth; their ids."""
    threads = list[str]()
    for number, request in enumerate(requests(turns)):
        if not threads or number >= turns // 5:
            threads.append(journal.create_conversation(PERSON, request))
        turn = journal.begin_turn(threads[-1], request, started=TurnStarted(request=request))
        value = f"{number} for {request}"
        returned = Returned(
            type_name="str",
            text=value,
            data=canonical(value),
            value=reference_to(value, canonical(value)),
        )
        events: tuple[Event, ...] = (
            ToolFound(tool="convert", confidence=0.9),
            ExecutionFinished(tool="convert", execution=returned),
            TurnFinished(answer=f"The answer to: {request}", tool="convert"),
        )
        now = datetime.now(UTC)
        journal.append([JournalEntry(threads[-1], turn, now, event) for event in events])
    return threads


def _list(home: Home, url: str) -> None:
    done = home.run("-m", "selfeng", "tools", DATABASE_URL=url)
    assert done.returncode == 0, done.stderr


def _least(work: Callable[[], object], times: int = 15) -> float:
    """Milliseconds."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        taken.append(_ms(began))
    return min(taken)  # of a machine that does other things meanwhile


def _ms(began: float) -> float:
    return round(1000 * (time.perf_counter() - began), 1)


def _embedder() -> MiniLM:
    return MiniLM(load_settings().data_dir / FOLDER)


def _pin() -> None:
    """To one core, before any library counts the cores."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _memory_mb() -> float:
    """Of this process, resident."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return round(pages * _PAGE / 2**20, 1)


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 2)


def _say(line: str) -> None:
    sys.stderr.write(f"{line}\n")


if __name__ == "__main__":
    match sys.argv[1:]:
        case [("fill" | "index" | "search" | "chroma") as part, folder, size]:
            parts = {"fill": _fill, "index": _index, "search": _search, "chroma": _chroma}
            sys.stdout.write(json.dumps(asyncio.run(parts[part](Path(folder), int(size)))) + "\n")
            exit_process(0)
        case ["life", *most]:
            tools, minutes = (*map(float, most), *(5_000.0, 30.0)[len(most) :])
            exit_process(report(life(int(tools), minutes, _say), LIFE_GOALS))
        case ["grown", *sizes]:
            grew = grown(int(sizes[0]) if sizes else 5_000, _say)
            problems = [
                line
                for database, of in grew.items()
                for line in missed(
                    {what: its["ratio"] for what, its in of.items()}, GOALS, of=f"{database}: "
                )
            ]
            exit_process(report(grew, {}, problems=problems))
        case sizes:
            figures = measure(tuple(map(int, sizes)) or SIZES, _say)
            medians = {f"{n} tools": of["p50"] for n, of in figures["lookup_ms"].items()}
            slow = missed(medians, dict.fromkeys(medians, LOOKUP_GOAL), of="a search of ")
            exit_process(report(figures, {}, problems=slow))
