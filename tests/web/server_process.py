"""A server under test: a process of its own, and clients of it."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import engineio
import requests
import socketio

from selfeng.store.conversation_list import ConversationKind
from selfeng.store.database import open_database
from selfeng.store.journal import Journal
from tests.fork_server import Program
from web.serving import AsyncMode


class ServerProcess:
    """Starts on construction; `link` is what the server printed, `errors` is its standard error
    after the end.
    """

    def __init__(self, folder: Path, mode: AsyncMode, **environment: str) -> None:
        self.folder, self.mode = folder, mode
        clean = {
            k: v
            for k, v in os.environ.items()
            if k in {"PATH", "HOME", "LANG", "PYTHONPATH", "VIRTUAL_ENV"}
        }
        settings = {
            "DATA_DIR": str(folder),
            "ASYNC_MODE": mode,
            "FLASK_HOST": "127.0.0.1",
            "FLASK_PORT": "0",
            "FILES_MAX_COUNT": "3",
            "FILES_MAX_MB": "1",
        }
        self._errors = (folder / "stderr.txt").open("w+")
        self.errors = ""
        self.process = Program(
            "-m",
            "tests.web.run_server",
            env={**clean, **settings, **environment},
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        assert self.process.stdout is not None
        self.link = self.process.stdout.readline().strip()
        parts = urlsplit(self.link)
        self.url = f"{parts.scheme}://{parts.netloc}"
        self.token = parse_qs(parts.query).get("token", [""])[0]

    def end(self, with_signal: int = signal.SIGTERM) -> tuple[int, str]:
        """End it; the exit code and what it printed after the link."""
        self.process.send_signal(with_signal)
        try:
            output, _ = self.process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        finally:
            self.errors = self._read_errors()
        return self.process.returncode, output

    def _read_errors(self) -> str:
        with self._errors as file:
            file.seek(0)
            return file.read()

    def browser(self) -> requests.Session:
        """A browser that has opened the link."""
        session = requests.Session()
        assert session.get(self.link).status_code == 200
        return session

    @contextmanager
    def program(self) -> Iterator[requests.Session]:
        """A client with the token in a header."""
        with requests.Session() as session:
            session.headers["Authorization"] = f"Bearer {self.token}"
            yield session

    @contextmanager
    def socket(self, session: requests.Session, transport: str = "websocket") -> Iterator["Client"]:
        """A connected page of that browser, or of that program."""
        with (
            requests.Session() as http
        ):  # polling uses it for every request, a websocket for its cookies
            http.cookies.update(session.cookies)
            http.verify, http.trust_env = session.verify, session.trust_env
            http.headers["Authorization"] = session.headers.get("Authorization", "")
            if transport == "polling":  # the websocket library names an origin by itself
                http.headers["Origin"] = self.url
            client = Client(http_session=http)
            headers = {"Authorization": str(http.headers["Authorization"])}
            client.connect(self.url, headers=headers, transports=[transport])
            try:
                yield client
            finally:
                client.leave()


def of_somebody_else(folder: Path, kind: ConversationKind = "chat") -> str:
    """A conversation of the command line, in the database of the server in that folder."""
    database = open_database(f"sqlite:///{folder / 'agent.db'}")
    try:
        return Journal(database).create_conversation("terminal", "private", kind)
    finally:
        database.dispose()


class _OneByOne(engineio.Client):
    """Handles one message after the other. The library begins a thread for each, so that on a busy
    machine they are handled in any order.
    """

    def _trigger_event(self, event: str, *arguments: Any, **options: Any) -> Any:
        if event == "message":
            options["run_async"] = False
        return super()._trigger_event(event, *arguments, **options)


class _InOrder(socketio.Client):
    def _engineio_client_class(self) -> type[engineio.Client]:
        return _OneByOne


class Client(socketio.SimpleClient):
    """Keeps what it received, in order."""

    client_class = _InOrder

    def __init__(self, **options: Any) -> None:
        super().__init__(reconnection=False, **options)

    def leave(self) -> None:
        """Break the connection off, as a closed lid does; a polling client says goodbye."""
        eio = self.client.eio
        if eio.current_transport == "websocket" and eio.ws.connected:
            connection = eio.ws.sock
            with suppress(OSError):  # the server may have been faster
                connection.shutdown(
                    socket.SHUT_RDWR
                )  # unlike closing, this wakes the thread that reads
            eio.read_loop_task.join()
            connection.close()
        elif eio.current_transport == "polling" and eio.state == "connected":
            # The client forgets its goodbye while it still sends something else; then the poll
            # under way ends with the server's next ping, after 25 s.
            with suppress(requests.ConnectionError):
                eio.http.post(eio.base_url, data="1")
            eio.read_loop_task.join()
        self.disconnect()

    def ask(self, text: str, conversation_id: str | None = None) -> dict[str, Any]:
        reply: dict[str, Any] = self.call(
            "ask", {"text": text, "conversation_id": conversation_id}, timeout=20
        )
        return reply

    def follow(self, conversation_id: str, after: int = 0) -> list[dict[str, Any]]:
        """Subscribe; the records so far."""
        reply = self.call(
            "subscribe", {"conversation_id": conversation_id, "after": after}, timeout=20
        )
        assert reply["ok"], reply
        records: list[dict[str, Any]] = reply["records"]
        return records

    def whole(self, conversation_id: str, until: str, after: int = 0) -> list[dict[str, Any]]:
        """The records so far and those that arrive, each once, until one is of that type."""
        found = self.follow(conversation_id, after)
        while not any(r["event"]["type"] == until for r in found):
            last = found[-1]["seq"] if found else after
            found += [r for r in self.next("records")["records"] if r["seq"] > last]
        return found

    def next(self, name: str) -> Any:
        """The next event of that name; others are dropped."""
        while True:
            event, *arguments = self.receive(timeout=20)
            if event == name:
                return arguments[0]

    def records(self, until: str, turn_id: str = "") -> list[dict[str, Any]]:
        """The records that arrive until one of that event type (and turn) does, that one
        included.
        """
        found: list[dict[str, Any]] = []
        while not any(r["event"]["type"] == until and turn_id in {"", r["turn_id"]} for r in found):
            found += self.next("records")["records"]
        return found
