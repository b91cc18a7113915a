"""A worker says when it takes requests, and why it does not yet: to who asks it, and to the other
processes of its database.
"""

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Queue

import pytest
import requests

from selfeng.core.status import WorkerStatus
from selfeng.library.seeding import SeedMark
from selfeng.store.database import open_database
from selfeng.store.processes import Processes
from tests.databases import Postgres, free_port
from tests.home import Home

pytestmark = pytest.mark.postgres


@contextmanager
def worker(home: Home, **environment: str) -> Iterator[tuple[str, Callable[[str], str]]]:
    """A worker with the address of its health, and a function that waits for a line that it says
    and that begins so.
    """
    home.tools.mkdir()
    database = open_database(environment["DATABASE_URL"])
    SeedMark(database).put()
    database.dispose()
    port, lines = free_port(), Queue[str]()
    process = home.start("-m", "selfeng", "worker", WORKER_PORT=str(port), **environment)

    def read() -> None:
        for line in process.stderr or ():
            lines.put(line)

    def said(beginning: str) -> str:
        while not (line := lines.get(timeout=100)).startswith(beginning):
            pass
        return line.strip()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        yield f"http://127.0.0.1:{port}", said
    finally:
        process.terminate()
        code = process.wait(timeout=60)
        reader.join()
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
    assert code in (0, -15), subprocess.CompletedProcess(process.args, code)


def test_a_worker_that_is_not_ready_says_why_and_the_others_know(
    tmp_path: Path, postgres: Postgres
) -> None:
    reason, database = "no Docker engine answers at /nowhere", postgres.new()
    with worker(
        Home(tmp_path / "home"),
        DATABASE_URL=database,
        SANDBOX="docker",
        DOCKER_HOST="unix:///nowhere",
    ) as (address, said):
        assert reason in said("Not set up: the sandbox.")
        answer = requests.get(f"{address}/healthz", timeout=20)
        assert answer.status_code == 503
        assert answer.text.startswith(f"the sandbox: {reason}")
        assert requests.get(f"{address}/other", timeout=20).status_code == 404
        while not (known := workers(database)) or reason not in known[0].unready:
            pass  # its next beat, which comes within a second, has it


@pytest.mark.bubblewrap
def test_a_worker_that_is_ready_says_so_and_the_others_know(
    tmp_path: Path, postgres: Postgres
) -> None:
    database = postgres.new()
    home = Home(tmp_path / "home", bubblewrap=True)
    with worker(home, DATABASE_URL=database) as (address, said):
        assert said("Ready") == "Ready: this worker takes requests."
        answer = requests.get(f"{address}/healthz", timeout=20)
        assert (answer.status_code, answer.text) == (200, "ok\n")
        (known,) = workers(database)
        assert known.unready == ""


def workers(database: str) -> tuple[WorkerStatus, ...]:
    """As another process knows them by its first look."""
    engine = open_database(database)
    try:
        processes = Processes(engine)
        processes.beat()
        return processes.workers
    finally:
        engine.dispose()
