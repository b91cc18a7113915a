"""The MCP server, with the official client over HTTP: what agents of other programs can do, and how
a call ends.
"""

import asyncio
import json
import os
import shutil
import subprocess
import time
from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx2
import mcp_types as types
import pytest
import requests
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from selfeng.core.changes import Changes
from selfeng.core.http import NetworkAccess
from selfeng.core.places import HOME
from selfeng.core.settings import load_settings
from selfeng.core.verdict import Raised
from selfeng.doors.call_results import executed, text_result
from selfeng.doors.engine_tools import MOST_LISTED, EngineTools, Listed
from selfeng.doors.fixed_tools import FIXED
from selfeng.doors.mcp_server import TASKS, Report, mcp_server
from tests.web.fake_engine import DRAWN, QUESTIONS, FakeEngine
from tests.web.server_process import ServerProcess
from web.access import PERSON
from web.mcp_routes import LARGEST_CALL
from web.resources import call_report
from web.serving import AsyncMode

BOTH = pytest.mark.parametrize("mode", ["legacy", "auto"])
"""With the handshake of protocols before 2026, and without."""
LATEST, BEFORE = "2026-07-28", "2025-11-25"
Handler = Callable[[Any], Awaitable[None]]


@pytest.fixture(
    scope="module", params=["eventlet", pytest.param("threading", marks=pytest.mark.everywhere)]
)
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    process = ServerProcess(
        tmp_path_factory.mktemp("mcp"), cast(AsyncMode, request.param), MCP_TOOLS="all"
    )
    yield process
    assert process.end() == (0, "")
    assert process.errors == ""


@asynccontextmanager
async def connected(
    server: ServerProcess,
    mode: str = "auto",
    handler: Handler | None = None,
    elicitation: Any = None,
) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {server.token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=20) as http:
        transport = streamable_http_client(f"{server.url}/mcp", http_client=http)
        async with Client(
            transport, mode=mode, message_handler=handler, elicitation_callback=elicitation
        ) as client:
            yield client


async def asked(client: Client, request: str, **more: Any) -> types.CallToolResult:
    return await client.call_tool("ask", {"request": request, **more})


async def untold(words: str) -> None:
    """Nobody wants to know the steps."""


def text(result: types.CallToolResult) -> str:
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return content.text


def wait_until_stopped(server: ServerProcess, title: str) -> None:
    """Wait for the end of the conversation's turn, which is that it was stopped."""
    with server.program() as program, server.socket(program) as page:
        listed = program.get(f"{server.url}/api/v1/conversations", params={"q": title}).json()
        (one,) = listed["conversations"]
        assert page.whole(one["id"], until="turn_stopped")


@BOTH
async def test_fixed_tools_come_first_and_then_those_of_the_library(
    server: ServerProcess, mode: str
) -> None:
    async with connected(server, mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools)[: len(FIXED)] == [*FIXED]
    hints = {name: tool.annotations for name, tool in tools.items() if tool.annotations}
    reading = [name for name, hint in hints.items() if hint.read_only_hint]
    destructive = [name for name, hint in hints.items() if hint.destructive_hint]
    assert reading == ["find_tools", "list_grants", "library_health", "list_schedules"]
    assert destructive == ["revoke_grant"]
    assert tools["ask"].input_schema["required"] == ["request"]
    assert tools["add"].input_schema == {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}},
        "required": ["a"],
        "additionalProperties": False,
    }


async def test_a_tool_is_found_and_run_without_a_model(server: ServerProcess) -> None:
    async with connected(server) as client:
        found = await client.call_tool("find_tools", {"request": "1 plus 2"})
        nothing = await client.call_tool("find_tools", {"request": "sing"})
        ran = await client.call_tool("run_tool", {"name": "add", "arguments": {"a": 1, "b": 2}})
        by_name = await client.call_tool("add", {"a": 3})
    (tool,) = found.structured_content["tools"]
    assert (tool["name"], tool["confidence"]) == ("add", 0.9)
    assert tool["input_schema"]["required"] == ["a"]
    assert nothing.structured_content == {"tools": []}
    assert (text(ran), ran.structured_content) == ("3", {"value": 3})
    assert (text(by_name), by_name.structured_content) == ("4", {"value": 4})


async def test_a_program_imports_tools_as_they_are_found(server: ServerProcess) -> None:
    async with connected(server) as client:
        found = await client.call_tool("find_tools", {"request": "1 plus 2"})
        (tool,) = found.structured_content["tools"]
        code = f"{tool['import']}\ndef program(a, b):\n    return add(a=a, b=b)\n"
        ran, raised, refused = [
            await client.call_tool("run_program", {"code": text, "arguments": {"a": a, "b": 2}})
            for text, a in ((code, 1), (code, -1), ("import gone", 1))
        ]
    assert tool["signature"] == "add(a: int, b: int = 1) -> int"
    tools = [{"name": "add", "version": 2}]
    assert (text(ran), ran.structured_content) == ("3", {"value": 3, "tools": tools})
    assert (text(raised), raised.structured_content) == (
        "ValueError: a is negative",
        {"tools": tools},
    )
    assert text(refused).splitlines() == [
        "the code defines no function program at top level",
        "define `def program(...)`, which gets the arguments by name",
    ]
    assert [result.is_error for result in (ran, raised, refused)] == [False, True, True]


@BOTH
async def test_an_error_names_the_value_and_the_remedy(server: ServerProcess, mode: str) -> None:
    async with connected(server, mode) as client:
        results = [
            await client.call_tool("run_tool", {"name": "add", "arguments": {"a": -1}}),
            await client.call_tool("run_tool", {"name": "gone"}),
            await client.call_tool("gone", {}),
            await client.call_tool("add", {"a": "x"}),
            await client.call_tool("ask", {"question": "why"}),
            await asked(client, " "),
            await asked(client, "too many"),
            await asked(client, "say hello", conversation="unknown"),
            await asked(client, "fail"),
        ]
    assert [text(result).splitlines() for result in results] == [
        ["ValueError: a is negative"],
        ["there is no tool 'gone'", "find_tools finds those there are"],
        ["there is no tool 'gone' in this list", "find_tools finds those there are"],
        [
            "a='x' is not int: Input should be a valid integer, unable to parse string as an integer",
            "its signature is add(a: int, b: int = 1) -> int",
        ],
        ["request: Field required", "give request, conversation, answers, files"],
        ["the request is blank", "write what you need"],
        [
            "the queue is full, with 66 requests of yours waiting",
            "wait until one of them runs, or stop one",
        ],
        ["unknown conversation 'unknown'", "begin a new one"],
        ["fail is not in the script"],
    ]
    assert all(result.is_error for result in results)


@BOTH
async def test_the_steps_of_a_turn_are_told_while_it_runs(server: ServerProcess, mode: str) -> None:
    told, ready = list[str](), asyncio.Event()

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(message or "")
        if message == "Run the tool in the sandbox":
            ready.set()

    async with connected(server, mode) as client:
        turn = asyncio.create_task(
            client.call_tool("ask", {"request": f"build {mode}"}, progress_callback=progress)
        )
        await ready.wait()
        await asked(client, f"release {mode}")
        result = await turn
    assert told[0] == "Read the request with everything that came with it"
    assert told[-1] == "Write the answer"
    assert (text(result), result.structured_content["outcome"]) == ("One.", "answered")


async def test_a_conversation_goes_on_and_is_the_visitors_own(server: ServerProcess) -> None:
    async with connected(server) as client:
        first = await asked(client, "say first")
        conversation = first.structured_content["conversation"]
        second = await asked(client, "say second", conversation=conversation)
    assert second.structured_content["conversation"] == conversation
    with server.browser() as browser:
        address = f"{server.url}/api/v1/conversations/{conversation}/records"
        events = [record["event"] for record in browser.get(address).json()["records"]]
    assert [e["answer"] for e in events if e["type"] == "turn_finished"] == ["first", "second"]


async def test_a_wrong_answer_is_corrected_in_its_conversation(server: ServerProcess) -> None:
    async with connected(server) as client:
        first = (await asked(client, "say first")).structured_content
        wrong = {"turn": first["turn"], "complaint": "No", "value": "2"}
        second = await client.call_tool("answer_is_wrong", wrong)
    told = second.structured_content
    assert (told["conversation"], told["answer"]) == (first["conversation"], "No2")


async def test_a_question_says_how_to_answer_it(server: ServerProcess) -> None:
    async with connected(server) as client:
        question = await asked(client, "question")
        told = question.structured_content
        answers = {"unit": "metre", "digits": "2"}
        answer = await asked(client, "", conversation=told["conversation"], answers=answers)
    assert [one["id"] for one in told["questions"]] == [one.id for one in QUESTIONS]
    assert (told["outcome"], question.is_error) == ("asked", False)
    assert told["conversation"] in text(question)
    assert "Which unit?" in text(question)
    assert text(answer) == "unit=metredigits=2"


@BOTH
async def test_a_client_that_shows_forms_is_asked_in_one(server: ServerProcess, mode: str) -> None:
    shown: list[types.ElicitRequestFormParams] = []

    def filled(action: str) -> Any:
        async def fill(context: Any, params: Any) -> types.ElicitResult:
            shown.append(params)
            content = {"unit": "metre", "digits": 2} if action == "accept" else None
            return types.ElicitResult(action=cast(Any, action), content=cast(Any, content))

        return fill

    async with connected(server, mode, elicitation=filled("accept")) as client:
        answer = await asked(client, "question")
    async with connected(server, mode, elicitation=filled("decline")) as client:
        question = await asked(client, "question")
    assert text(answer) == "unit=metredigits=2"
    assert "To answer, call `ask`" in text(question)
    first, _ = shown
    unit, digits = first.requested_schema["properties"].values()
    assert (unit["enum"], digits["type"]) == (list(QUESTIONS[0].options), "number")


@BOTH
async def test_only_the_person_allows_a_tool_what_it_needs(
    server: ServerProcess, mode: str
) -> None:
    needed = {"tool": "rate_of", "need": "api.example.org"}
    shown: list[types.ElicitRequestFormParams] = []

    def says(value: str) -> Any:
        async def fill(context: Any, params: Any) -> types.ElicitResult:
            shown.append(params)
            if not value:
                return types.ElicitResult(action="decline")
            (field,) = params.requested_schema["properties"]
            return types.ElicitResult(action="accept", content={field: value})

        return fill

    async def grants(client: Client) -> dict[str, Any]:
        listed = await client.call_tool("list_grants", {"tool": "rate_of"})
        return cast(dict[str, Any], listed.structured_content)

    async with connected(server, mode) as client:
        await asked(client, "connect")
        refused = await client.call_tool("allow_need", needed)
        cheated = [
            await client.call_tool("allow_need", {**needed, "answers": {"allow_1": "always"}}),
            await client.call_tool("allow_need", {**needed, "need": "evil.example.org"}),
        ]
        assert (await grants(client))["grants"] == []
    for value, is_error in (("", True), ("no", True), ("always", False)):
        async with connected(server, mode, elicitation=says(value)) as client:
            result = await client.call_tool("allow_need", needed)
            assert result.is_error is is_error, text(result)
            allowed = await grants(client)
    async with connected(server, mode) as client:
        revoked = await client.call_tool("revoke_grant", {"tool": "rate_of"})
        left = await grants(client)
    error = cast(dict[str, Any], refused.structured_content)["error"]
    assert "`selfeng grants allow rate_of api.example.org`" in error["remedy"]
    assert (error["cause"], [need["host"] for need in error["needs"]]) == (
        "consent",
        ["api.example.org"],
    )
    assert [one.is_error for one in cheated] == [True, True]
    assert shown[0].requested_schema["properties"].popitem()[1]["enum"] == ["always", "no"]
    assert "send requests to api.example.org" in shown[0].message
    assert text(result) == "rate_of may have GET https://api.example.org/"
    (grant,) = allowed["grants"]
    assert (grant["tool"], grant["need"]["host"]) == ("rate_of", "api.example.org")
    assert [need["host"] for need in allowed["ungranted"]] == ["other.example.org", "{url}"]
    assert (text(revoked), left["grants"]) == ("1 grant revoked", [])


async def test_a_call_without_consent_says_what_it_needs(server: ServerProcess) -> None:
    async with connected(server) as client:
        await asked(client, "connect")
        calls = [
            await client.call_tool("run_tool", {"name": name, "arguments": {"a": 1}})
            for name in ("rate_of", "ordinal_of")
        ]
        turn = await asked(client, "lack")
    errors = [cast(dict[str, Any], call.structured_content)["error"] for call in (*calls, turn)]
    assert [error["cause"] for error in errors] == ["consent"] * 3
    assert [need["host"] for need in errors[0]["needs"]] == ["api.example.org", "other.example.org"]
    assert [need["name"] for need in errors[1]["needs"]] == ["humanize"]
    assert errors[2]["values"]["needs"] == "api.example.org"
    assert all("selfeng grants allow" in text(call) for call in (*calls, turn))


def test_a_call_that_was_redirected_names_the_host_as_data() -> None:
    access = NetworkAccess(host="other.example.org", after="api.example.org")
    raised = Raised(type_name="NetworkRefused", message="it redirects", lacks=access)
    structured = cast(dict[str, Any], executed(raised).structured_content)
    assert structured["error"]["needs"] == [access.model_dump(mode="json")]
    assert call_report(raised).lacks == access


async def test_files_come_within_a_call(server: ServerProcess) -> None:
    table, raw = (
        {"name": "t.csv", "text": "a"},
        {"name": "b.bin", "data": b64encode(b"\0b").decode()},
    )
    wrong = ({"name": "a"}, {"name": "../a", "text": ""}, {"name": "a", "data": "§"})
    async with connected(server) as client:
        back = await asked(client, "say back", files=[table, raw])
        ran = await client.call_tool(
            "run_tool", {"name": "add", "arguments": {"a": 1}, "files": [table]}
        )
        refused = [await asked(client, "say hello", files=[one]) for one in wrong]
    assert back.structured_content["files"] == ["back-t.csv", "back-b.bin"]
    assert ran.structured_content == {"value": 2}
    assert [one.is_error for one in refused] == [True] * 3
    assert "the file a needs text or data" in text(refused[0])


async def test_files_are_content_and_pictures_are_images(server: ServerProcess) -> None:
    async with connected(server) as client:
        drawn = await asked(client, "draw")
    _, picture, table = drawn.content
    assert isinstance(picture, types.ImageContent)
    assert picture.mime_type == "image/png"
    assert picture.data == b64encode(DRAWN["chart.png"]).decode()
    assert isinstance(table, types.EmbeddedResource)
    assert isinstance(table.resource, types.BlobResourceContents)
    assert (table.resource.uri, table.resource.mime_type) == ("file:///data.csv", "text/csv")
    assert table.resource.blob == b64encode(DRAWN["data.csv"]).decode()
    assert drawn.structured_content["files"] == ["chart.png", "data.csv"]


async def test_a_new_tool_is_in_the_result_and_told_to_who_listens(server: ServerProcess) -> None:
    told = asyncio.Event()

    async def handler(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            told.set()

    async with (
        connected(server, "legacy", handler),
        connected(server) as client,
        client.listen(tools_list_changed=True) as changes,
    ):
        built = await asked(client, "born shout")
        await told.wait()
        await anext(aiter(changes))
        names = [tool.name for tool in (await client.list_tools()).tools]
    (tool,) = built.structured_content["new_tools"]
    assert (tool["name"], tool["input_schema"]["required"]) == ("shout", ["text"])
    assert "shout" in names


@BOTH
async def test_cancelling_a_call_stops_its_turn(server: ServerProcess, mode: str) -> None:
    title, ready = f"build cancelled-{mode}", asyncio.Event()

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        ready.set()

    async with connected(server, mode) as client:
        call = asyncio.create_task(
            client.call_tool("ask", {"request": title}, progress_callback=progress)
        )
        await ready.wait()
        call.cancel()
        await asyncio.to_thread(wait_until_stopped, server, title)


@BOTH
async def test_a_client_that_leaves_stops_its_turn(server: ServerProcess, mode: str) -> None:
    title = f"build left-{mode}"
    async with (
        httpx2.AsyncClient(headers=spoken(server, mode), timeout=20) as http,
        http.stream("POST", f"{server.url}/mcp", json=call_of(title)) as stream,
    ):
        async for line in stream.aiter_lines():
            if "Run the tool" in line:
                break
    await asyncio.to_thread(wait_until_stopped, server, title)


class Tasks:
    """A client that knows the tasks of the extension, without the SDK, which does not."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server

    def ask(self, request: str, **more: Any) -> dict[str, Any]:
        return self.call("ask", {"request": request, **more})

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The result of `tools/call`."""
        return self._result("tools/call", name, {"name": name, "arguments": arguments})

    def get(self, task: str) -> dict[str, Any]:
        return self._result("tasks/get", task, {"taskId": task})

    def cancel(self, task: str) -> dict[str, Any]:
        return self._result("tasks/cancel", task, {"taskId": task})

    def until_ended(self, task: str) -> dict[str, Any]:
        while (state := self.get(task))["status"] == "working":
            time.sleep(0.05)
        return state

    def _result(self, method: str, name: str, params: dict[str, Any]) -> dict[str, Any]:
        meta = {
            "io.modelcontextprotocol/protocolVersion": LATEST,
            "io.modelcontextprotocol/clientCapabilities": {"extensions": {TASKS: {}}},
        }
        headers = spoken(self._server, "auto") | {"Mcp-Method": method, "Mcp-Name": name}
        message = {"jsonrpc": "2.0", "id": 7, "method": method, "params": {**params, "_meta": meta}}
        address = f"{self._server.url}/mcp"
        answer = requests.post(address, json=message, headers=headers, timeout=20)
        text = answer.content.decode()
        if answer.headers["Content-Type"].startswith("text/event-stream"):
            text = next(line[5:] for line in text.splitlines() if line.startswith("data:"))
        said: dict[str, Any] = json.loads(text)
        return said.get("result") or {"error": said["error"]}


def test_a_client_that_knows_tasks_gets_one_and_may_leave(server: ServerProcess) -> None:
    client = Tasks(server)
    begun = client.ask("hold task")
    assert (begun["resultType"], begun["status"], begun["ttlMs"]) == ("task", "working", None)
    assert begun["pollIntervalMs"] > 0
    working = client.get(begun["taskId"])
    assert (working["resultType"], working["status"]) == ("complete", "working")
    client.ask("release task")
    ended = client.until_ended(begun["taskId"])
    assert ended["status"] == "completed"
    assert ended["createdAt"] <= ended["lastUpdatedAt"]
    assert ended["result"]["structuredContent"]["turn"] == begun["taskId"]
    assert ended["result"]["structuredContent"]["outcome"] == "answered"
    assert not ended["result"]["isError"]


def test_a_task_is_cancelled_and_a_strange_one_is_refused(server: ServerProcess) -> None:
    client = Tasks(server)
    task = client.ask("hold cancelled-task")["taskId"]
    assert client.cancel(task)["resultType"] == "complete"
    assert client.until_ended(task)["status"] == "cancelled"
    assert client.get("strange")["error"]["code"] == -32602
    assert client.cancel("strange")["error"]["code"] == -32602


def test_what_ends_soon_or_can_not_begin_is_no_task(server: ServerProcess) -> None:
    client = Tasks(server)
    ran = client.call("run_tool", {"name": "add", "arguments": {"a": 3}})
    assert ran["content"][0]["text"] == "4"
    assert client.call("find_tools", {"request": "1 plus 2"})["structuredContent"]["tools"]
    refused = client.ask("1", conversation="strange")
    assert refused["isError"]
    assert "strange" in refused["content"][0]["text"]


async def test_a_silent_call_says_that_it_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("selfeng.doors.mcp_server._ALIVE", 0.01)
    told: list[str | None] = []
    enough = asyncio.Event()

    class Slow:
        changed = Changes[[]]()

        async def tools(self) -> list[types.Tool]:
            return [types.Tool(name="slow", input_schema={"type": "object"})]

        async def call(
            self, name: str, arguments: object, report: Report, answers: object = None
        ) -> types.CallToolResult:
            await report("halfway")
            await enough.wait()
            return text_result("done")

    async def progress(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)
        if len(told) == 3:
            enough.set()

    async with Client(mcp_server(Slow())) as client:
        result = await client.call_tool("slow", {}, progress_callback=progress)
    assert text(result) == "done"
    assert set(told) == {"halfway"}
    assert len(told) >= 3


def call_of(request: str) -> dict[str, Any]:
    """The message of a client that asks and wants to know the steps, of any protocol."""
    meta = {
        "progressToken": 1,
        "io.modelcontextprotocol/protocolVersion": LATEST,
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    params = {"name": "ask", "arguments": {"request": request}, "_meta": meta}
    return {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}


def spoken(server: ServerProcess, mode: str) -> dict[str, str]:
    """The headers of a client, after its handshake where the protocol has one."""
    headers = {
        "Authorization": f"Bearer {server.token}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": LATEST,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "ask",
    }
    if mode == "auto":
        return headers
    params = {
        "protocolVersion": BEFORE,
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    headers["MCP-Protocol-Version"] = BEFORE
    address, begin = f"{server.url}/mcp", {"jsonrpc": "2.0", "id": 1, "method": "initialize"}
    answer = requests.post(address, json={**begin, "params": params}, headers=headers, timeout=20)
    headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]
    begun = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    requests.post(address, json=begun, headers=headers, timeout=20)
    return headers


def test_nobody_without_the_token_or_under_another_name_gets_in(server: ServerProcess) -> None:
    address = f"{server.url}/mcp"
    for method in ("GET", "POST", "DELETE"):
        assert requests.request(method, address).status_code == 401
        with server.program() as program:
            for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
                assert program.request(method, address, headers=headers).status_code == 403


async def test_a_request_may_be_larger_than_elsewhere(server: ServerProcess) -> None:
    async with connected(server) as client:
        long = await client.call_tool("add", {"a": "x" * 100_000})
    assert long.is_error
    assert text(long).endswith("its signature is add(a: int, b: int = 1) -> int")
    with server.program() as program:
        assert program.post(f"{server.url}/mcp", data=b" " * (LARGEST_CALL + 1)).status_code == 413


async def test_a_bug_of_the_engine_is_logged_and_says_nothing_of_itself(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    engine = FakeEngine(load_settings(env_file=None).model_copy(update={"data_dir": tmp_path}))
    tools = EngineTools(cast(Any, engine), PERSON, "none")
    result = await tools.call("ask", {"request": "crash"}, untold)
    await engine.aclose()
    assert result.is_error
    assert text(result) == "An unexpected error; the server's log has it."
    assert "the engine has a bug" in caplog.text


@pytest.mark.parametrize("listed", ["trusted", "all", "none"])
async def test_the_setting_says_which_tools_are_listed(tmp_path: Path, listed: Listed) -> None:
    settings = load_settings(env_file=None).model_copy(update={"data_dir": tmp_path})
    engine = FakeEngine(settings)
    tools = EngineTools(cast(Any, engine), PERSON, listed)
    few = [tool.name for tool in await tools.tools()][len(FIXED) :]
    engine.library.stock(100)
    many = [tool.name for tool in await tools.tools()][len(FIXED) :]
    await engine.aclose()
    assert few == (["add"] if listed == "all" else [])
    assert len(many) == (0 if listed == "none" else MOST_LISTED)
    standings = {tool.standing for tool in await engine.library.tools() if tool.name in many}
    expected = {"trusted": {"trusted"}, "all": {"trusted", "provisional"}, "none": set[str]()}
    assert standings == expected[listed]


async def test_the_server_ends_at_once_while_somebody_listens(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, "eventlet")
    headers = await asyncio.to_thread(spoken, server, "legacy")
    async with (
        httpx2.AsyncClient(headers=headers, timeout=20) as http,
        http.stream("GET", f"{server.url}/mcp") as stream,
    ):
        assert await anext(stream.aiter_bytes())
        assert await asyncio.to_thread(server.end) == (0, "")
    assert server.errors == ""


@pytest.mark.skipif(
    not shutil.which("node") or not (HOME / "node_modules/@ai-sdk/mcp").is_dir(),
    reason="run: npm ci",
)
def test_a_client_of_another_maker_lists_asks_and_runs(server: ServerProcess) -> None:
    address = {"ADDRESS": f"{server.url}/mcp", "TOKEN": server.token}
    program = Path(__file__).with_name("other_client.js")
    ended = subprocess.run(
        ["node", str(program)],
        env={**os.environ, **address},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    found = json.loads(ended.stdout)
    assert found["names"][:4] == ["ask", "answer_is_wrong", "find_tools", "run_tool"]
    assert "add" in found["names"]
    assert found["ran"]["structuredContent"] == {"value": 3}
    assert found["asked"]["content"] == [{"type": "text", "text": "hello"}]
    assert found["refused"]["isError"] is True
