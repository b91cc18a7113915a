"""Opens a Chroma folder in a process of its own, which may crash instead of ours: `python -m selfeng.registry.probe FOLDER`."""

import sys
from pathlib import Path

import numpy as np

from selfeng.core.leaving import exit_process
from selfeng.registry.chroma import open_client


def probe(folder: Path) -> None:
    """Touch everything that opening the index will touch. Raises whatever Chroma raises."""
    client = open_client(folder)
    for collection in client.list_collections():
        entries = collection.get(limit=1, include=["embeddings"])
        vectors = np.array(entries["embeddings"], dtype=np.float32)
        if len(vectors):
            collection.query(query_embeddings=vectors, n_results=1, include=["distances"])
    client.close()


if __name__ == "__main__":
    probe(Path(sys.argv[1]))
    exit_process(0)
