"""Chroma as we use it: embedded, offline, with vectors of our own; and the files it makes."""

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api.client import Client

_DATABASE = "chroma.sqlite3"
_SEGMENT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def open_client(folder: Path) -> "Client":
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(path=str(folder), settings=Settings(anonymized_telemetry=False))
    return cast("Client", client)  # declared as an interface that lacks `close`


def open_collection(client: "Client", name: str) -> "Collection":
    """The collection of that name and no other: those of former embedders are dropped."""
    for other in client.list_collections():
        if other.name != name:
            client.delete_collection(other.name)
    return client.get_or_create_collection(name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}})


def identity(folder: Path) -> int | None:
    """Names the database file that lies there now; None if there is none."""
    try:
        return (folder / _DATABASE).stat().st_ino
    except FileNotFoundError:
        return None


def clear(folder: Path) -> None:
    """Delete what Chroma makes, and nothing else: a wrong CHROMA_PERSIST_DIR must not cost anyone's files."""
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        if path.name.startswith(_DATABASE):
            path.unlink()
        elif _SEGMENT.fullmatch(path.name):
            shutil.rmtree(path)
