"""A server of embeddings on loopback, in a thread: words hashed into vectors, or the trouble that a
test puts in their place.
"""

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from tests.embedding.hashing import HashingEmbedder

KEY = "local-0123456789abcdef"
DIMENSIONS = 64


class EmbeddingsServer:
    """`/v1/embeddings` for whoever has the key. Rows come in the wrong order and are not of length
    1, as the API allows both.
    """

    def __init__(self) -> None:
        self.trouble: deque[tuple[int, Any]] = deque()
        """Status and JSON body of the next answers."""
        self.bodies: list[dict[str, Any]] = []
        self.open = threading.Event()
        """Nothing is answered while it is not set."""
        self.open.set()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=lambda: self._http.serve_forever(0.01), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def answer(self, path: str, authorization: str, body: dict[str, Any]) -> tuple[int, Any]:
        self.bodies.append(body)
        assert self.open.wait(30)
        if self.trouble:
            return self.trouble.popleft()
        if path != "/v1/embeddings" or authorization != f"Bearer {KEY}":
            return 401, {"error": {"message": f"Incorrect API key provided: {authorization}"}}
        vectors = 3 * HashingEmbedder(dimensions=DIMENSIONS).embed(body["input"])
        data = [
            {"object": "embedding", "index": n, "embedding": vector.tolist()}
            for n, vector in enumerate(vectors)
        ]
        return 200, {
            "object": "list",
            "model": body["model"],
            "data": data[::-1],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                status, reply = server.answer(self.path, self.headers["Authorization"], body)
                content = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.send_header("retry-after-ms", "1")
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                """Silent."""

        return Handler
