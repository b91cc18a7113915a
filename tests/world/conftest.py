from collections.abc import Iterator

import pytest

from tests.world.world import World


@pytest.fixture
def world() -> Iterator[World]:
    with World() as running:
        yield running
