"""The cost of turns in model calls: `python -m benchmarks.calls`. The last line is JSON.

Everything is the real thing, sandbox and library included, but the model: the built-in offline one
behind its HTTP server, scripted where a turn needs a mistake, a question or a tool that its
cookbook lacks. Each kind of turn is run once; what the learner asks after a turn counts as the
turn's. Tokens are a quarter of the characters of what went over the wire: messages, functions and
schemas, and the reply. `repeated` is the share of a turn's prompts that repeats the beginning of
the call before, which is what a provider's prompt cache could serve. The exit code is 1 if a goal
is missed.

The turns with the default settings, that is three candidates, attach a table, ask in English,
German, Spanish or Japanese for a tool that the library lacks beside near ones, and then for that
tool. `build_rounds` counts calls that are made at the same time once.

turn                             calls   tokens         by stage
reuse                            2       773            search, respond
reuse by a follow-up             2       1,524          search, respond
build, empty library             4       3,741          specify, test, implement, respond
build beside near tools          5       4,798          search and the same
build with three candidates      6       4,945          empty library; implement 3
build with one repair            7       6,393          one more for the repair, one for its lesson
extension of a tool              5       5,072          as a build
plan of two steps, both reuse    5       4,773          search 3, specify, respond
script                           5       7,808          search, specify, delegate 3; the third codes
question, then its answer        2, 6    2,698, 6,301   search, specify; then a build, and a lesson
small talk, declined             2       2,766, 2,906   search, specify
default settings: build, en      7       8,586          search, specify, test, implement 3, respond
the same in de, es, ja           7       8,570, 8,550, 8,462
reuse in en, de, es, ja          2       1,394, 1,607, 1,605, 1,571

A prompt cache could serve nothing again in a build and 41 % in a script, because each stage has a
prompt of its own; so a native connection to Anthropic's API with prompt caching would not pay.
"""

import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import SecretStr

from benchmarks.calls_by_language import ORDERS, Order, scripted, specified
from benchmarks.goals import report
from benchmarks.learning import offline_settings
from selfeng.bootstrap import build_engine
from selfeng.core.events import Event, QuestionsAsked, TurnFailed
from selfeng.core.files import File
from selfeng.core.question import Answer
from selfeng.core.stage import STAGES
from selfeng.engine import Engine
from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer

GOALS = {
    "build_calls": 7,
    "build_rounds": 5,
    "build_tokens": 9_000,
    "reuse_calls": 2,
    "plain_build_calls": 5,
    "script_calls_before_code": 3,
    "lesson_calls": 0,
}
"""The largest allowed figures. The first four are the most of any language with the default
settings, `plain_build_calls` those of a build with one candidate, and `lesson_calls` those after
turns without a mistake.
"""
FIELD = {"build": 7, "reuse": 2, "script_before_code": 3}
"""Calls in the field report of forty turns."""
_STAGE_OF = {prompt: stage.name for stage in STAGES.values() for prompt in stage.prompts}

QUESTION = {
    "outcome": "question",
    "message": "One thing first.",
    "specification": None,
    "questions": [
        {"id": "case", "question": "Do capitals count?", "answer": "yes_no", "default": "no"}
    ],
}
WRONG = "```python\ndef count_vowels(text: str) -> int:\n    return len(text)\n```"
EXTENDED = {
    "outcome": "tool",
    "message": "",
    "call": "count_words(text='the quick brown foxes', longer_than=4)",
    "specification": {
        "name": "count_words",
        "description": "Count the words of a text, those above a number of letters only.",
        "parameters": [
            {
                "name": "text",
                "annotation": "str",
                "default": None,
                "description": "The text whose words are counted.",
            },
            {
                "name": "longer_than",
                "annotation": "int",
                "default": "0",
                "description": "Shorter words, and those of this length, don't count.",
            },
        ],
        "returns": "int",
        "returns_description": "The number of words.",
        "errors": "TypeError if the text is none",
        "user_examples": [],
        "examples": [
            {"call": "count_words(text='a bcd', longer_than=1)", "result": "1"},
            {"call": "count_words(text='a bcd')", "result": "2"},
            {"call": "count_words(text='', longer_than=3)", "result": "0"},
            {"call": "count_words(text='ab ab', longer_than=2)", "result": "0"},
        ],
        "example_requests": ["Count the words with more than 3 letters in 'here we are'"],
    },
}
EXTENDED_TESTS = """```python
from count_words import count_words


def test_only_longer_words_count():
    assert count_words(text="a bcd", longer_than=1) == 1
    assert count_words(text="the quick brown foxes", longer_than=4) == 3


def test_words_of_that_length_do_not_count():
    assert count_words(text="ab ab abc", longer_than=2) == 1


def test_all_words_count_by_default():
    assert count_words(text="a bcd") == 2


def test_empty_text_has_none():
    assert count_words(text="", longer_than=3) == 0
```"""
EXTENDED_CODE = '''```python
"""Words of a text."""

import re

_WORD = re.compile(r"\\w+(?:['’\\-]\\w+)*")


def count_words(text: str, longer_than: int = 0) -> int:
    """Count the words of a text, those above a number of letters only."""
    if not isinstance(text, str):
        raise TypeError(f"text must be a string, not {text!r}")
    return sum(len(word) > longer_than for word in _WORD.findall(text))
```'''


class Seen(NamedTuple):
    """One model call."""

    prompt: str
    asked: str
    replied: str

    @property
    def tokens(self) -> int:
        return (len(self.asked) + len(self.replied)) // 4


class RecordingCookbook:
    """The offline model's cookbook, with replies of a script that come first."""

    def __init__(self) -> None:
        self.calls: list[Seen] = []
        self.script: dict[str, list[Completion]] = {}

    def complete(self, request: CompletionRequest) -> Completion:
        steps = self.script.get(request.prompt)
        reply = steps.pop(0) if steps else Cookbook().complete(request)
        if reply.arguments and "standalone_request" not in json.dumps(request.tools):
            arguments = {k: v for k, v in reply.arguments.items() if k != "standalone_request"}
            reply = reply.model_copy(update={"arguments": arguments})
        written = reply.content + json.dumps(reply.arguments or "")
        sent = [request.tools, request.response_format, *request.messages]
        asked = "\n".join(json.dumps(part, ensure_ascii=False) for part in sent)
        self.calls.append(Seen(request.prompt, asked, written))
        return reply


class Turn(NamedTuple):
    """A kind of turn, and what it cost."""

    kind: str
    calls: Sequence[Seen]

    @property
    def stages(self) -> Mapping[str, int]:
        return Counter(_STAGE_OF.get(call.prompt, call.prompt) for call in self.calls)

    @property
    def tokens(self) -> int:
        return sum(call.tokens for call in self.calls)

    @property
    def rounds(self) -> int:
        """Calls, of which those for candidates of one specification count once, as they are made
        at the same time.
        """
        pairs = zip(self.calls, self.calls[1:], strict=False)
        beside = (
            one.prompt == next.prompt == "implementation" and "<problem>" not in next.asked
            for one, next in pairs
        )
        return len(self.calls) - sum(beside)

    @property
    def repeated(self) -> float:
        """The share of what was asked that repeats the beginning of the call before."""
        pairs = zip(self.calls, self.calls[1:], strict=False)
        again = sum(_common(one.asked, next.asked) for one, next in pairs)
        return again / (sum(len(call.asked) for call in self.calls) or 1)

    @property
    def before_code(self) -> int:
        """Calls before the one that holds the agent's first code."""
        return next(i for i, call in enumerate(self.calls) if call.prompt == "coder")

    @property
    def row(self) -> str:
        where = ", ".join(f"{name} {count}" for name, count in self.stages.items())
        return f"| {self.kind} | {len(self.calls)} | {self.tokens:,} | {where} |"


def _common(one: str, other: str) -> int:
    """Characters that both begin with."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


class Person:
    """Asks an engine, and notes what each turn costs."""

    def __init__(self, engine: Engine, model: RecordingCookbook) -> None:
        self._engine, self._model = engine, model
        self.turns: list[Turn] = []
        self._conversation: str | None = None

    async def ask(
        self,
        kind: str,
        request: str,
        *,
        follows: bool = False,
        files: Sequence[File] = (),
        answers: Sequence[Answer] = (),
        **script: Completion | Sequence[Completion],
    ) -> list[Event]:
        """One turn, which must not fail unless it is declined; `kind` is its row of the table."""
        self._model.calls = []
        self._model.script = {
            prompt: [reply] if isinstance(reply, Completion) else list(reply)
            for prompt, reply in script.items()
        }
        events: list[Event] = []
        end = self._engine.feed.subscribe(lambda records: events.extend(r.event for r in records))
        conversation = self._conversation if follows else None
        asked = await self._engine.ask("me", conversation, request, files, answers=answers)
        self._conversation = asked.conversation_id
        await self._engine.settle()
        end()
        await self._engine.learning.settle()
        (failure,) = [e for e in events if isinstance(e, TurnFailed)] or [None]
        assert failure is None or kind == "declined", failure
        self.turns.append(Turn(kind, tuple(self._model.calls)))
        sys.stdout.write(f"{self.turns[-1].row}\n")
        sys.stdout.flush()
        return events


async def _with_one_candidate(person: Person, engine: Engine) -> None:
    await person.ask("build, empty library", "Reverse the string 'hello world'")
    await engine.setup.seed_once(lambda done, total: None)
    await person.ask("small talk", "Hello!")
    await person.ask("reuse", "Write 14 as a Roman numeral")
    await person.ask("reuse, follow-up", "and 9?", follows=True)
    await person.ask("build, near tools", "Convert the Roman numeral XIV to a number")
    wrong = Completion(content=WRONG)
    await person.ask("build, one repair", "Count the vowels in 'education'", implementation=wrong)
    await person.ask("plan of two steps", "Reverse the word 'queue', then count its vowels")
    await person.ask(
        "extension",
        "Count the words with more than 4 letters in 'the quick brown foxes'",
        decide=Completion(function="no_tool_fits", arguments={"reason": "All words count."}),
        specification=Completion(content=json.dumps(EXTENDED)),
        tests=Completion(content=EXTENDED_TESTS),
        implementation=Completion(content=EXTENDED_CODE),
    )
    asks = Completion(content=json.dumps(QUESTION))
    palindrome = "Is 'Anna' a palindrome?"
    events = await person.ask("question", palindrome, specification=asks)
    assert any(isinstance(event, QuestionsAsked) for event in events), events
    no = (Answer(id="case", value="no", question="Do capitals count?"),)
    await person.ask("answer to a question", "", follows=True, answers=no)
    await person.ask("declined", "What will the weather be like in Oslo tomorrow?")
    await person.ask("script", "Write a script squares.py that prints the first 5 squares")


async def _with_default_settings(person: Person, engine: Engine) -> None:
    await person.ask("build, three candidates", "Reverse the string 'hello world'")
    await engine.setup.seed_once(lambda done, total: None)
    for language, order in ORDERS.items():
        await _in_language(person, engine, language, order)


async def _in_language(person: Person, engine: Engine, language: str, order: Order) -> None:
    await person.ask(f"build, {language}", order.request, files=[order.file], **scripted(order))
    await person.ask(
        f"reuse, {language}",
        order.again,
        files=[order.file],
        decide=Completion(
            function="sum_by_group",
            arguments={"standalone_request": order.again_standalone, **order.arguments},
        ),
        specification=Completion(content=specified(order)),
    )
    await engine.library.remove("sum_by_group")


async def _run(candidates: int, course: Callable[[Person, Engine], Any]) -> list[Turn]:
    model = RecordingCookbook()
    with tempfile.TemporaryDirectory() as folder, OfflineServer(model, delay=0) as server:
        scripted = {
            "openai_base_url": server.base_url,
            "openai_model": server.model,
            "openai_api_key": SecretStr(server.api_key),
            "synthesis_candidates": candidates,
        }
        engine = await build_engine(offline_settings(Path(folder)).model_copy(update=scripted))
        try:
            await engine.setup.get_ready()
            await engine.learning.start()
            person = Person(engine, model)
            await course(person, engine)
        finally:
            await engine.aclose()
    return person.turns


async def _measure() -> dict[str, Any]:
    turns = await _run(1, _with_one_candidate) + await _run(3, _with_default_settings)
    by_kind = {turn.kind: turn for turn in turns}
    clean = [by_kind["build, empty library"], by_kind["build, near tools"]]
    built = [by_kind[f"build, {language}"] for language in ORDERS]
    used = [by_kind[f"reuse, {language}"] for language in ORDERS]
    reused = [by_kind["reuse"], by_kind["reuse, follow-up"], *used]
    trouble = {"build, one repair", "answer to a question"}
    return {
        "build_calls": max(len(turn.calls) for turn in built),
        "build_rounds": max(turn.rounds for turn in built),
        "build_tokens": max(turn.tokens for turn in built),
        "reuse_calls": max(len(turn.calls) for turn in reused),
        "plain_build_calls": max(len(turn.calls) for turn in clean),
        "script_calls_before_code": by_kind["script"].before_code,
        "lesson_calls": sum(t.stages.get("lessons", 0) for t in turns if t.kind not in trouble),
        "calls": {turn.kind: len(turn.calls) for turn in turns},
        "tokens": {turn.kind: turn.tokens for turn in turns},
        "repeated": {
            "build": round(by_kind["build, near tools"].repeated, 2),
            "script": round(by_kind["script"].repeated, 2),
        },
        "field": FIELD,
    }


def main() -> int:
    sys.stdout.write("| turn | calls | tokens | calls by stage |\n|---|---|---|---|\n")
    return report(asyncio.run(_measure()), GOALS)


if __name__ == "__main__":
    sys.exit(main())
