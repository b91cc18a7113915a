"""Forwarding: the tools of an app that runs elsewhere, as if they were here."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost

from selfeng.core.changes import Changes
from selfeng.core.errors import ConfigurationError
from selfeng.doors.call_results import text_result
from selfeng.doors.mcp_server import ANSWERS, CONSENT, Report

_PATIENCE = 60.0
"""Seconds of silence; the app says every 15 that it is there."""
_PAUSE = 5.0
"""Seconds before the app is asked again to report changes."""


@asynccontextmanager
async def forwarded(address: str, token: str) -> AsyncIterator["ForwardedTools"]:
    """The tools of the app at `address`, such as `http://127.0.0.1:5000`, as long as the block
    lasts.

    Raises:
        ConfigurationError: nothing answers there, or not to this token.
    """
    headers = {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=_PATIENCE) as http:
        await _check(http, address)
        transport = streamable_http_client(
            f"{address}/mcp", http_client=http, max_sse_event_size=None
        )
        async with Client(transport) as client, asyncio.TaskGroup() as group:
            tools = ForwardedTools(client)
            listening = group.create_task(tools.listen())
            yield tools
            listening.cancel()


async def _check(http: httpx2.AsyncClient, address: str) -> None:
    try:
        answer = await http.get(f"{address}/api/v1/health")
    except httpx2.HTTPError as error:
        raise ConfigurationError(
            f"nothing answers at {address}: {error}", "start the server, or correct SELFENG_URL"
        ) from error
    if answer.status_code == httpx2.codes.UNAUTHORIZED:
        raise ConfigurationError(
            f"{address} refuses the access token",
            "set ACCESS_TOKEN to the server's, or SELFENG_URL to the link that it printed",
        )
    if answer.status_code != httpx2.codes.OK:
        raise ConfigurationError(
            f"{address} answers {answer.status_code}: {answer.text[:200].strip()}",
            "set SELFENG_URL to the address of the app",
        )


class ForwardedTools:
    """The tools of a connected client."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.changed = Changes[[]]()

    async def tools(self) -> list[types.Tool]:
        return (await self._client.list_tools()).tools

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        report: Report,
        answers: Mapping[str, Any] | None = None,
    ) -> types.CallToolResult:
        """The app's result; cancelling it stops the work there."""
        filled = types.ElicitResult(action="accept", content=dict(answers or {}))
        form: dict[str, Any] = {"input_responses": {ANSWERS: filled}, "request_state": CONSENT}

        async def tell(progress: float, total: float | None, message: str | None) -> None:
            await report(message or "")

        try:
            return await self._client.call_tool(
                name, dict(arguments), progress_callback=tell, **({} if answers is None else form)
            )
        except (MCPError, httpx2.HTTPError) as error:
            return text_result(f"The app could not be asked: {error}", failed=True)

    async def listen(self) -> None:
        """Hear of changes until cancelled, also after the app was started again."""
        while True:
            # without an app, as it has ended, calls report it
            with suppress(MCPError, SubscriptionLost, httpx2.HTTPError):
                async with self._client.listen(tools_list_changed=True) as changes:
                    async for _ in changes:
                        self.changed.tell()
            await asyncio.sleep(_PAUSE)
