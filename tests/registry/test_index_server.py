"""The index at a Chroma server: many processes share it, one at a time writes it, and whatever
happens to the server, searches go on.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from selfeng.library.chroma import Chroma
from selfeng.library.index import collection_name
from selfeng.store.backup import restore_backup, write_backup
from selfeng.store.database import attach, open_database, sole_worker
from tests.chroma_server import ChromaServer
from tests.databases import address
from tests.registry.conftest import Place
from tests.registry.drafts import REVERSE, SHOUT
from tests.registry.test_index import QUERY, ROOT, VECTORS, Indexed, _vectors

Open = Callable[..., Indexed]
pytestmark = pytest.mark.parametrize(
    "new_database",
    [
        pytest.param("sqlite", marks=pytest.mark.everywhere),
        pytest.param("postgres", marks=pytest.mark.postgres),
    ],
    indirect=True,
)
"""A person with several machines, and so a server, has PostgreSQL."""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    with ChromaServer(tmp_path_factory.mktemp("chroma") / "data") as started:
        yield started


@pytest.fixture
def server(started: ChromaServer) -> ChromaServer:
    """A server without collections."""
    if not started.runs:
        started.start()
    with closing(Chroma(started.url)) as api:
        for collection in api.collections():
            api.delete(collection.name)
    return started


@pytest.fixture
def opened(place: Place, server: ChromaServer) -> Iterator[Open]:
    """Opens an index with database connections of its own, as another process would."""
    opened: list[Indexed] = []

    def open_index(vectors: dict | None = None, engine: sa.Engine = place.engine) -> Indexed:
        opened.append(Indexed(attach(address(engine)), server.url, "hashing"))
        opened[-1].put(vectors or {})
        return opened[-1]

    yield open_index
    for each in opened:
        each.index.close()
        each.engine.dispose()


def collections(server: ChromaServer) -> list[str]:
    with closing(Chroma(server.url)) as api:
        return [collection.id for collection in api.collections()]


def caught_up(indexed: Indexed) -> Indexed:
    """After another process has updated the index."""
    while indexed.settle() != "ready":
        pass
    return indexed


def test_processes_share_the_index_and_follow_each_others_changes(
    opened: Open, server: ChromaServer
) -> None:
    first, second = opened(VECTORS).ready(), opened()
    assert caught_up(second).nearest() == first.exact(8) == first.nearest()
    second.put(_vectors("tool_1", "new", seed=3))
    assert caught_up(second).nearest() == second.exact(8)
    assert caught_up(first).nearest() == first.exact(8)
    assert len(collections(server)) == 1


@pytest.mark.extended
def test_a_large_library_is_built_once_by_whoever_comes_first(
    opened: Open, server: ChromaServer
) -> None:
    many = _vectors(*(f"tool_{i}" for i in range(300)))
    first = opened(many)
    others = [opened(), opened()]
    for indexed in (first, *others):
        assert caught_up(indexed).nearest() == first.exact(8)
    assert len(collections(server)) == 1


@pytest.mark.extended
def test_while_one_process_writes_the_others_search_what_there_is(opened: Open) -> None:
    first, second = opened(VECTORS).ready(), opened()
    caught_up(second)
    with sole_worker(first.engine, collection_name("hashing")) as alone:
        assert alone
        second.put(_vectors("new", seed=3))
        assert second.settle() == "behind"
        found = second.index.nearest(QUERY, 8)
        assert found is not None
        assert (found.names, "new" in second.exact(100)) == (first.nearest(), True)
    assert caught_up(second).nearest(100) == second.exact(100)


@pytest.mark.extended
def test_a_new_build_replaces_the_collection_under_those_who_search_it(
    opened: Open, server: ChromaServer
) -> None:
    first, second = opened(VECTORS).ready(), opened()
    caught_up(second)
    (before,) = collections(server)
    second.index.rebuild()
    assert second.settle() == "ready"
    (after,) = collections(server)
    assert after != before
    assert first.nearest() is None
    assert caught_up(first).nearest() == first.exact(8)


def test_a_search_goes_on_while_the_server_is_away_and_finds_it_again(
    opened: Open, server: ChromaServer
) -> None:
    indexed = opened(VECTORS).ready()
    server.stop()
    assert (indexed.nearest(), indexed.index.state) == (None, "away")
    server.start()
    assert caught_up(indexed).nearest() == indexed.exact(8)


def test_an_index_whose_server_never_ran_is_away(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    indexed = Indexed(place.engine, f"http://127.0.0.1:{port}", "hashing")
    assert indexed.settle() == "away"
    indexed.index.close()


@pytest.mark.extended
def test_a_server_that_hangs_holds_up_no_search_for_long(
    opened: Open, server: ChromaServer
) -> None:
    indexed = opened(VECTORS).ready()
    os.kill(server.pid, signal.SIGSTOP)
    os.waitid(os.P_PID, server.pid, os.WSTOPPED)
    try:
        assert (indexed.nearest(), indexed.index.state) == (None, "away")
    finally:
        os.kill(server.pid, signal.SIGCONT)


@pytest.mark.extended
def test_an_emptied_server_gets_the_index_again(opened: Open, server: ChromaServer) -> None:
    indexed = opened(VECTORS).ready()
    server.stop()
    shutil.rmtree(server.folder)
    server.start()
    assert indexed.nearest() is None
    assert caught_up(indexed).nearest() == indexed.exact(8)


@pytest.mark.extended
def test_tools_that_are_missing_at_the_server_are_noticed_at_the_next_change(
    opened: Open, server: ChromaServer
) -> None:
    indexed = opened(VECTORS).ready()
    with closing(Chroma(server.url)) as api:
        api.remove(api.collections()[0], ["tool_3"])
    indexed.put(_vectors("new", seed=3))
    assert caught_up(indexed).nearest(100) == indexed.exact(100)


@pytest.mark.extended
def test_libraries_at_one_server_leave_each_other_alone(
    opened: Open, server: ChromaServer, tmp_path: Path
) -> None:
    other = open_database(f"sqlite:///{tmp_path / 'other.db'}")
    first, second = opened(VECTORS).ready(), opened(_vectors("a", "b", seed=6), other).ready()
    first.index.rebuild()
    assert first.settle() == "ready"
    assert (first.nearest(), second.nearest()) == (first.exact(8), second.exact(8))
    assert len(collections(server)) == 2
    other.dispose()


@pytest.mark.extended
def test_a_restored_library_does_not_use_the_index_of_what_it_replaced(
    place: Place, opened: Open, tmp_path: Path
) -> None:
    opened(VECTORS).ready()
    write_backup(place.engine, {}, tmp_path / "backup.tar.gz")
    opened(_vectors(*VECTORS, seed=7)).ready()
    restore_backup(tmp_path / "backup.tar.gz", place.engine, {})
    restored = opened(_vectors("new", seed=8))
    assert caught_up(restored).nearest(100) == restored.exact(100)


KILLED = """
import sys
from selfeng.library.index import SearchIndex
from selfeng.store.database import attach

index = SearchIndex(sys.argv[2], attach(sys.argv[1]), "hashing")
index.start()
index.rebuild()
while not (index.progress and index.progress.done):
    pass
print("building", flush=True)
sys.stdin.read()
"""


@pytest.mark.extended
def test_a_killed_build_leaves_no_litter(opened: Open, place: Place, server: ChromaServer) -> None:
    indexed = opened(_vectors(*(f"tool_{i}" for i in range(1_500))))
    command = [sys.executable, "-c", KILLED, address(place.engine), server.url]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "building\n"
        process.kill()
    assert caught_up(indexed).nearest() == indexed.exact(8)
    indexed.index.rebuild()
    assert indexed.settle() == "ready"
    assert len(collections(server)) == 1


def test_work_is_done_by_one_worker_at_a_time(database: sa.Engine) -> None:
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        engine = attach(address(database))
        with sole_worker(engine, "x") as alone:
            assert alone
            held.set()
            over.wait()
        engine.dispose()

    other = threading.Thread(target=hold)
    other.start()
    held.wait()
    with sole_worker(database, "x") as first, sole_worker(database, "y") as second:
        assert (first, second) == (False, True)
    over.set()
    other.join()
    with sole_worker(database, "x") as alone:
        assert alone


async def test_the_registry_searches_the_same_with_a_server(
    place: Place, server: ChromaServer
) -> None:
    place.index = server.url
    async with place.open() as library, place.open() as another:
        for each in (REVERSE, SHOUT):
            await library.add(each)
        assert await library.settle() == "ready"
        found = await library.search("reverse the word banana")
        assert await another.search("reverse the word banana") == found
        server.stop()
        assert await another.search("reverse the word banana") == found
        assert await another.settle() == "away"
