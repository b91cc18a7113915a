"""ChromaAPI: a Chroma server over HTTP. Chroma's own client takes a second to import, waits forever
for a server that hangs, and leaves connections open.
"""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import httpx2
import numpy as np
import numpy.typing as npt

from selfeng.registry.chroma import Mark
from selfeng.registry.fusion import Vector

_COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"
_MOST = 10_000
"""Collections that are listed."""


class ServerRefused(Exception):
    """The server refuses a call, as for a collection that was deleted."""


class ChromaAPI:
    """Thread-safe. Every call raises ServerRefused, or httpx2.TransportError if nothing answers."""

    def __init__(self, url: str, seconds: float) -> None:
        """`seconds` that the server may take to answer; the constructor connects to nothing."""
        self._http = httpx2.Client(base_url=url, timeout=seconds)

    def collections(self) -> list["ServerCollection"]:
        found = self.call("GET", f"?limit={_MOST}")
        return [ServerCollection(self, description) for description in found]

    def create(self, name: str) -> "ServerCollection":
        configuration = {"hnsw": {"space": "cosine"}}
        return ServerCollection(
            self, self.call("POST", "", {"name": name, "configuration": configuration})
        )

    def delete(self, name: str) -> None:
        self.call("DELETE", f"/{name}")

    def close(self) -> None:
        self._http.close()

    def call(self, method: str, path: str, body: object = None) -> Any:
        answer = self._http.request(method, _COLLECTIONS + path, json=body)
        if not answer.is_success:
            raise ServerRefused(f"{method} {path}: {answer.status_code} {answer.text[:500]}")
        return answer.json() if answer.content else None


class ServerCollection:
    """A collection of vectors by name; its mark is as it was when it was found."""

    def __init__(self, api: ChromaAPI, description: dict[str, Any]) -> None:
        self.name: str = description["name"]
        self._api, self._path = api, f"/{description['id']}"
        self._metadata = description.get("metadata")

    @property
    def mark(self) -> Mark | None:
        return Mark.read(self._metadata)

    def put_mark(self, mark: Mark) -> None:
        self._metadata = mark._asdict()
        self._api.call("PUT", self._path, {"new_metadata": self._metadata})

    def count(self) -> int:
        return int(self._api.call("GET", f"{self._path}/count"))

    def nearest(self, vector: Vector, count: int) -> list[str]:
        """Names of the nearest, best first."""
        asked = {"query_embeddings": [vector.tolist()], "n_results": count, "include": []}
        return list(self._api.call("POST", f"{self._path}/query", asked)["ids"][0])

    def write(self, names: Sequence[str], vectors: npt.NDArray[np.float32]) -> None:
        """Add vectors, one a row, or replace them."""
        rows = [b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]
        self._api.call("POST", f"{self._path}/upsert", {"ids": list(names), "embeddings": rows})

    def remove(self, name: str) -> None:
        self._api.call("POST", f"{self._path}/delete", {"ids": [name]})

    def probe(self) -> None:
        """Search it for one of its own vectors."""
        found = self._api.call("POST", f"{self._path}/get", {"limit": 1, "include": ["embeddings"]})
        for row in found["embeddings"]:
            self.nearest(np.array(row, dtype=np.float32), 1)
