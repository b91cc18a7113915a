"""The real embedding model of this checkout, set up once."""

from pathlib import Path

from selfeng.models.embedding.minilm import MiniLM
from selfeng.provision.parts import prepare_embedder

DATA_DIR = Path(__file__).parents[2] / "data"


def prepared_minilm() -> MiniLM:
    prepare_embedder(DATA_DIR, lambda _: None)
    return MiniLM.below(DATA_DIR)
