"""A secret in an entry of mcp.json, on a running server: where it must not turn up."""

import json
import tarfile
import time
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.home import bare_home, serving
from tests.llm import wire_server
from tests.llm.wire_server import Sent, Served
from tests.servers.mcp_examples import entry, write

pytestmark = [pytest.mark.extended, pytest.mark.bubblewrap]

CANARY = "canary/7f 3a"
FORMS = (b"canary/7f", b"canary%2F7f", b"canary\\/7f", b"7f%203a", b"7f 3a", b"7f+3a")
"""How it may look in a text, a URL, JSON and a form."""
PAGES = ("", "healthz", "metrics", *(f"api/v1/{n}" for n in ("servers", "health", "settings",
    "conversations", "tools", "graph", "lessons", "projects", "openapi.json")))  # fmt: skip


def reply(sent: Sent) -> Served:
    """Calls the tool that is asked for, then answers with all that it has seen."""
    body = sent.body or {}
    offered = [tool["function"]["name"] for tool in body.get("tools", [])]
    wanted = [name for name in offered if name.split("__")[-1] in json.dumps(body["messages"][-1])]
    call = {"name": wanted[0], "arguments": '{"text": "x"}'} if wanted else None
    message: dict[str, Any] = {"role": "assistant", "content": None if call else json.dumps(body)}
    if call:
        message["tool_calls"] = [{"index": 0, "id": "c1", "type": "function", "function": call}]
    choice = {"index": 0, "finish_reason": "tool_calls" if call else "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    whole = {"id": "r", "model": "m", "created": 1, "usage": usage}
    if body.get("stream"):
        chunk = {
            **whole,
            "object": "chat.completion.chunk",
            "choices": [{**choice, "delta": message}],
        }
        return wire_server.events(chunk)
    return Served(
        {**whole, "object": "chat.completion", "choices": [{**choice, "message": message}]}
    )


class Client:
    """Keeps the bytes of every answer."""

    def __init__(self, link: str) -> None:
        self.address, _, self._token = link.partition("?token=")
        self.seen: dict[str, bytes] = {}

    def ask(self, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            with urlopen(Request(self.address + path, data, headers), timeout=60) as answer:
                content = answer.read()
        except HTTPError as error:
            content = error.read()
        self.seen[f"{path} {len(self.seen)}"] = content
        return json.loads(content) if content[:1] in (b"{", b"[") else content.decode()


def test_a_secret_of_a_server_is_in_nothing_that_leaves_or_stays(tmp_path: Path) -> None:
    (tmp_path / "leaks").touch()
    leaky = entry(tmp_path, env={"KEY": "${SERVER_KEY}"})
    leaky["args"] += ["--key", "${SERVER_KEY}"]
    url = "http://127.0.0.1:9/${SERVER_KEY}/mcp?k=${SERVER_KEY}"
    web = {"url": url, "headers": {"X": "${SERVER_KEY}"}}
    home = bare_home(tmp_path, bubblewrap=True)
    with wire_server.serving(reply) as model:
        settings: dict[str, Any] = {
            "MCP_SERVERS": str(write(tmp_path, s=leaky, w=web)),
            "SERVER_KEY": CANARY,
            "OPENAI_BASE_URL": f"{model.url}/v1",
            "OPENAI_API_KEY": "sk-1",
            "OPENAI_MODEL": "m",
            "LOG_LEVEL": "DEBUG",
        }
        log: list[str] = []
        with serving(home, log=log, **settings) as link:
            client = Client(link)
            for request in ("leak: show how it was started", "fail: report a full disk"):
                talk(client, request)
            for path in PAGES:
                client.ask(path)
            for conversation in client.ask("api/v1/conversations")["conversations"]:
                look_at(client, f"api/v1/conversations/{conversation['id']}")
        saved = home.run("-m", "selfeng", "backup", str(tmp_path / "all.tar.gz"), **settings)
        assert saved.returncode == 0, saved.stderr
        requests = json.dumps([(r.path, r.headers, r.body) for r in model.requests])
    with tarfile.open(tmp_path / "all.tar.gz") as archive:
        archive.extractall(tmp_path / "home" / "unpacked", filter="data")
    seen = {"requests": requests, "log": "".join(log), "backup": saved.stdout + saved.stderr}
    places = {name: text.encode() for name, text in seen.items()} | client.seen
    places |= {str(f): f.read_bytes() for f in home.folder.rglob("*") if f.is_file()}
    shown = [name for name, content in places.items() if b"${SERVER_KEY}" in content]
    assert {"requests", "log", "api", "share"} <= {name.partition("/")[0] for name in shown}, shown
    leaks = [name for name, content in places.items() if any(f in content for f in FORMS)]
    assert leaks == []


def talk(client: Client, request: str) -> None:
    """A turn, and its continuation once the server is allowed."""
    answers: dict[str, str] = {}
    conversation = None
    for text in (request, ""):
        body = {"text": text, "answers": answers, "conversation_id": conversation}
        begun = client.ask("api/v1/turns", body)
        conversation = begun["conversation_id"]
        while (turn := client.ask(f"api/v1/turns/{begun['turn_id']}"))["outcome"] is None:
            time.sleep(0.1)
        answers = {q["id"]: "always" for q in turn["questions"]}


def look_at(client: Client, conversation: str) -> None:
    """All that shows a conversation: its records, exports and a public link."""
    for path in ("", "/records", "/export.md", "/export.json"):
        client.ask(conversation + path)
    link = client.ask(f"{conversation}/shares", {})["path"].lstrip("/")
    client.ask(link)
    client.ask(f"{link}/conversation")
