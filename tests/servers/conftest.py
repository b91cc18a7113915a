"""One database is enough here; tests/store tests what is kept on both."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from selfeng.store.database import open_database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[sa.Engine]:
    engine = open_database(f"sqlite:///{tmp_path / 'agent.db'}")
    yield engine
    engine.dispose()
