"""`selfeng mcp`: an agent's client over standard input and output reaches the app that runs."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from selfeng.doors.fixed_tools import FIXED
from selfeng.store.backup import in_use
from tests.fork_server import ROOT
from tests.web.server_process import ServerProcess

ARGUMENTS = ["-m", "selfeng", "mcp"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    process = ServerProcess(tmp_path_factory.mktemp("mcp"), "eventlet", MCP_TOOLS="all")
    yield process
    assert process.end() == (0, "")
    assert process.errors == ""


@asynccontextmanager
async def connected(
    environment: dict[str, str], mode: str, handler: Any = None, elicitation: Any = None
) -> AsyncIterator[Client]:
    command = StdioServerParameters(
        command=sys.executable, args=ARGUMENTS, env={**os.environ, **environment}, cwd=ROOT
    )
    async with Client(
        command, mode=mode, message_handler=handler, elicitation_callback=elicitation
    ) as client:
        yield client


async def test_it_forwards_calls_steps_errors_and_changes(server: ServerProcess) -> None:
    told, changed = list[str](), asyncio.Event()

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")
        if message == "Run the tool in the sandbox":
            await client.call_tool("ask", {"request": "release here"})

    async def handler(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            changed.set()

    async with connected({"SELFENG_URL": server.link}, "legacy", handler) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        built = await client.call_tool("ask", {"request": "build here"}, progress_callback=progress)
        wrong = await client.call_tool("run_tool", {"name": "add", "arguments": {"a": -1}})
        await client.call_tool("ask", {"request": "grow tool"})
        await changed.wait()
    assert names == [*FIXED, "add"]
    assert (built.structured_content or {})["answer"] == "One."
    assert told[-1] == "Write the answer"
    assert (wrong.is_error, wrong.content) == (
        True,
        [types.TextContent(text="ValueError: a is negative")],
    )


async def test_the_consent_of_a_form_reaches_the_app(server: ServerProcess) -> None:
    async def fill(context: Any, params: Any) -> types.ElicitResult:
        (field,) = params.requested_schema["properties"]
        return types.ElicitResult(action="accept", content={field: "always"})

    needed = {"tool": "rate_of", "need": "api.example.org"}
    async with connected({"SELFENG_URL": server.link}, "legacy", elicitation=fill) as client:
        await client.call_tool("ask", {"request": "connect"})
        allowed = await client.call_tool("allow_need", needed)
        revoked = await client.call_tool("revoke_grant", needed)
    assert allowed.structured_content == {"allowed": "api.example.org"}
    assert revoked.structured_content == {"revoked": 1}


async def test_cancelling_a_call_stops_the_turn_of_the_app(server: ServerProcess) -> None:
    ready = asyncio.Event()

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        ready.set()

    def stopped() -> None:
        with server.program() as program, server.socket(program) as page:
            found = program.get(f"{server.url}/api/v1/conversations", params={"q": "cancelled"})
            (one,) = found.json()["conversations"]
            assert page.whole(one["id"], until="turn_stopped")

    address = {"SELFENG_URL": f"{server.url}/mcp", "ACCESS_TOKEN": server.token}
    async with connected(address, "auto") as client:
        call = asyncio.create_task(
            client.call_tool("ask", {"request": "build cancelled"}, progress_callback=progress)
        )
        await ready.wait()
        call.cancel()
        await asyncio.to_thread(stopped)


def refusal(folder: Path, **environment: str) -> str:
    """The error of the command that ends at once."""
    ran = subprocess.run(
        [sys.executable, *ARGUMENTS],
        env={**os.environ, "DATA_DIR": str(folder), "FLASK_PORT": "1", **environment},
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    return ran.stderr


def test_it_says_what_it_lacks(server: ServerProcess, tmp_path: Path) -> None:
    assert refusal(tmp_path, SELFENG_URL=f"{server.url}/?token=wrong").splitlines() == [
        f"error: {server.url} refuses the access token",
        "set ACCESS_TOKEN to the server's, or SELFENG_URL to the link that it printed",
    ]
    assert refusal(tmp_path, SELFENG_URL="http://127.0.0.1:1").splitlines() == [
        "error: nothing answers at http://127.0.0.1:1: All connection attempts failed",
        "start the server, or correct SELFENG_URL",
    ]


def test_it_opens_no_second_engine_on_the_same_data(tmp_path: Path) -> None:
    with in_use(tmp_path):
        assert refusal(tmp_path).splitlines() == [
            f"error: another process uses {tmp_path}, and nothing answers at http://127.0.0.1:1",
            "set SELFENG_URL to the link that the server printed",
        ]
