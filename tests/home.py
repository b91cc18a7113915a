"""A home of its own for an engine in a test: folders and environment, with the machine's embedding
model and image.
"""

import asyncio
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from typing import Any
from urllib.request import Request, urlopen

from filelock import FileLock

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.provenance import Provenance
from selfeng.core.tool import ToolDraft
from selfeng.library.seeding import SeedMark
from selfeng.models.embedding.minilm import MiniLM
from selfeng.seeds import load_seeds
from selfeng.store.database import open_database
from tests.doubles import passing
from tests.fork_server import ROOT, Program


@dataclass(frozen=True)
class Home:
    """Folders of one engine; the embedding model is shared, as it takes a while to make.

    With `bubblewrap` so is the Python that it has there, and the engine uses it unless told
    otherwise.
    """

    folder: Path
    bubblewrap: bool = False
    python: str = sys.executable
    place: Path = ROOT
    """The current folder of what it runs."""

    def __post_init__(self) -> None:
        (self.folder / "data").mkdir(parents=True, exist_ok=True)
        for made in ("embedder", "sandbox") if self.bubblewrap else ("embedder",):
            if not (self.folder / "data" / made).exists():
                (self.folder / "data" / made).symlink_to(ROOT / "data" / made)

    @property
    def tools(self) -> Path:
        return self.folder / "tools"

    def environment(self, **more: str) -> dict[str, str]:
        ours = {
            name.upper()
            for name in ("openai_api_key", "openai_base_url", "openai_model", "access_token")
        }
        kept = {k: v for k, v in os.environ.items() if k not in ours}
        return {
            **kept,
            "TOOLS_DIR": str(self.tools),
            "CHROMA_PERSIST_DIR": str(self.folder / "chroma_db"),
            "DATA_DIR": str(self.folder / "data"),
            "FLASK_HOST": "127.0.0.1",
            "FLASK_PORT": "0",
            **({"SANDBOX": "bubblewrap"} if self.bubblewrap else {}),
            # mutants take containers; tests of the whole gate ask for them
            "SYNTHESIS_MUTATION_SCORE": "0",
            **more,
        }

    def run(
        self, *arguments: str, patience: float = 110, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a Python command of the project to its end."""
        with self.start(*arguments, **more) as process:
            try:
                printed = process.communicate(timeout=patience)
            except BaseException:
                process.kill()
                raise
        return subprocess.CompletedProcess(arguments, process.returncode, *printed)

    def start(self, *arguments: str, **more: str) -> subprocess.Popen[str]:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        environment = self.environment(**more)
        is_ours = (self.python, self.place) == (sys.executable, ROOT)
        if is_ours and arguments[0] != "-c":  # which may choose what can be imported
            return Program(*arguments, env=environment, **streams)
        command = [self.python, *arguments]
        return subprocess.Popen(command, cwd=self.place, env=environment, text=True, **streams)


def bare_home(folder: Path, *, bubblewrap: bool = False) -> Home:
    """A home whose servers don't add the seed tools, which take a while."""
    home = Home(folder / "home", bubblewrap)
    database = open_database(f"sqlite:///{home.folder / 'data' / 'agent.db'}")
    SeedMark(database).put()
    database.dispose()
    return home


def seeded_home(folder: Path) -> Home:
    """A home with the seed tools, made once for each state of the sources.

    `seed_tools.py` takes the last one through the gate and finds the others there: the gate on all
    of them takes a minute, see `tests/whole/test_seeds.py`.
    """
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*.*")):
        if path.suffix != ".pyc" and path.is_file():
            digest.update(path.read_bytes())
    made = ROOT / "data" / "seeded" / digest.hexdigest()[:16]
    made.parent.mkdir(exist_ok=True)
    with FileLock(made.with_suffix(".lock")):
        if not made.exists():
            for old in made.parent.iterdir():
                shutil.rmtree(old, ignore_errors=True)
            home = Home(made.with_suffix(".new") / "home", bubblewrap=True)
            *most, _ = seeds = load_seeds()
            with ThreadPoolExecutor(1) as thread:  # the caller's may have an event loop
                thread.submit(asyncio.run, _add_unexamined(home, most)).result()
            added = home.run("seed_tools.py")
            said = f"1 added, {len(seeds) - 1} already there, 0 refused"
            assert (added.returncode, added.stderr.splitlines()[-1]) == (0, said), added.stderr
            made.with_suffix(".new").rename(made)
    shutil.copytree(made / "home", folder, symlinks=True)
    return Home(folder, bubblewrap=True)


async def _add_unexamined(home: Home, seeds: Iterable[ToolDraft]) -> None:
    """Add seeds to a home's library, each as if all tests of its suite had passed."""
    database = open_database(f"sqlite:///{home.folder / 'data' / 'agent.db'}")
    embedder = MiniLM.below(home.folder / "data")
    library = CapabilityRegistry(database, home.tools, home.folder / "chroma_db", embedder)
    await library.start()
    for seed in seeds:
        tests = re.findall(r"^def (test_\w+)", seed.tests, re.M)
        await library.add(seed, Provenance(verdict=passing(*tests)))
    await library.settle()
    await library.aclose()
    database.dispose()


def events(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    """The events that `ask --json` prints, as they come."""
    assert process.stdout
    for line in process.stdout:
        yield json.loads(line)["event"]


@contextmanager
def serving(home: Home, *program: str, log: list[str] | None = None, **more: str) -> Iterator[str]:
    """`python web/app.py`, or another program; gives its link once all is set up. SIGTERM must end
    it with exit code 0 and, unless a `log` takes what it logs, without a complaint.
    """
    process = home.start(*(program or ["web/app.py"]), **more)
    assert process.stdout
    assert process.stderr
    said: list[str] = [] if log is None else log
    listener = threading.Thread(target=lambda: said.extend(process.stderr or ()))
    listener.start()
    links: Queue[str] = Queue()

    def read() -> None:
        for line in process.stdout or ():
            links.put(line)
        links.put("")  # so that a server that ends without a link keeps nobody waiting

    reader = threading.Thread(target=read)
    reader.start()
    try:
        link = links.get().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=\S+", link), link
        _wait_until_set_up(link)
        yield link
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(timeout=60)
        listener.join()
        reader.join()
        process.stdout.close()
        process.stderr.close()
    complaint = re.compile(r" (WARNING|ERROR|CRITICAL) |Traceback")
    complaints = [line for line in said if log is None and complaint.search(line)]
    ended = (code, complaints, [links.get() for _ in range(links.qsize())])
    assert ended == (0, [], [""]), (ended, "".join(said))


def _wait_until_set_up(link: str) -> None:
    """Or until it is known that a part can't be."""
    address, _, token = link.partition("?token=")
    health = Request(f"{address}api/v1/health", headers={"Authorization": f"Bearer {token}"})
    while any(part["state"] != "failed" for part in json.load(urlopen(health))["unready"]):
        time.sleep(0.05)
