"""Real servers, one per async mode and test run, around an engine without a model."""

from collections.abc import Iterator
from typing import cast

import pytest
import requests

from tests.web.server_process import ServerProcess
from web.serving import AsyncMode

DIFFERENT = {
    "test_connections",
    "test_conversation",
    "test_files",
    "test_https",
    "test_limits",
    "test_openai",
    "test_process",
    "test_responses",
}
"""Modules about connections, uploads and streams, in which the async modes differ: `make test-all`
runs them in both. Routes and payloads are the same, in the second with `make test-everywhere`.
"""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "threading" in item.name and item.path.stem not in DIFFERENT:
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
