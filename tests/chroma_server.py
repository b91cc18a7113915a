"""A Chroma server on loopback, as `chroma run` starts it."""

import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

import httpx2

from tests.databases import free_port


class ChromaServer:
    """A server with a folder and a port of its own, which it keeps when it is started again."""

    def __init__(self, folder: Path) -> None:
        self.folder, self._port = folder, free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def runs(self) -> bool:
        return self._process is not None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> None:
        program = str(Path(sys.executable).with_name("chroma"))
        options = ["--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self._port)]
        self._process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", program, "run", *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with httpx2.Client(transport=httpx2.HTTPTransport(), timeout=30) as client:
            while True:
                try:
                    client.get(f"{self.url}/api/v2/heartbeat").raise_for_status()
                    return
                except httpx2.ConnectError:
                    assert self._process.poll() is None, "chroma run ended"

    def stop(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
