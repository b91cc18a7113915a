"""The connection to one other MCP server: opened when it is needed, again after it died."""

import asyncio
import dataclasses
import logging
import os
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.message import SessionMessage
from mcp_types import methods
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from selfeng.core.bounded_reply import BoundedReply
from selfeng.core.places import VERSION
from selfeng.core.secrets import Masker
from selfeng.core.server_tool import ServerState, ServerTool
from selfeng.core.value import first_problem
from selfeng.core.visible import one_line
from selfeng.servers.mcp_config import ServerConfig, masker_of
from selfeng.servers.server_results import tools_of

_OPENING, _LISTING = 30.0, 5.0
"""Seconds for a server to start, and to list its tools again."""
_CLOSING = 5.0
"""Seconds for a server to take leave."""
_TERMS = {"type", "role", "mimeType", "protocolVersion", "name", "$schema", "$ref", "uri"}
"""Fields of the protocol whose values are its own terms."""
_MOST_TOOLS = 200
_PAGES = 20
_FIRST_PAUSE, _LONGEST_PAUSE = 10.0, 300.0
"""Seconds before a server that failed is tried again unasked; the pause doubles."""
_LONGEST_CALL = 20
"""A call that reports progress may take as many times the time limit."""
_LONGEST_LINE, _LAST_LINES = 500, 3
LARGEST_EVENT = 64 * 1024 * 1024
"""Bytes of one message over HTTP."""

Progress = Callable[[float, float | None, str], None]

log = logging.getLogger(__name__)
# It quotes what a server writes, which may be its own arguments.
logging.getLogger("mcp.client").setLevel(logging.CRITICAL)


class _Incoming:
    """A server's messages: with `${NAME}` in place of the values of variables, and without the
    tools that are not described properly, which would hide the others.
    """

    def __init__(self, stream: Any, masker: Masker, problems: list[str]) -> None:
        """`problems` gets the reason for each tool that is left out."""
        self._stream, self._masker, self._problems = stream, masker, problems
        self._version = "2025-11-25"

    async def __aenter__(self) -> "_Incoming":
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stream.__aexit__(*error)

    def __aiter__(self) -> "_Incoming":
        return self

    async def __anext__(self) -> Any:
        return self._screen_message(await self._stream.__anext__())

    async def receive(self) -> Any:
        return self._screen_message(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def _screen_message(self, sent: Any) -> Any:
        if not isinstance(sent, SessionMessage):
            return sent  # an error of the transport
        message = sent.message
        for part in ("result", "error", "params"):
            if (payload := getattr(message, part, None)) is None:
                continue
            if isinstance(payload, dict):
                payload = self._masked(payload)
                self._version = payload.get("protocolVersion", self._version)
                if isinstance(tools := payload.get("tools"), list):
                    payload["tools"] = [tool for tool in tools if self._is_valid(tool)]
            elif isinstance(text := getattr(payload, "message", None), str):
                plain = {"message": self._masker.text(text), "data": None}
                payload = payload.model_copy(update=plain)
            message = message.model_copy(update={part: payload})
        return dataclasses.replace(sent, message=message)

    def _masked(self, value: Any, key: str = "") -> Any:
        match value:
            case str() if key not in _TERMS:
                return self._masker.text(value)
            case dict():
                return {name: self._masked(item, name) for name, item in value.items()}
            case list():
                return [self._masked(item, key) for item in value]
        return value

    def _is_valid(self, tool: Any) -> bool:
        try:
            types.Tool.model_validate(tool, by_name=False)
            methods.validate_server_result("tools/list", self._version, {"tools": [tool]})
        except (ValidationError, ValueError, KeyError, RecursionError) as error:
            name = one_line(str(tool.get("name", "")))[:80] if isinstance(tool, dict) else ""
            detail = (
                first_problem(error, "it", secret=True)
                if isinstance(error, ValidationError)
                else type(error).__name__
            )
            self._problems.append(f"“{name}” is not described properly: {detail}")
            return False
        return True


class ServerFailed(Exception):
    """The server can't be reached, or breaks the protocol; says why."""


class ServerConnection:
    """Used on one event loop; close it with `aclose`."""

    def __init__(
        self,
        name: str,
        config: ServerConfig,
        timeout: float,
        on_tools: Callable[[Sequence[ServerTool]], Awaitable[None]],
    ) -> None:
        """`timeout`: seconds that a call may take without progress. `on_tools` gets what the server
        lists, whenever it does.
        """
        self.name, self.config = name, config
        self._masker = Masker({})
        self._undescribed = list[str]()
        """Why tools of the last list are left out."""
        self._timeout, self._on_tools = timeout, on_tools
        self.state: ServerState = "idle"
        self.problem = ""
        self.asked = asyncio.Event()
        """Set once it is known whether the server answers."""
        self._tools: dict[str, ServerTool] = {}
        self._task: asyncio.Task[None] | None = None
        self._opened: asyncio.Future[Client] | None = None
        self._changed, self._died = asyncio.Event(), asyncio.Event()
        self._error_lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._pause, self._not_before = _FIRST_PAUSE, 0.0

    def open(self) -> None:
        """Connect in the background, unless it is connected or failed a short while ago."""
        if time.monotonic() >= self._not_before:
            self._begin()

    async def call(
        self, tool: ServerTool, arguments: Mapping[str, Any], on_progress: Progress
    ) -> types.CallToolResult:
        """Call a tool once.

        Raises:
            ServerFailed: it can't be reached, died, or broke the protocol.
            TimeoutError
            LookupError: the server describes the tool otherwise now, or has it no longer.
        """
        client = await self._listed()
        if self._tools.get(tool.tool) != tool:
            raise LookupError(tool.name)
        loop = asyncio.get_running_loop()
        last = loop.time() + _LONGEST_CALL * self._timeout

        async def progress(progress: float, total: float | None, message: str | None) -> None:
            limit.reschedule(min(last, loop.time() + self._timeout))
            on_progress(progress, total, message or "")

        try:
            async with asyncio.timeout(self._timeout) as limit:
                return await client.call_tool(
                    tool.tool, dict(arguments), progress_callback=progress
                )
        except (MCPError, ValidationError, RuntimeError, httpx2.HTTPError) as error:
            # RuntimeError: the result does not fit the tool's output schema
            raise ServerFailed(self._error_message(error)) from error

    async def aclose(self) -> None:
        """End the session, and with it the server's process."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_CLOSING)

    def _begin(self) -> "asyncio.Future[Client]":
        if self._opened is None or self._task is None or self._task.done():
            self._opened = asyncio.get_running_loop().create_future()
            self._task = asyncio.create_task(self._run(self._opened), name=f"mcp {self.name}")
        return self._opened

    async def _listed(self) -> Client:
        """A session that just listed the server's tools, since not every server reports changes; a
        new one if the old one has ended. Raises: ServerFailed, TimeoutError.
        """
        fresh = self._task is None or self._task.done()
        client = await asyncio.shield(self._begin())
        if fresh:
            return client
        try:
            async with asyncio.timeout(_LISTING):
                await self._list(client)
        except (MCPError, ValidationError, httpx2.HTTPError, TimeoutError) as error:
            log.info("the session with %s has ended: %s", self.name, self._error_message(error))
            await self.aclose()
            return await asyncio.shield(self._begin())
        return client

    async def _run(self, opened: "asyncio.Future[Client]") -> None:
        """The life of one session."""
        self.state, self.problem = "connecting", ""
        self._died.clear()
        self._error_lines.clear()
        failure = ServerFailed(f"{self.name} was closed")
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(_OPENING):
                    client = await self._connect(stack)
                    await self._list(client)
                self.state, self._pause, self._not_before = "connected", _FIRST_PAUSE, 0.0
                opened.set_result(client)
                self.asked.set()
                await self._follow(client)
            self.state = "idle"
        except asyncio.CancelledError:
            self.state = "idle"
            raise
        except Exception as error:  # noqa: BLE001 - whatever a foreign program and its transport come to
            failure = ServerFailed(self._error_message(error))
            self.state, self.problem = "failed", str(failure)
            self._not_before = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            log.warning("the MCP server %s failed: %s", self.name, failure)
        finally:
            self.asked.set()
            if not opened.done():
                opened.set_exception(failure)
                opened.exception()  # nobody may wait for it

    async def _connect(self, stack: AsyncExitStack) -> Client:
        used = self.config.variables(os.environ)
        self._masker = masker_of({n: v for n, v in used.items() if os.environ.get(n) == v})
        config = self.config.expanded(os.environ)
        if config.command:
            reading, writing = os.pipe()
            with os.fdopen(writing, "w") as errors:
                await self._log_errors(stack, reading)
                transport = stdio_client(
                    StdioServerParameters(
                        command=config.command,
                        args=config.args,
                        env=config.env,
                        cwd=config.cwd,
                    ),
                    errlog=errors,
                )
                return await stack.enter_async_context(self._client(transport))
        patience = httpx2.Timeout(_OPENING, read=max(300.0, 2 * self._timeout))

        async def bound(response: httpx2.Response) -> None:
            response.stream = BoundedReply(response, LARGEST_EVENT)

        http = httpx2.AsyncClient(
            headers=config.headers, timeout=patience, event_hooks={"response": [bound]}
        )
        await stack.enter_async_context(http)
        transport = streamable_http_client(
            config.url, http_client=http, max_sse_event_size=LARGEST_EVENT
        )
        return await stack.enter_async_context(self._client(transport))

    def _client(self, transport: Any) -> Client:
        async def hear(message: Any) -> None:
            if isinstance(message, types.ToolListChangedNotification):
                self._changed.set()

        @asynccontextmanager
        async def filtered() -> AsyncIterator[tuple[Any, Any]]:
            async with transport as (incoming, outgoing):
                yield _Incoming(incoming, self._masker, self._undescribed), outgoing

        return Client(
            filtered(),
            message_handler=hear,
            client_info=types.Implementation(name="selfeng", version=VERSION),
            cache=None,
        )

    async def _list(self, client: Client) -> None:
        listed = list[types.Tool]()
        self._undescribed.clear()
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await client.list_tools(cursor=cursor)
            listed += page.tools
            cursor = page.next_cursor
            if cursor is None or len(listed) > _MOST_TOOLS:
                break
        tools, problems = tools_of(self.name, self.config, listed[:_MOST_TOOLS])
        problems += self._undescribed
        if cursor is not None or len(listed) > _MOST_TOOLS:
            problems.append(f"only the first {min(len(listed), _MOST_TOOLS)} tools are used")
        self.problem = "; ".join(problems)
        log.log(logging.WARNING if problems else logging.DEBUG, "%s: %s", self.name, self.problem)
        tools_by_name = {tool.tool: tool for tool in tools}
        if tools_by_name != self._tools or not self.asked.is_set():
            self._tools = tools_by_name
            await self._on_tools(tools)

    async def _follow(self, client: Client) -> None:
        """List the tools again whenever the server reports that they changed, until it dies."""
        tools = client.server_capabilities.tools
        listens = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        async with asyncio.TaskGroup() as group:
            if listens and tools and tools.list_changed:
                group.create_task(self._listen(client))
            group.create_task(self._relist(client))
            await self._died.wait()
            raise ServerFailed(self._error_message(EOFError("its process ended")))

    async def _listen(self, client: Client) -> None:
        with suppress(MCPError, SubscriptionLost, httpx2.HTTPError):  # the next call notices
            async with client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self._changed.set()

    async def _relist(self, client: Client) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            try:
                async with asyncio.timeout(_LISTING):
                    await self._list(client)
            except (MCPError, ValidationError, httpx2.HTTPError, TimeoutError) as error:
                log.warning(
                    "%s did not list its tools again: %s", self.name, self._error_message(error)
                )

    async def _log_errors(self, stack: AsyncExitStack, reading: int) -> None:
        """Log what the server's process writes to stderr, and notice its end."""
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(reading, "rb")
        )
        stack.callback(transport.close)

        async def follow() -> None:
            remainder = b""
            while piece := await reader.read(65536):
                *lines, remainder = (remainder + piece).split(b"\n")
                remainder = remainder[-_LONGEST_LINE:]
                for line in lines:
                    text = self._masker.text(line.decode(errors="replace").strip())
                    if text := one_line(text)[:_LONGEST_LINE]:
                        self._error_lines.append(text)
                        log.info("%s: %s", self.name, text)
            self._died.set()

        stack.callback(asyncio.create_task(follow()).cancel)

    def _error_message(self, error: BaseException) -> str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        match error:
            case ServerFailed():
                return str(error)
            case TimeoutError():
                message = f"{self.name} did not answer in time"
            case ValidationError():
                message = (
                    f"{self.name} breaks the protocol: {first_problem(error, 'it', secret=True)}"
                )
            case FileNotFoundError() if self.config.command:
                message = (
                    f"there is no command {self.config.command[:80]!r}; correct it in mcp.json"
                )
            case _:
                detail = self._masker.text(str(error)) or type(error).__name__
                message = f"{self.name}: {one_line(detail)[:300]}"
        last_words = f"; it said: {' / '.join(self._error_lines)}" if self._error_lines else ""
        return message + last_words
