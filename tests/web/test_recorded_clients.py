"""Requests that chat programs sent, recorded with the versions that `recorded_clients.jsonl` names,
sent again.

Each line has the client, the path, the body, and what is expected: the words of the agent, or
`model` for an answer of the model behind it, `failed` for a turn that fails, or `refused`. Long texts
and lists of tools are shortened. A `previous_response_id` of LAST stands for the response before.
"""

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import requests

from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.web.server_process import ServerProcess
from tests.web.test_openai import conversations, in_front_of

RECORDED = [
    json.loads(line)
    for line in Path(__file__).with_name("recorded_clients.jsonl").read_text("utf-8").splitlines()
]
CLIENTS = {
    client: list(sent) for client, sent in groupby(RECORDED, key=lambda line: str(line["client"]))
}


@pytest.fixture(scope="module")
def real_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with OfflineServer(Cookbook(), delay=0) as model:
        server = in_front_of(model, tmp_path_factory.mktemp("recorded"))
        yield server
        assert server.end() == (0, "")


class Reply:
    """The response to a request."""

    def __init__(self, server: ServerProcess, path: str, body: dict[str, Any]) -> None:
        with server.program() as program:
            reply = program.post(f"{server.url}{path}", json=body, timeout=20)
        self.status, self.by = reply.status_code, reply.headers.get("Selfeng-Answered-By")
        self.ignored = reply.headers.get("Selfeng-Ignored")
        self.values = list(self._values(reply))
        self.id = ""
        for value in self.values:
            self.id = value.get("response", value).get("id", self.id)

    def _values(self, reply: requests.Response) -> Iterator[dict[str, Any]]:
        if "event-stream" not in reply.headers["Content-Type"]:
            yield reply.json()
            return
        for line in reply.text.splitlines():
            if line.startswith("data: {"):
                yield json.loads(line.removeprefix("data: "))

    @property
    def error(self) -> dict[str, Any] | None:
        last = self.values[-1]
        found: dict[str, Any] | None = last.get("response", last).get("error")
        return found

    @property
    def text(self) -> str:
        return "".join(text for value in self.values for text in self._texts(value))

    def _texts(self, value: dict[str, Any]) -> Iterator[str]:
        for choice in value.get("choices", ()):
            yield choice.get("message", choice.get("delta", {})).get("content") or ""
        if value.get("type") == "response.output_text.delta":
            yield value["delta"]
        for item in value.get("output", ()):
            yield from (part["text"] for part in item.get("content") or ())


def begins(body: dict[str, Any]) -> bool:
    """Whether it is the first request of a conversation."""
    said = body.get("messages") or body["input"]
    return "previous_response_id" not in body and not any(
        message.get("role") == "assistant" for message in said
    )


@pytest.mark.parametrize("client", CLIENTS)
def test_a_conversation_of_a_client_is_answered(client: str, real_server: ServerProcess) -> None:
    last = ""
    for line in CLIENTS[client]:
        body, expected = dict(line["body"]), line["expect"]
        if body.get("previous_response_id") == "LAST":
            body["previous_response_id"] = last
        before = len(conversations(real_server))
        reply = Reply(real_server, line["path"], body)
        begun = len(conversations(real_server)) - before
        last = reply.id
        match expected:
            case "model":
                assert (reply.status, reply.by, begun) == (200, "model", 0)
                assert reply.text
            case "refused":
                assert reply.error
                assert (reply.status, begun) == (400, 0)
                assert "use /v1/chat/completions" in reply.error["message"]
            case "failed":
                assert reply.error
                assert begun == begins(body)
            case _:
                assert reply.text == expected
                assert (reply.status, reply.by) == (200, "agent")
                assert reply.ignored == ("tools" if body.get("tools") else None)
                assert begun == begins(body)


def test_clients_send_tools_from_the_first_request_on() -> None:
    for sent in CLIENTS.values():
        assert sent[0]["body"]["tools"]
