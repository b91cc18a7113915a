"""Real servers, one per async mode and test run, around an engine without a model."""

from collections.abc import Iterator
from typing import cast

import pytest
import requests

from tests.web.server_process import ServerProcess
from web.serving import AsyncMode

SAME = {"test_access", "test_malformed"}
"""Modules about routes and payloads, which are the same in both async modes: the second runs them
with `make test-everywhere`.
"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.stem in SAME and "threading" in item.name:
            item.add_marker("everywhere")


@pytest.fixture(
    scope="session", params=["eventlet", pytest.param("threading", marks=pytest.mark.extended)]
)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    process = ServerProcess(
        tmp_path_factory.mktemp("server"),
        cast(AsyncMode, request.param),
        ALLOWED_HOSTS="agent.example",
    )
    yield process
    assert process.end() == (0, "")


@pytest.fixture
def visitor(server: ServerProcess) -> Iterator[requests.Session]:
    with server.browser() as session:
        yield session
