"""The protocol between the host and a container that waits for a job, on the event loop and
directly over the attached socket.
"""

import asyncio
import base64
import socket
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from pydantic import ValidationError

from sandbox_worker.frames import BrokenStream, Message, pack
from sandbox_worker.http_transport import LARGEST_RESPONSE
from sandbox_worker.job_clock import LONGEST_WAIT
from sandbox_worker.job_folder import CHUNK
from selfeng.core.background import first_error_alone
from selfeng.core.errors import NetworkRefused, SandboxFailed
from selfeng.core.files import File
from selfeng.core.http import HttpRequest, Network
from selfeng.core.value import first_problem
from selfeng.sandboxes.backend import Container, Mode
from selfeng.sandboxes.container_stream import JudgeStream
from selfeng.sandboxes.job_result import JobResult

_GRACE = 2.0
"""Seconds that the host waits after the worker's own time limit."""
_SLOWEST = 128 * 1024
"""Bytes per second at which a job must reach its container."""
_CLEAN = 5.0
"""Seconds within which an executor must clean up."""
_READ = 65536
_AT_ONCE = 8
"""Requests of one call that are answered at once."""
_LEAVE = pack({"leave": True})
"""No further version follows in the processes of the last job."""


async def run_job(
    container: Container,
    job: bytes,
    seconds: float,
    result: JobResult,
    network: Network | None = None,
) -> str | None:
    """Do the packed job, which may take `seconds` and as long as its requests to the network, and
    fill the result; returns why it was ended early, None if it ended by itself.

    Raises:
        SandboxUnavailable, SandboxFailed: the engine or the worker failed.
    """
    loop = asyncio.get_running_loop()
    stream = container.stream
    try:
        await _send(stream.socket, job)
        async with (
            asyncio.timeout(seconds + _GRACE + (LONGEST_WAIT if network else 0.0)) as limit,
            _answers(stream.socket, result, network) as answer,
        ):
            while not result.complete:
                if not (data := await loop.sock_recv(stream.socket, _READ)):
                    break
                stream.unread += stream.take(data)
                while stream.unread and not result.complete:
                    result.take(stream.unread.pop(0))
                answer()
                if result.receiving:  # the tool is done, and its files are limited in size
                    limit.reschedule(loop.time() + _GRACE)
    except TimeoutError:
        await asyncio.to_thread(container.check)
        result.late = True
        return f"It did not end within {seconds:g} s."
    except BrokenStream as broken:
        result.disorder = str(broken)
    except OSError:
        pass  # the connection broke: the container's state shows why
    if not result.complete:
        return await asyncio.to_thread(container.how_it_ended)
    if stream.unread not in ([], [_ready(result.nonce)]):
        result.take(stream.unread[0])  # an error, as it follows the end
    return None


@asynccontextmanager
async def _answers(
    sock: socket.socket, result: JobResult, network: Network | None
) -> AsyncIterator[Callable[[], None]]:
    """Gives a function that begins to answer the new requests of the result. At the end of the
    context all is cancelled, except the answer that is half sent to a judge which reads on.
    """
    if network is None:
        yield lambda: None
        return
    loop, place, turn = asyncio.get_running_loop(), asyncio.Semaphore(_AT_ONCE), asyncio.Lock()
    tasks: set[asyncio.Task[None]] = set()
    half_sent: asyncio.Task[Any] | None = None

    async def answer(number: int, request: Message) -> None:
        nonlocal half_sent
        async with place:
            fields = {"nonce": result.nonce, "number": number, **await _answer(network, request)}
            async with turn:
                packed = await asyncio.to_thread(pack, fields)
                half_sent = asyncio.current_task()
                with suppress(OSError):  # the container has ended, which `run_job` sees
                    await loop.sock_sendall(sock, packed)
                half_sent = None

    def begin() -> None:
        while result.requests:
            tasks.add(group.create_task(answer(*result.requests.pop(0))))

    async with first_error_alone() as group:
        yield begin
        for task in tasks:
            if task is not half_sent or not result.orderly:
                task.cancel()


async def _answer(network: Network, request: Message) -> Message:
    """The answer to a request of a tool, as fields of a frame."""
    try:
        response = await network.send(HttpRequest.model_validate(request))
    except ValidationError as error:
        return {"error": f"the request is malformed: {first_problem(error, 'it')}", "slow": False}
    except NetworkRefused as error:
        return {"error": str(error), "slow": error.cause == "slow"}
    if len(response.body) > LARGEST_RESPONSE * 4 // 3 + 4:
        return {
            "error": f"the response of {response.url} is larger than {LARGEST_RESPONSE} bytes",
            "slow": False,
        }
    return {"response": response.model_dump(mode="json")}


def packed_files(files: Sequence[File]) -> bytes:
    """The files as frames, for an executor that is about to get a job; of large ones the names, as
    the container holds them.
    """
    pieces = (
        (file.name, file.content[at : at + CHUNK])
        for file in files
        if not file.large
        for at in range(0, max(1, len(file.content)), CHUNK)
    )
    links = (pack({"put": f.name, "sha256": f.large.sha256}) for f in files if f.large)
    small = (pack({"put": name, "data": base64.b64encode(data).decode()}) for name, data in pieces)
    return b"".join((*links, *small))


async def _send(sock: socket.socket, job: bytes) -> None:
    try:
        async with asyncio.timeout(_GRACE + len(job) / _SLOWEST):
            await asyncio.get_running_loop().sock_sendall(sock, job)
    except TimeoutError as error:
        raise SandboxFailed(
            f"a job of {len(job)} bytes could not be sent to its container in time"
        ) from error


async def recovered(container: Container, nonce: str) -> bool:
    """Whether a container has cleaned up after the job with that nonce and is ready again."""
    loop = asyncio.get_running_loop()
    stream = container.stream
    try:
        async with asyncio.timeout(_CLEAN):
            await loop.sock_sendall(stream.socket, _LEAVE)
            while not stream.unread:
                if not (data := await loop.sock_recv(stream.socket, _READ)):
                    return False
                stream.unread += stream.take(data)
    except (OSError, BrokenStream):
        return False
    frames, stream.unread = stream.unread, []
    return frames == [_ready(nonce)]


def _ready(nonce: str) -> Message:
    return {"nonce": nonce, "kind": "ready"}


_START = 30.0
"""Seconds within which a container must be ready for its job."""


def handshake(
    stream: JudgeStream, mode: Mode, check_wanted: Callable[[], None], remedy: str
) -> None:
    """Send the container its mode and wait until it is ready; `check_wanted` raises if it is no
    longer wanted.

    Raises:
        SandboxFailed: it did not become ready; `remedy` is what to do.
        OSError: the connection broke.
    """
    sock = stream.socket
    sock.sendall(pack({"mode": mode}))
    deadline = time.monotonic() + _START
    frames: list[Message] = []
    try:
        while not frames and (remaining := deadline - time.monotonic()) > 0:
            sock.settimeout(remaining)
            data = sock.recv(65536)
            check_wanted()
            if not data:
                break
            frames = stream.take(data)
    except BrokenStream as broken:
        raise SandboxFailed(
            f"the sandbox's container does not speak the protocol: {broken}", remedy
        ) from broken
    if [f.get("kind") for f in frames] != ["ready"]:
        details = "; ".join(str(f.get("detail", "")) for f in frames)
        raise SandboxFailed(
            f"the sandbox's container did not get ready: {details or stream.diagnostics()}", remedy
        )
    sock.setblocking(False)
