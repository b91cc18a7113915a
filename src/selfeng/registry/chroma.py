"""Chroma embedded and offline, with our own vectors, and the files that it creates."""

import hashlib
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

if TYPE_CHECKING:
    from chromadb import Collection
    from chromadb.api.client import Client

_DATABASE = "chroma.sqlite3"
_NEW = ".new-"
"""Prefix of a folder in which an index is being built."""
_SEGMENT = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def open_client(folder: Path) -> "Client":
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(
        path=str(folder), settings=Settings(anonymized_telemetry=False)
    )
    return cast("Client", client)  # declared as an interface that lacks `close`


def collection_name(embedder: str) -> str:
    return "tools-" + hashlib.sha256(embedder.encode()).hexdigest()[:12]


def open_collection(client: "Client", name: str) -> "Collection":
    """Open the collection of that name and drop the collections of former embedders."""
    for other in client.list_collections():
        if other.name != name:
            client.delete_collection(other.name)
    return client.get_or_create_collection(
        name, embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
    )


class Mark(NamedTuple):
    """Which vectors an index holds: those of a database, as of a revision of its library."""

    library: str
    """The database's contents, see `contents_of`."""
    revision: int

    @classmethod
    def read(cls, metadata: object) -> "Mark | None":
        """None if there is no mark in the metadata of a collection."""
        match metadata:
            case {"library": str(library), "revision": int(revision)}:
                return cls(library, revision)
        return None


def put_mark(collection: "Collection", mark: Mark) -> None:
    collection.modify(metadata=mark._asdict())


def identity(folder: Path) -> int | None:
    """Identify the current database file in the folder (its inode); None if there is none."""
    try:
        return (folder / _DATABASE).stat().st_ino
    except FileNotFoundError:
        return None


def clear(folder: Path) -> None:
    """Delete only the files that Chroma creates: a wrong CHROMA_PERSIST_DIR must not cost anyone's
    files.
    """
    for path in folder.iterdir():
        if path.name.startswith(_DATABASE):
            path.unlink()
        elif _SEGMENT.fullmatch(path.name):
            shutil.rmtree(path)


def new_folder(folder: Path) -> Path:
    """Create a folder to build an index in, on the same file system, so that `place` only has to
    rename.
    """
    folder.mkdir(parents=True, exist_ok=True)
    return Path(tempfile.mkdtemp(prefix=_NEW, dir=folder))


def tidy(folder: Path) -> None:
    """Delete the unfinished indexes of killed processes."""
    for left in folder.glob(f"{_NEW}*"):
        shutil.rmtree(left)


def place(new: Path, folder: Path) -> None:
    """Replace the current index with a new one. The database is moved last, because a folder
    without it holds no index.
    """
    for path in sorted(new.iterdir(), key=lambda path: path.name.startswith(_DATABASE)):
        path.replace(folder / path.name)
    new.rmdir()
