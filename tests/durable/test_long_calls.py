"""A call that a person allowed more than usual, in a server that is killed with -9 meanwhile."""

import json
import os
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import requests

from selfeng.core.spec import SpecExample, Specification, SpecificationReply, SpecParameter
from selfeng.core.verdict import CallLimits
from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.home import Home, bare_home

pytestmark = [pytest.mark.bubblewrap]

TOKEN = "a-token-that-is-hard-to-guess"
PER_SECOND = 5
"""Steps of the tool."""
CODE = f'''
import time


def add_slowly(steps: int) -> int:
    """Add the numbers from 1 to `steps`."""
    total = 0
    for step in range(1, steps + 1):
        time.sleep(1 / {PER_SECOND})
        total += step
        print(f"{{step}} of {{steps}}")
    return total
'''
TESTS = """
import pytest

from add_slowly import add_slowly


@pytest.mark.parametrize(("steps", "total"), [(0, 0), (1, 1), (2, 3), (3, 6)])
def test_adds_the_numbers(steps, total):
    assert add_slowly(steps) == total
"""


class Author:
    """Orders and writes the tool, and counts who asks."""

    def __init__(self, steps: int) -> None:
        self.asked: Counter[str] = Counter()
        self._cookbook = Cookbook()
        reply = SpecificationReply(
            outcome="tool",
            message="",
            specification=Specification(
                name="add_slowly",
                description="Add the numbers from 1 to a number, slowly.",
                parameters=(
                    SpecParameter(name="steps", annotation="int", default=None, description="n"),
                ),
                returns="int",
                returns_description="the sum",
                errors="none",
                user_examples=(),
                examples=(SpecExample(call="add_slowly(steps=3)", result="6"),),
                example_requests=("add the numbers up to 5 slowly",),
                limits=CallLimits(seconds=600),
            ),
            call=f"add_slowly(steps={steps})",
        )
        total = steps * (steps + 1) // 2
        self._replies: Mapping[str, str] = {
            "specification": reply.model_dump_json(),
            "tests": f"```python\n{TESTS}```",
            "implementation": f"```python\n{CODE}```",
            "answer": f"The sum is {total}.",
            "results": f"The sum is {total}.",
        }

    def complete(self, request: CompletionRequest) -> Completion:
        self.asked[request.prompt] += 1
        if request.prompt in self._replies:
            return Completion(content=self._replies[request.prompt])
        return self._cookbook.complete(request)


class Server:
    """A life of the server, and a program that uses it."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self.process = process
        self._address = process.stdout.readline().partition("/?token=")[0]
        self._headers = {"Authorization": f"Bearer {TOKEN}"}

    def ask(self, **body: Any) -> dict[str, str]:
        address = f"{self._address}/api/v1/turns"
        answer = requests.post(address, json=body, headers=self._headers, timeout=60)
        asked: dict[str, str] = answer.json()
        assert answer.status_code == 202, asked
        return asked

    def events(self, turn: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """The records of a turn until it has ended, each with its number as `seq`."""
        headers = {**self._headers, "Accept": "text/event-stream", "Last-Event-ID": str(after)}
        address = f"{self._address}/api/v1/turns/{turn}"
        with requests.get(address, headers=headers, stream=True, timeout=120) as answer:
            for line in answer.iter_lines(decode_unicode=True):
                if line.startswith("data: "):
                    yield json.loads(line.removeprefix("data: "))


@contextmanager
def serving(home: Home, model: OfflineServer) -> Iterator[Server]:
    process = home.start(
        "web/app.py",
        ACCESS_TOKEN=TOKEN,
        OPENAI_BASE_URL=model.base_url,
        OPENAI_API_KEY=model.api_key,
        OPENAI_MODEL=model.model,
        SYNTHESIS_CANDIDATES="1",
    )
    try:
        yield Server(process)
    finally:
        process.kill()
        process.communicate()


def progress(events: list[dict[str, Any]]) -> list[int]:
    """The steps that the call told, in their order."""
    texts = [e["text"] for e in events if e["type"] == "execution_progress" and e["text"]]
    return [int(text.partition(" of ")[0]) for text in texts]


@pytest.mark.parametrize("seconds", [5, pytest.param(180, marks=pytest.mark.everywhere)])
@pytest.mark.timeout(600)
def test_a_long_call_survives_the_servers_death_and_is_answered_once(
    tmp_path: Path, seconds: int
) -> None:
    steps = seconds * PER_SECOND
    author, home = Author(steps), bare_home(tmp_path, bubblewrap=True)
    with OfflineServer(author, delay=0) as model:
        with serving(home, model) as server:
            asked = server.ask(text=f"Add the numbers up to {steps}, slowly")
            (question,) = [
                question
                for record in server.events(asked["turn_id"])
                if record["event"]["type"] == "questions_asked"
                for question in record["event"]["questions"]
            ]
            assert "600" in question["question"]
            again = server.ask(
                text="",
                conversation_id=asked["conversation_id"],
                answers={question["id"]: "always"},
            )
            first = []
            for record in server.events(again["turn_id"]):
                first.append(record)
                if progress([record["event"]]) and progress([r["event"] for r in first])[-1] > 2:
                    break
            os.kill(server.process.pid, 9)
        paid = author.asked.copy()
        with serving(home, model) as server:
            second = list(server.events(again["turn_id"], after=first[-1]["seq"]))
            whole = list(server.events(again["turn_id"]))
            (tool,) = requests.get(
                f"{server._address}/api/v1/tools", headers=server._headers, timeout=60
            ).json()["tools"][:1]
    events = [record["event"] for record in second]
    resumed = [e["again"] for e in events if e["type"] == "turn_resumed"]
    assert resumed == [False], [e["type"] for e in events]
    told = progress(events)
    assert told, [e["type"] for e in events]
    assert told == sorted(told)
    types = Counter(record["event"]["type"] for record in whole)
    once = ("executing", "execution_finished", "turn_finished")
    assert {name: types[name] for name in once} == dict.fromkeys(once, 1), types
    assert "execution_failed" not in types
    last = whole[-1]["event"]
    assert f"{steps * (steps + 1) // 2}" in last["answer"]
    assert tool["uses"] == 1
    calls = author.asked - paid
    del calls["lessons"]  # an idle server looks for some at any time
    assert calls == Counter({"answer": 1}), author.asked
