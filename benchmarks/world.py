"""The broker in the test world: `python -m benchmarks.world [REQUESTS]`, by default 200; the last
line is JSON and the exit code 1 if a goal is missed.

`overhead_ratio` compares a request by the broker with one by httpx2 alone, both with a secret, over
TLS on loopback, with a new connection for each and one TLS context for all; the medians, taken in
turns. `hostile_tried` cases of tests/world/hostile.py are made with a secret from a vault, and
`hostile_passed` of them reached what they must not. `secrets_found` counts the places that have the
secret afterwards: the database, the files, a backup, the log, the exchanges and what the tool saw.
Of `changes_tried` services of tests/engine/test_contract.py that answer otherwise than recorded,
`changes_noticed` are noticed, and `false_alarms` are raised over harmless differences.

On two shared cores:

request by httpx2 alone   2.9 ms
request by the broker     3.3 ms
"""

import asyncio
import logging
import statistics
import sys
import tarfile
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx2

from benchmarks.goals import report
from selfeng.core.http import Exchange, HttpRequest, NetworkAccess, SecretUse
from selfeng.servers.vault import Vault
from selfeng.stages.execution.contract import changes
from selfeng.store.backup import write_backup
from selfeng.store.database import open_database
from tests.engine.test_contract import CHANGES, HARMLESS
from tests.world.hostile import ACCESSES, CASES, LIMITS, Case, harm, reveals, through
from tests.world.world import CANARY, World

GOALS: dict[str, float] = {
    "overhead_ratio": 4,
    "hostile_passed": 0,
    "secrets_found": 0,
    "false_alarms": 0,
}
LEAST = {"hostile_tried": 40, "changes_tried": 30, "changes_noticed": 28}
_URL = "https://api.world.example/v1/private"
_ACCESS = NetworkAccess(host="api.world.example", secrets=(SecretUse(name="KEY", place="bearer"),))


async def measure(requests: int) -> dict[str, Any]:
    """All figures."""
    with World() as world, tempfile.TemporaryDirectory(prefix="world-") as folder:
        figures = {**await _overhead(world, requests), **await _hostile(world, Path(folder))}
        return figures | _changes()


def _changes() -> dict[str, int]:
    return {
        "changes_tried": len(CHANGES),
        "changes_noticed": sum(bool(changes([before], now)) for before, now in CHANGES.values()),
        "false_alarms": sum(bool(changes([before], now)) for before, now in HARMLESS.values()),
    }


async def _overhead(world: World, requests: int) -> dict[str, Any]:
    network = world.broker().network([_ACCESS], lambda exchange: None)
    context = httpx2.create_ssl_context()
    context.load_verify_locations(world.authority)
    url = f"https://127.0.0.1:{world.port}/v1/private"
    headers = {"host": "api.world.example", "authorization": f"Bearer {CANARY}"}

    async def plain() -> int:
        async with httpx2.AsyncClient(verify=context, trust_env=False) as client:
            response = await client.get(
                url, headers=headers, extensions={"sni_hostname": "api.world.example"}
            )
            return response.status_code

    async def brokered() -> int:
        return (await network.send(HttpRequest(method="GET", url=_URL))).status

    taken: dict[Callable[[], Awaitable[int]], list[float]] = {plain: [], brokered: []}
    for number in range(requests + 5):
        for send, times in taken.items():
            began = time.perf_counter()
            assert await send() == 200
            if number >= 5:
                times.append(1000 * (time.perf_counter() - began))
    alone, by_broker = (statistics.median(times) for times in taken.values())
    return {
        "plain_ms": round(alone, 2),
        "brokered_ms": round(by_broker, 2),
        "overhead_ratio": round(by_broker / alone, 2),
    }


async def _hostile(world: World, folder: Path) -> dict[str, Any]:
    """Tries the cases with the secret of a vault, then looks for it."""
    database = open_database(f"sqlite:///{folder / 'agent.db'}")
    vault = Vault(database, folder, keyring=lambda: None)
    vault.set("KEY", CANARY)
    log, exchanges, views = folder / "log", list[Exchange](), list[str]()
    handler = logging.FileHandler(log)
    logging.basicConfig(level=logging.DEBUG, handlers=[handler], force=True)
    network = world.broker(vault.value, LIMITS).network(ACCESSES, exchanges.append)
    attempt = through(network)

    async def watched(case: Case) -> tuple[bool, str]:
        refused, view = await attempt(case)
        views.append(view)
        return refused, view

    harms = {case.name: await harm(case, world, watched) for case in CASES}
    harms = {name: text for name, text in harms.items() if text}
    sys.stderr.write("".join(f"{name}: {text}\n" for name, text in harms.items()))
    write_backup(database, {"data": folder / "none"}, folder / "backup.tar.gz")
    with tarfile.open(folder / "backup.tar.gz") as backup:
        backup.extractall(folder / "unpacked", filter="data")
    database.dispose()
    handler.close()
    texts = [*_texts(folder), *views, *(exchange.model_dump_json() for exchange in exchanges)]
    return {
        "hostile_tried": len(CASES),
        "hostile_passed": len(harms),
        "texts_searched": len(texts),
        "secrets_found": sum(map(reveals, texts)),
    }


def _texts(folder: Path) -> list[str]:
    """The contents of the files below a folder."""
    return [path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file()]


if __name__ == "__main__":
    figures = asyncio.run(measure(int(sys.argv[1]) if sys.argv[1:] else 200))
    sys.exit(report(figures, GOALS, LEAST))
