"""What `make test` leaves to `make test-all`: the same contract on a further backend, and engines
that are brought up to be mistreated.

On Docker `make test` keeps how containers begin and end, their limits, and all that is Docker's
alone. Elsewhere in the tests the mark `extended` stands at what takes long and repeats another
test: with other instants, servers or commands.
"""

import pytest

from tests.sandbox.backends import OF_THE_JUDGE

ONCE = OF_THE_JUDGE | {
    "test_execute",
    "test_files",
    "test_hostile",
    "test_hostile_suites",
    "test_reuse",
    "test_verify",
    "test_workspace",
}
"""Modules whose tests are about the worker or the gate, which are the same on every backend: `make
test` runs them on bubblewrap alone.
"""
SLOW = {"test_engine_death", "test_layer", "test_remote"}
"""Modules that start, kill and reach engines of their own, or have them build images."""


def is_extended(item: pytest.Item) -> bool:
    module = item.path.stem
    backend = (
        item.callspec.params.get("backend")
        if isinstance(item, pytest.Function) and hasattr(item, "callspec")
        else None
    )
    return (
        module in SLOW
        or item.get_closest_marker("runsc") is not None
        or (module in ONCE and backend == "docker")
    )
