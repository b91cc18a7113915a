from collections.abc import AsyncIterator, Iterator

import pytest

from tests.llm.desk import Desk


@pytest.fixture(scope="session")
def shared_desk() -> Iterator[Desk]:
    made = Desk()
    with made.server:
        yield made


@pytest.fixture
async def desk(shared_desk: Desk) -> AsyncIterator[Desk]:
    shared_desk.clear()
    yield shared_desk
    await shared_desk.aclose()
