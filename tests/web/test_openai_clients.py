"""Published programs on the OpenAI-compatible routes: llm, LangChain, and what Open WebUI sends.

The requests of Open WebUI are formed as `routers/openai.py`, `routers/tasks.py` and
`utils/middleware.py` of its backend form them.
"""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import openai
import pytest
import requests
from pydantic import SecretStr

from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.web.server_process import ServerProcess
from tests.web.test_openai import PIXEL, conversations, in_front_of

if TYPE_CHECKING:
    from langchain_openai import ChatOpenAI


class Llm:
    """The command `llm`, with a folder of its own."""

    def __init__(self, folder: Path, server: ServerProcess) -> None:
        self._folder = folder
        model = {
            "model_id": "selfeng",
            "model_name": "selfeng",
            "api_base": f"{server.url}/v1",
            "api_key_name": "selfeng",
        }
        (folder / "extra-openai-models.yaml").write_text(json.dumps([model]))  # JSON is YAML
        self.use_key(server.token)

    def use_key(self, key: str) -> None:
        (self._folder / "keys.json").write_text(json.dumps({"selfeng": key}))

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "llm", "-m", "selfeng", *arguments],
            env={**os.environ, "LLM_USER_PATH": str(self._folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.mark.extended
def test_llm_asks_and_continues(tmp_path: Path, server: ServerProcess) -> None:
    llm = Llm(tmp_path, server)
    first = llm("say hello llm")
    assert (first.returncode, first.stdout) == (0, "hellollm\n"), first.stderr
    before = [one["id"] for one in conversations(server)]
    assert llm("-c", "--no-stream", "say again").stdout == "again\n"
    assert [one["id"] for one in conversations(server)] == before
    llm.use_key("wrong")
    refused = llm("say it")
    assert refused.returncode == 1
    assert "this needs the access token" in refused.stderr


def chat_openai(server: ServerProcess, key: str = "") -> "ChatOpenAI":
    from langchain_openai import ChatOpenAI  # importing it takes a second

    return ChatOpenAI(
        model="selfeng", base_url=f"{server.url}/v1", api_key=SecretStr(key or server.token)
    )


def test_langchain_asks_streams_and_continues(server: ServerProcess) -> None:
    from langchain_core.messages import AIMessage, HumanMessage

    langchain = chat_openai(server)
    first = HumanMessage("say hello langchain")
    answer = langchain.invoke([first])
    assert answer.content == "hellolangchain"
    assert answer.response_metadata["finish_reason"] == "stop"
    assert answer.usage_metadata is not None
    before = [one["id"] for one in conversations(server)]
    history = [first, AIMessage(answer.text), HumanMessage("say it again")]
    assert "".join(piece.text for piece in langchain.stream(history)) == "itagain"
    assert [one["id"] for one in conversations(server)] == before


def test_langchain_tells_what_is_wrong(server: ServerProcess) -> None:
    langchain = chat_openai(server)
    with pytest.raises(openai.AuthenticationError, match="access token"):
        chat_openai(server, "wrong").invoke("say it")
    with pytest.raises(openai.UnprocessableEntityError):
        langchain.invoke("fail")


HEADERS = {
    "Content-Type": "application/json",
    "X-OpenWebUI-User-Name": "A%20B",
    "X-OpenWebUI-User-Id": "1b2c",
    "X-OpenWebUI-User-Email": "a@example.org",
    "X-OpenWebUI-User-Role": "admin",
    "X-OpenWebUI-Chat-Id": "c-1",
}


class OpenWebUI:
    """Sends what Open WebUI's backend sends."""

    def __init__(self, server: ServerProcess) -> None:
        self._url = f"{server.url}/v1"
        self._headers = {**HEADERS, "Authorization": f"Bearer {server.token}"}

    def models(self) -> list[str]:
        headers = {k: v for k, v in self._headers.items() if k != "Content-Type"}
        found = requests.get(f"{self._url}/models", headers=headers, timeout=10).json()
        return [model["id"] for model in found["data"]]

    def chat(self, *messages: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """The deltas of a streamed reply, then `{"usage": ...}`."""
        body = {
            "stream": True,
            "model": "selfeng",
            "messages": messages,
            "stream_options": {"include_usage": True},
        }
        address = f"{self._url}/chat/completions"
        reply = requests.post(
            address, data=json.dumps(body), headers=self._headers, stream=True, timeout=300
        )
        assert "text/event-stream" in reply.headers["Content-Type"]
        for line in reply.iter_lines(decode_unicode=True):
            if not line or not line.startswith("data:"):  # as its middleware does
                continue
            said = line.removeprefix("data:").strip()
            if said == "[DONE]":
                return
            data = json.loads(said)
            if usage := data.get("usage"):
                yield {"usage": usage}
            for choice in data.get("choices", []):
                yield choice["delta"]
        raise AssertionError("the stream broke off")

    def job(self, text: str, **more: Any) -> dict[str, Any]:
        body = {
            "model": "selfeng",
            "messages": [{"role": "user", "content": text}],
            "stream": False,
            **more,
        }
        address = f"{self._url}/chat/completions"
        reply = requests.post(address, data=json.dumps(body), headers=self._headers, timeout=300)
        found: dict[str, Any] = reply.json()
        return found


def content(deltas: Iterator[dict[str, Any]]) -> str:
    return "".join(delta.get("content") or "" for delta in deltas)


def test_open_webui_lists_chats_and_continues(server: ServerProcess) -> None:
    webui = OpenWebUI(server)
    assert webui.models()[0] == "selfeng"
    first = {"role": "user", "content": "return 3"}
    deltas = list(webui.chat(first))
    assert deltas[0] == {"role": "assistant", "content": ""}
    assert content(iter(deltas)) == "Done."
    reasoning = "".join(delta.get("reasoning_content") or "" for delta in deltas)
    assert reasoning == "Running add\nadd returned 3\n"
    assert set(deltas[-1]["usage"]) == {"prompt_tokens", "completion_tokens", "total_tokens"}
    before = [one["id"] for one in conversations(server)]
    answer = {"role": "assistant", "content": "Done."}
    cached = {"type": "text", "text": "say more", "cache_control": {"type": "ephemeral"}}
    assert content(webui.chat(first, answer, {"role": "user", "content": [cached]})) == "more"
    assert [one["id"] for one in conversations(server)] == before


def test_open_webui_sends_pictures_and_files(server: ServerProcess) -> None:
    picture = f"data:image/png;base64,{base64.b64encode(PIXEL).decode()}"
    paper = f"data:application/pdf;base64,{base64.b64encode(b'%PDF-').decode()}"
    parts = [
        {"type": "text", "text": "say back"},
        {"type": "image_url", "image_url": {"url": picture}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": paper}},
    ]
    said = content(OpenWebUI(server).chat({"role": "user", "content": parts}))
    assert f"![back-image2.png]({picture})" in said
    assert "[back-a.pdf](" in said


def test_what_open_webui_retrieves_goes_to_the_agent_and_its_jobs_to_the_model(
    tmp_path: Path,
) -> None:
    with OfflineServer(Cookbook(), delay=0) as model:
        server = in_front_of(model, tmp_path)
        webui = OpenWebUI(server)
        jobs = {
            "title": ({"max_completion_tokens": 1000}, "Generate a concise, 3-5 word title"),
            "tags": ({}, "Generate 1-3 broad tags categorizing the main themes"),
            "follow-ups": ({}, "Suggest 3-5 relevant follow-up questions or prompts"),
        }
        for more, task in jobs.values():
            history = "<chat_history>\nUSER: say hello\nASSISTANT: hello\n</chat_history>"
            reply = webui.job(
                f"### Task:\n{task} of the chat.\n### Chat History:\n{history}", **more
            )
            assert reply["model"] == model.model
        assert conversations(server) == []
        template = "### Task:\nRespond to the user query using the provided context\n<context>\n"
        retrieved = {"role": "user", "content": f"{template}</context>\n\nsay it"}
        deltas = list(webui.chat(retrieved))
        assert len(conversations(server)) == 1, deltas
        assert server.end() == (0, "")
