"""The programmer: candidates for an implementation, and repairs of the one that came nearest."""

import asyncio
from collections.abc import Callable, Mapping
from difflib import unified_diff
from itertools import cycle, islice
from typing import Any

from selfeng.core.background import together
from selfeng.core.composition import Importable, lines
from selfeng.core.errors import BudgetExceeded, ModelError, SynthesisFailed
from selfeng.core.files import File
from selfeng.core.http import Exchange
from selfeng.core.prompt import Prompt
from selfeng.core.protocols import ModelClient, ToolLibrary
from selfeng.core.question import AnswerKind, Question
from selfeng.core.spec import Specification
from selfeng.core.tool import Tool
from selfeng.core.value import Value
from selfeng.core.verdict import Verdict
from selfeng.core.words import count
from selfeng.prompts import render
from selfeng.prompts.request import USUAL, exchanges_shown, lessons_shown, listed, modules_shown
from selfeng.synthesis.checks import module_problem
from selfeng.synthesis.composing import asking_problem, offered
from selfeng.synthesis.specifying import BuildSpec
from selfeng.synthesis.steps import Steps, SynthesisPolicy, checked

_ASK = "ask:"
_APPROACHES = (
    "",
    "Take another algorithm, or other functions, than those that come to mind first, so that a "
    "mistake of the usual way shows in a comparison.",
    "Take the plainest way, step by step and by trying out all cases where there are few, even if "
    "it is slower.",
)
"""How the candidates are asked for, in turn, so that they do not share a mistake."""
_LONGEST_FAILURES = 6000
"""Characters of a repair prompt that failures may take."""


class FailedCall(Value):
    """A call of a kept tool that failed, and what is known of it."""

    call: str
    """Python source."""
    failure: str
    """Its outcome, with the traceback."""
    reason: str
    """A summary that everyone may read: it is stored with the version."""
    lines: str = ""
    """The lines of the person's files that the failure is about."""
    built: Specification | None = None
    """The specification of the tool, if it was built for these files a moment ago."""
    arguments: Mapping[str, Any] = {}
    files: tuple[File, ...] = ()
    """Those of the call."""
    exchanges: tuple[Exchange, ...] = ()
    """The answers of a service that differ from the recorded ones."""

    @property
    def unexpected(self) -> bool:
        """Whether the failure is about the content of the person's files."""
        return bool(self.built or self.lines)


class Programmer:
    def __init__(self, model: ModelClient, library: ToolLibrary, policy: SynthesisPolicy) -> None:
        self._model, self._library, self._policy = model, library, policy

    async def draw(
        self, steps: Steps, build: BuildSpec, tests: str, tools: Importable
    ) -> list[str]:
        """Implementations written in parallel and independently; only the first is shown as it is
        written.

        `tools` are those that they may import.

        Raises:
            SynthesisFailed: none of them is usable after all attempts.
            ModelError: the model is broken.
        """

        def check(code: str) -> str | None:
            return module_problem(code, build.spec.signature(), tools, build.lock)

        problem, context = "", await self._context(steps, build, tests)
        approaches = list(islice(cycle(_APPROACHES), self._policy.candidates))
        for _ in range(self._policy.max_repairs + 1):
            prompts = [
                render("implementation", **context, problem=problem, approach=approach)
                for approach in approaches
            ]
            with steps.step("implement", prompts[0].name) as current:
                shown, *others = prompts
                candidates = await together(
                    current.stream_code(self._model, shown, check),
                    *(self._silent(steps, prompt, check) for prompt in others),
                )
                current.artifact, problem = candidates[0]
                drawn = [code for code, its in candidates if code and not its]
                if others:
                    run = "all" if len(drawn) == len(prompts) else f"{len(drawn)} can be"
                    current.tell(
                        f"{count(len(prompts), 'candidate')} written, {run} run.",
                        "drawn",
                        written=len(prompts),
                        usable=len(drawn),
                    )
                if drawn:
                    return drawn
                current.fail(f"Refused: {problem}.")
        raise no_implementation(self._policy, problem)

    async def repair(
        self,
        steps: Steps,
        build: BuildSpec,
        tests: str,
        tools: Importable,
        code: str,
        *,
        before: str,
        verdict: Verdict,
    ) -> tuple[str, str]:
        """Rewrite the module, given what failed; returns it and why it can't be run ("" if it can).
        `before` is the code that it was a repair of, or "".

        Raises:
            ModelError: the model is broken.
        """
        signature = build.spec.signature()
        changes = (
            "\n".join(
                unified_diff(before.splitlines(), code.splitlines(), "before", "after", lineterm="")
            )
            if before
            else ""
        )
        context = await self._context(steps, build, tests)
        prompt = render(
            "repair", **context, code=code, failures=_failures(verdict), changes=changes
        )
        with steps.step("implement", prompt.name) as current:
            new, problem = await current.stream_code(
                self._model,
                prompt,
                lambda code: module_problem(code, signature, tools, build.lock),
            )
            current.artifact = new
            if problem:
                current.fail(f"Refused: {problem}.")
        return new, problem

    async def mend(
        self, steps: Steps, tool: Tool, tools: Importable, failed: FailedCall
    ) -> str | Question:
        """Rewrite the module of a kept tool after a failed call; "" if the model blames the call,
        or wrote nothing usable; a question if only the person knows what the file means.

        It may import its current imports and the other `tools` that it knows.

        Raises:
            ModelError: the model is broken.
        """
        context = {
            "description": tool.description,
            "tests": tool.tests,
            "code": tool.code,
            "call": failed.call,
            "failure": failed.failure,
            "lines": failed.lines,
            "files": listed(steps.turn.request),
            "request": steps.turn.request.text,
            "unexpected": failed.unexpected,
            "built": failed.built.outline() if failed.built else "",
            "recorded": exchanges_shown(tool.replays),
            "answers": exchanges_shown(failed.exchanges),
        }
        new, problem = await self._rewritten(steps, tool, tools, "mend", context)
        may_ask = failed.unexpected or failed.exchanges
        question = _question_in(new) if may_ask else None
        if question and not asking_problem(steps.turn.request, [question]):
            return question
        return "" if problem else new

    async def refactor(
        self, steps: Steps, tool: Tool, tools: Importable, call: str, problem: str
    ) -> tuple[str, str]:
        """Rewrite the module of a kept tool so that it is faster; returns it and why it can't be
        run ("" if it can). `call` is a slow call, and `problem` says why an earlier one was
        refused.

        Raises:
            ModelError: the model is broken.
        """
        context = {
            "description": tool.description,
            "tests": tool.tests,
            "code": tool.code,
            "call": call,
            "problem": problem,
            "recorded": exchanges_shown(tool.replays),
        }
        return await self._rewritten(steps, tool, tools, "refactor", context)

    async def _rewritten(
        self,
        steps: Steps,
        tool: Tool,
        tools: Importable,
        template: str,
        context: Mapping[str, object],
    ) -> tuple[str, str]:
        prompt = render(
            template,
            signature=str(tool.signature),
            tools=lines(tools.imported(tool.code)),
            further=modules_shown(tool.lock),
            **context,
        )
        with steps.step("implement", prompt.name) as current:
            new, problem = await current.stream_code(
                self._model,
                prompt,
                lambda code: module_problem(code, tool.signature, tools, tool.lock),
            )
            current.artifact = new
            if problem:
                current.fail(f"The tool stays as it is: {problem}.", "tool_stays")
            if _question_in(new):
                current.failed, current.decision = False, "question"
                current.summary = "Something has to be asked first."
        return new, problem

    async def _silent(
        self, steps: Steps, prompt: Prompt, check: Callable[[str], str | None]
    ) -> tuple[str, str]:
        """One more candidate, and what is wrong with it, as `Step.stream_code`: the first one is
        enough to continue.
        """
        try:
            reply = "".join(
                [piece async for piece in self._model.stream(prompt, steps.turn.budget)]
            )
        except (ModelError, BudgetExceeded) as error:
            return "", error.message
        return await asyncio.to_thread(checked, reply, check)

    async def _context(self, steps: Steps, build: BuildSpec, tests: str) -> dict[str, object]:
        spec, former = build.spec, build.extends
        return {
            "former": f"# {former.description}\n{former.code}" if former else "",
            "fixes": bool(build.fixes),
            "signature": str(spec.signature()),
            "specification": spec.outline(examples=bool(build.fixes)),
            "tests": tests,
            "files": listed(steps.turn.request, USUAL),
            "recorded": build.exchanges and exchanges_shown(build.exchanges),
            "further": modules_shown(build.lock),
            "long": str(spec.limits),
            "tools": await offered(self._library, steps.turn.request, spec),
            "lessons": lessons_shown(await steps.turn.lessons("implement", spec.description)),
        }


def no_implementation(policy: SynthesisPolicy, problem: str) -> SynthesisFailed:
    return SynthesisFailed(
        f"no implementation passed the tests in {count(policy.max_repairs + 1, 'attempt')}; the "
        f"last: {problem}",
        "describe more exactly what you need, or raise SYNTHESIS_MAX_REPAIRS",
        where="verify",
    )


def _question_in(reply: str) -> Question | None:
    """The question of a reply that asks instead of writing code."""
    head, *option_lines = reply.strip().splitlines() or [""]
    if not head.lower().startswith(_ASK):
        return None
    options = tuple(line.strip()[2:] for line in option_lines if line.strip().startswith("- "))
    kind: AnswerKind = "choice" if len(options) > 1 else "text"
    return Question(id="lines", question=head[len(_ASK) :].strip(), answer=kind, options=options)


def _failures(verdict: Verdict) -> str:
    """The failures and their reasons, the first ones in full, and how long each test took; at most
    _LONGEST_FAILURES characters.
    """
    parts = [verdict.problem] if verdict.problem else []
    parts += [
        f"{t.test}: {t.outcome} after {t.seconds:.2f} s\n{t.message}"
        for t in verdict.tests
        if t.outcome != "passed"
    ]
    passed = [f"{t.test} ({t.seconds:.2f} s)" for t in verdict.tests if t.outcome == "passed"]
    parts += [f"passed: {', '.join(passed)}"] if passed else []
    if verdict.output.strip():
        parts.append(f"output:\n{verdict.output.strip()[-1000:]}")
    text = "\n\n".join(parts)
    return text if len(text) <= _LONGEST_FAILURES else text[:_LONGEST_FAILURES] + "\n… (shortened)"
