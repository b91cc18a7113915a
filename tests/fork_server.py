"""Python programs of the tests as processes that are forked from one which has imported what they
import: starting Python and importing it costs a program about a second of processor time.

`python -m tests.fork_server FD` is that process. Its forks become children of the process that asked
for them, which waits for them as for any other.
"""

import atexit
import ctypes
import gc
import importlib
import json
import os
import runpy
import socket
import subprocess
import sys
import threading
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
IMPORTED = (
    "alembic.config",
    "dbos",
    "genai_prices.data",
    "mcp.server.sse",
    "openai",
    "psycopg",
    "selfeng.bootstrap",
    "selfeng.cli.app",
    "selfeng.doors.mcp_server",
    "selfeng.models.ladder",
    "selfeng.models.responses",
    "selfeng.sandboxes.bubblewrap",
    "tests.web.fake_engine",
    "web.app",
)
"""None of them starts a thread, which would be missing after a fork."""
_SUBREAPER = 36
"""Linux's PR_SET_CHILD_SUBREAPER."""
_LONGEST = 1 << 18
"""Bytes of a request."""


def start_few_containers() -> None:
    """Have sandboxes start the containers that a job waits for, and none ahead: the rest would be
    removed unused, and take as much of the processor as those that tests use.
    """
    from selfeng.sandboxes import sandbox_options as options

    for name in ("VERIFIERS", "COMPARERS", "EXECUTORS"):
        size = replace(getattr(options, name), least=0, ready=0, reserve=0)
        setattr(options, name, size)


class Program(subprocess.Popen[str]):
    """Runs `python` in the checkout's folder with these arguments, `-m MODULE` or a file first. Of
    `Popen`'s options it takes the streams and `env`.
    """

    def __init__(self, *arguments: str, **options: Any) -> None:
        super().__init__([sys.executable, *arguments], cwd=ROOT, text=True, **options)

    def _execute_child(self, command: list[str], *others: Any) -> None:
        environment, pipes = others[5], others[9:15]
        streams = zip((pipes[0], pipes[3], pipes[5]), range(3), strict=True)
        request = json.dumps([command[1:], dict(environment)]).encode()
        with _LOCK:
            server = _server()
            socket.send_fds(
                server, [request], [own if own >= 0 else shared for own, shared in streams]
            )
            self.pid = int(server.recv(_LONGEST))
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


_LOCK = threading.Lock()


@cache
def _server() -> socket.socket:
    """The connection with the server, which ends when this process closes it."""
    assert ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0) == 0
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with its:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.fork_server", str(its.fileno())],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # numpy's would be a thread
            pass_fds=[its.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
    atexit.register(server.wait)
    atexit.register(ours.close)
    return ours


def _serve(connection: socket.socket) -> tuple[list[str], dict[str, str]]:
    """Fork a process for each request; this returns the request in that process alone."""
    while True:
        request, streams, _, _ = socket.recv_fds(connection, _LONGEST, 3)
        if not request:
            sys.exit()
        reading, writing = os.pipe()
        if between := os.fork():
            os.waitpid(between, 0)
            connection.send(os.read(reading, 20))
        elif process := os.fork():
            os.write(writing, b"%d" % process)
            os._exit(0)
        else:
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            connection.close()
        for descriptor in (reading, writing, *streams):
            os.close(descriptor)
        if connection.fileno() < 0:
            arguments, environment = json.loads(request)
            return arguments, environment


def main() -> None:
    for module in IMPORTED:
        importlib.import_module(module)
    start_few_containers()
    gc.collect()
    gc.freeze()
    arguments, environment = _serve(socket.socket(fileno=int(sys.argv[1])))
    os.environ.clear()
    os.environ.update(environment)
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        runpy.run_path(arguments[0], run_name="__main__")


if __name__ == "__main__":
    main()
