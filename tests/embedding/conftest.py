import pytest

from selfeng.models.embedding.minilm import MiniLM
from tests.embedding.prepared import prepared_minilm


@pytest.fixture(scope="session")
def minilm() -> MiniLM:
    return prepared_minilm()
