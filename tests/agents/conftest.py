from collections.abc import Iterator

import pytest

from tests.agents.workshop import Hall


@pytest.fixture(scope="session")
def hall(tmp_path_factory) -> Iterator[Hall]:
    made = Hall(f"sqlite:///{tmp_path_factory.mktemp('agents')}/agents.db")
    with made.server:
        yield made
    made.database.dispose()
