"""What `make test` leaves to `make test-all`: the same contract on a further backend, two thirds of
each long table of cases, and engines that are brought up to be mistreated.

On Docker `make test` keeps how containers begin and end, their limits, and all that is Docker's
alone. Elsewhere in the tests the mark `extended` stands at what takes long and repeats another
test: with other instants, servers or commands.
"""

from collections.abc import Iterable

import pytest

from tests.sandbox.backends import OF_THE_JUDGE

ONCE = OF_THE_JUDGE | {
    "test_execute",
    "test_files",
    "test_hidden",
    "test_hostile",
    "test_hostile_suites",
    "test_owners",
    "test_reuse",
    "test_threads",
    "test_verify",
    "test_workspace",
}
"""Modules whose tests are about the worker or the gate, which are the same on every backend: `make
test` runs them on bubblewrap alone.
"""
SLOW = {"test_engine_death", "test_layer", "test_remote"}
"""Modules that start, kill and reach engines of their own, or have them build images."""


SHORT = {"bubblewrap": 2, "docker": 9, "runsc": 9}
"""Cases, up to which a table is run whole on a backend."""


def backend_of(item: pytest.Item) -> str | None:
    """The backend that the test runs on, if it is one of those that run on several."""
    if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        return item.callspec.params.get("backend")
    return None


def is_extended(item: pytest.Item) -> bool:
    module = item.path.stem
    return (
        module in SLOW
        or item.get_closest_marker("runsc") is not None
        or (module in ONCE and backend_of(item) == "docker")
    )


def beyond_a_third(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """Of each long table of cases on a backend two thirds, spread over the table.

    `make test` leaves them out on bubblewrap, where `make test-all` runs all; on the other backends
    `make test-all` leaves them out, and `make test-everywhere` runs all.
    """
    tables: dict[tuple[str, str], list[pytest.Item]] = {}
    for item in items:
        if backend := backend_of(item):
            tables.setdefault((item.nodeid.partition("[")[0], backend), []).append(item)
    return [
        item
        for (_, backend), table in tables.items()
        for number, item in enumerate(table)
        if len(table) > SHORT[backend] and number % 3
    ]
