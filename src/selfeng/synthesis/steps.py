"""The limits of a synthesis, and its steps as a turn's events: started, streaming, then finished or
failed with the time they took.
"""

import ast
import asyncio
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

from pydantic_core import from_json

from selfeng.core.errors import AgentError, ModelReplyInvalid, SynthesisFailed, stage
from selfeng.core.events import Decision, SynthesisStep
from selfeng.core.prompt import Prompt
from selfeng.core.protocols import ModelClient
from selfeng.core.provenance import AskedPrompt
from selfeng.core.stage import StageName, words_of
from selfeng.core.turn import Turn
from selfeng.core.value import Coded, TextCode, Value
from selfeng.core.words import count

_FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[ \t]*(?P<language>[\w+-]*)[^\n]*\n(?P<code>.*?)(?:^(?P=fence)`*[ "
    r"\t]*$|\Z)",
    re.MULTILINE | re.DOTALL,
)


class SynthesisPolicy(Value):
    """Limits and thresholds of a synthesis, see `config.Settings`."""

    max_repairs: int = 3
    """How often an implementation may be repaired."""
    candidates: int = 1
    """Implementations that are drawn at once and compared; with one, nothing is compared."""
    mutation_score: float = 0.5
    """Share of the mutants, 0..1, that a suite should notice; below it, more tests are requested
    once; 0: no mutants are made.
    """
    least_tests: int = 3
    """Tests that must remain when candidates have refuted the others."""
    max_rewrites: int = 2
    """How often a refused specification or suite may be rewritten."""


class Step:
    """One attempt at one step; its attributes go into its last event."""

    def __init__(self, steps: "Steps", name: StageName, attempt: int, prompt: str) -> None:
        self._steps, self._turn, self._name, self._prompt = steps, steps.turn, name, prompt
        self._started = time.monotonic()
        self.attempt = attempt
        self.summary = ""
        """One sentence for people."""
        self.coded = Coded()
        """The same for the page."""
        self.artifact = ""
        """The output of the step: JSON or Python source."""
        self.decision: Decision = ""
        self._answer = ""
        self.failed = False
        """The step ended with a bad result, from which the synthesis continues."""

    async def streamed(self, pieces: AsyncIterator[str]) -> str:
        """Show the pieces as they come; returns the whole text."""
        text = ""
        async for piece in pieces:
            text += piece
            self._emit_piece(piece)
        return text

    def tell_answer(self, reply_text: str) -> None:
        """Show the answer in a specification's reply that is being written. A second reply that
        says something else is shown at its end only.
        """
        text = _answer_in(reply_text)
        if text.startswith(self._answer) and (piece := text.removeprefix(self._answer)):
            self._answer = text
            self._emit_piece(piece)

    def _emit_piece(self, piece: str) -> None:
        self._turn.emit(
            SynthesisStep(
                step=self._name,
                state="streaming",
                attempt=self.attempt,
                text=piece,
                prompt=self._prompt,
            )
        )

    async def stream_code(
        self, model: ModelClient, prompt: Prompt, check: Callable[[str], str | None]
    ) -> tuple[str, str]:
        """The Python source that the model streams, and what is wrong with it ("" for nothing)."""
        self._steps.note_prompt(prompt)
        try:
            reply = await self.streamed(model.stream(prompt, self._turn.budget))
        except ModelReplyInvalid as error:
            return "", error.message
        return await asyncio.to_thread(checked, reply, check)

    def tell(self, summary: str, code: TextCode, **values: str | float) -> None:
        """Summarize the step, in the page by `code` and `values`."""
        self.summary, self.coded = summary, Coded(code=code, values=values)

    def fail(self, summary: str, code: TextCode = "refused", **values: str | float) -> None:
        """The same for a bad result; the page has the summary as details."""
        self.failed = True
        self.tell(summary, code, **values)

    def emit_ended(self) -> None:
        self._turn.emit(
            SynthesisStep(
                step=self._name,
                state="failed" if self.failed else "finished",
                attempt=self.attempt,
                text=self.summary,
                code=self.coded.code,
                values=self.coded.values,
                decision="" if self.failed else self.decision,
                artifact=self.artifact,
                prompt=self._prompt,
                seconds=time.monotonic() - self._started,
            )
        )


def _answer_in(reply_text: str) -> str:
    """The answer in a part of a SpecificationReply in JSON; "" if that is something else."""
    try:
        reply = from_json(reply_text[reply_text.find("{") :], allow_partial="trailing-strings")
    except ValueError:
        return ""
    text = reply.get("message") if isinstance(reply, dict) else ""
    return text if isinstance(text, str) and reply.get("outcome") == "answer" else ""


class Steps:
    """The steps of one synthesis, each attempt with a number of its own."""

    def __init__(self, turn: Turn) -> None:
        self.turn = turn
        self.prompts_sent: list[AskedPrompt] = []
        """The prompts that made the tool, for the record of its version."""
        self._attempts: Counter[StageName] = Counter()

    def note_prompt(self, prompt: Prompt) -> None:
        """Keep a prompt with the version, in a temporary conversation without its text."""
        asked_prompt = AskedPrompt.of(prompt)
        no_text = {"text": ""} if self.turn.request.temporary else {}
        self.prompts_sent.append(asked_prompt.model_copy(update=no_text))

    @contextmanager
    def step(self, name: StageName, prompt: str = "") -> Iterator[Step]:
        """Report a step; an error that leaves it makes it fail with the error's message. `prompt`
        is the name of the model's prompt.
        """
        self._attempts[name] += 1
        current = Step(self, name, self._attempts[name], prompt)
        self.turn.emit(
            SynthesisStep(step=name, state="started", attempt=current.attempt, prompt=prompt)
        )
        with stage(name):
            try:
                yield current
            except AgentError as error:
                current.fail(error.message, "failed")
                current.emit_ended()
                raise
        current.emit_ended()


def checked(reply: str, check: Callable[[str], str | None]) -> tuple[str, str]:
    """The Python source of a reply, and what is wrong with it ("" for nothing)."""
    code = python_code(reply)
    return (code, check(code) or "") if code else (reply, "the reply holds no block of Python code")


def gave_up(where: StageName, attempts: int, problem: str) -> SynthesisFailed:
    message = f"no usable {words_of(where)} in {count(attempts, 'attempt')}; the last: {problem}"
    return SynthesisFailed(message, "rephrase the request", where=where)


def python_code(reply: str) -> str | None:
    """The longest block of Python in a reply, or the whole reply where it is Python without a
    fence; None if there is none.

    A block that is marked as Python counts even if it doesn't parse: the model then gets the
    problem.
    """
    blocks = [(m["language"].lower(), m["code"]) for m in _FENCE.finditer(reply)]
    python = [
        code
        for language, code in blocks
        if language in ("python", "py", "python3") or (not language and _parses(code))
    ]
    code = max(python, key=len) if python else None
    if not blocks and _parses(reply) and "def " in reply:
        code = reply
    return None if code is None else code.strip("\n").rstrip() + "\n"


def _parses(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
