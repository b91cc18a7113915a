"""The tests that `make test` leaves to `make test-all`, and that to `make test-everywhere`: the
same contract on a further backend, parts of long tables of cases, and engines that are brought up
to be mistreated.

On Docker `make test` keeps how containers begin and end, their limits, and all that is Docker's
alone. Elsewhere the mark `extended` is on tests that take long and repeat another one: with other
instants, servers or commands.
"""

from collections.abc import Iterable

import pytest

from tests.sandbox.backends import OF_THE_JUDGE

ONCE = OF_THE_JUDGE | {
    "test_exchanges",
    "test_hidden",
    "test_hostile",
    "test_hostile_imports",
    "test_http_forging",
    "test_library",
    "test_ordinary_code_runs_unchanged",
    "test_owners",
    "test_replay",
    "test_reuse",
    "test_suites_know_the_exceptions_of_packages",
}
"""Modules and tests about the worker or the gate, which are the same on every backend: `make test`
runs them on bubblewrap alone. Requests of tools pass through Docker's containers in the other tests
of `test_http` and in `test_hostile_network`.
"""
SLOW = {"test_engine_death", "test_layer", "test_remote"}
"""Modules that start, kill and reach engines of their own, or have them build images."""

SHORT = {"bubblewrap": 2, "docker": 5, "runsc": 9}
"""Cases, up to which a table is run whole on a backend."""


def backend_of(item: pytest.Item) -> str | None:
    """The backend that the test runs on, if it is one of those that run on several."""
    if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
        return item.callspec.params.get("backend")
    return None


def is_extended(item: pytest.Item) -> bool:
    module, test = item.path.stem, item.nodeid.partition("::")[2].partition("[")[0]
    return module in SLOW or (bool({module, test} & ONCE) and backend_of(item) == "docker")


def shared_out(items: Iterable[pytest.Item]) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """Of each long table of cases, those that `make test` leaves to `make test-all`, and those that
    only `make test-everywhere` runs on their backend.

    A sixth runs in `make test`, on bubblewrap. `make test-all` adds half of the table there, and the
    last third on bubblewrap where the table does not run on Docker. On Docker that third runs in
    `make test`, too, except for what is in `ONCE`.
    """
    tables: dict[tuple[str, str], list[pytest.Item]] = {}
    for item in items:
        if backend := backend_of(item):
            tables.setdefault((item.nodeid.partition("[")[0], backend), []).append(item)
    extended: list[pytest.Item] = []
    elsewhere: list[pytest.Item] = []
    for (name, backend), table in tables.items():
        if len(table) <= SHORT[backend]:
            continue
        thirds = [table[start::3] for start in range(3)]
        if backend != "bubblewrap":
            elsewhere += thirds[0] + thirds[1]
            continue
        extended += thirds[0][1::2] + thirds[1]
        on_docker = (name, "docker") in tables and len(table) > SHORT["docker"]
        (elsewhere if on_docker else extended).extend(thirds[2])
    return extended, elsewhere
