"""The synthesis engine: from a request that no tool fits to a registered tool, tests first.

specification → tests (which must fail on stubs) → implementation → verification ⇄ repair → registration. The suite is frozen
once it has failed on the stubs; repairs change the code only, and nothing is registered that did not pass in every order.
"""

from collections.abc import Callable, Sequence

from src.core.composition import Importable
from src.core.errors import LibraryError, ModelReplyInvalid, SynthesisFailed, ToolExists
from src.core.plan import Plan
from src.core.prompt import Prompt
from src.core.protocols import ModelClient, Sandbox, ToolLibrary
from src.core.spec import Specification, SpecificationReply
from src.core.tool import Tool, ToolDraft
from src.core.turn import Turn
from src.core.value import Value
from src.core.verdict import Verdict
from src.core.words import count
from src.prompts import plans, render
from src.prompts.files import listed
from src.synthesis.checks import module_problem, specification_problem, suite_problem
from src.synthesis.code_block import python_code
from src.synthesis.composing import offered, steady_requirements, steps_problem
from src.synthesis.failures import as_failures
from src.synthesis.gate import Gate, steady_summary
from src.synthesis.steps import Step, step

MAX_REWRITES = 2
"""How often a specification or a suite that was refused may be written again."""


class Reply(Value):
    """The request needs no tool: this is what the person is told."""

    text: str
    asks: bool = False
    """Whether it is a question."""


class SynthesisEngine:
    """Writes tools by test-driven development."""

    def __init__(self, model: ModelClient, sandbox: Sandbox, library: ToolLibrary, model_name: str, max_repairs: int = 3) -> None:
        self._model, self._gate, self._library = model, Gate(sandbox), library
        self._model_name, self._max_repairs = model_name, max_repairs

    async def synthesize(self, turn: Turn, taken: Sequence[str] = ()) -> Tool | Reply | Plan:
        """Build and register the tool that the request needs, unless the library turns out to have it, or it takes several.

        `taken` names the tools that were looked at and don't fit.

        Raises:
            SynthesisFailed: a step gave up; the message says why, `where` at which step.
            ModelError, SandboxError: the model or the sandbox is out of order.
        """
        spec = await self._specify(turn, taken)
        if not isinstance(spec, Specification):
            return spec
        tests = await self._write_tests(turn, spec)
        tools = Importable(await self._library.tools())
        code = await self._implement(turn, spec, tests, tools)
        return await self._register(turn, spec, tests, code, tools)

    async def examine(self, draft: ToolDraft) -> None:
        """Take a tool that a person wrote through the gate that generated ones pass: checks, red on stubs, green on the code.

        Raises:
            SynthesisFailed: it does not pass; the message says why, `where` at which step.
            SandboxError: the sandbox is out of order.
        """
        tools = Importable(await self._library.tools())
        problem = suite_problem(draft.tests, draft.name) or module_problem(draft.code, draft.signature, tools)
        if problem:
            raise SynthesisFailed(f"{draft.name}: {problem}", where="tests")
        red = await self._gate.red(draft.signature, draft.tests, lambda _: None)
        if red.problem:
            raise SynthesisFailed(f"{draft.name}: {red.problem}", where="tests")
        verdict = await self._gate.green(draft.name, draft.code, draft.tests, lambda _: None)
        if not verdict.passed:
            raise SynthesisFailed(f"{draft.name}: {_summary(verdict)}", where="verification")

    async def _specify(self, turn: Turn, taken: Sequence[str]) -> Specification | Tool | Reply | Plan:
        problem = ""
        shown = {"request": turn.request, "taken": taken, "files": listed(turn), **plans.shown(turn)}
        for attempt in range(1, MAX_REWRITES + 2):
            prompt = render("specification", turn.history, **shown, problem=problem)
            with step(turn, "specification", attempt, prompt.name) as current:
                reply = await self._model.structured(prompt, SpecificationReply, turn.budget)
                if reply.outcome == "impossible":
                    raise SynthesisFailed(reply.message or "the model says that no tool can do this")
                if reply.outcome == "steps":
                    if problem := steps_problem(turn, reply.steps):
                        current.fail(f"Refused: {problem}.")
                        continue
                    current.summary = f"It takes {count(len(reply.steps), 'step')}."
                    return Plan(steps=reply.steps)
                if reply.outcome != "tool" and reply.message:
                    current.summary = "No tool is needed." if reply.outcome == "answer" else "Something has to be asked first."
                    return Reply(text=reply.message, asks=reply.outcome == "question")
                known = await self._same_tool(reply.specification)
                if known:
                    current.summary = f"{known.name} is in the library already, and does this."
                    return known
                problem = self._refusal(reply.specification)
                if reply.specification and not problem:
                    current.summary = f"{reply.specification.signature()}: {reply.specification.description}"
                    current.artifact = reply.specification.model_dump_json(indent=2)
                    return reply.specification
                current.fail(f"Refused: {problem}.")
        raise _gave_up("specification", problem)

    async def _same_tool(self, spec: Specification | None) -> Tool | None:
        """The tool that is specified, if the library has it and the search missed it: same name, same parameters."""
        try:
            known = await self._library.get(spec.name) if spec else None
        except LibraryError:
            return None
        names = [p.name for p in known.signature.parameters] if known else None
        return known if spec and names == [p.name for p in spec.parameters] else None

    def _refusal(self, spec: Specification | None) -> str:
        if spec is None:
            return "the reply holds no specification"
        try:
            self._library.check_name(spec.name)
        except LibraryError as error:
            return error.message
        return specification_problem(spec) or ""

    async def _write_tests(self, turn: Turn, spec: Specification) -> str:
        problem = ""
        for attempt in range(1, MAX_REWRITES + 2):
            prompt = render("tests", name=spec.name, specification=spec.model_dump_json(indent=2), problem=problem)
            with step(turn, "tests", attempt, prompt.name) as current:
                tests, problem = await self._written(current, turn, prompt, lambda code: suite_problem(code, spec.name))
                if not problem:
                    red = await self._gate.red(spec.signature(), tests, turn.emit, attempt)
                    problem = red.problem
                    current.summary = f"{count(red.tests, 'test')}, all failing on an empty stub, as they should."
                current.artifact = tests
                if not problem:
                    return tests
                current.fail(f"Refused: {problem}.")
        raise _gave_up("tests", problem)

    async def _implement(self, turn: Turn, spec: Specification, tests: str, tools: Importable) -> str:
        shown = {"signature": str(spec.signature()), "specification": spec.model_dump_json(indent=2), "tests": tests}
        shown["tools"] = await offered(self._library, turn, spec)
        prompt = render("implementation", **shown, problem="")
        for attempt in range(1, self._max_repairs + 2):
            with step(turn, "implementation", attempt, prompt.name) as current:
                code, problem = await self._written(current, turn, prompt, lambda code: module_problem(code, spec.signature(), tools))
                current.artifact = code
                if problem:
                    current.fail(f"Refused: {problem}.")
            if problem:
                prompt = render("implementation", **shown, problem=problem)
                continue
            with step(turn, "verification", attempt) as current:
                verdict = await self._gate.green(spec.name, code, tests, turn.emit, attempt)
                if verdict.passed:
                    current.summary = steady_summary(verdict)
                    return code
                problem = _summary(verdict)
                current.fail(problem)
            prompt = render("repair", **shown, code=code, failures=as_failures(verdict))
        raise SynthesisFailed(
            f"no implementation passed the tests in {count(self._max_repairs + 1, 'attempt')}; the last: {problem}",
            "say more exactly what is wanted, or raise SYNTHESIS_MAX_REPAIRS",
            where="verification",
        )

    async def _register(self, turn: Turn, spec: Specification, tests: str, code: str, tools: Importable) -> Tool:
        with step(turn, "registration") as current:
            requires = await steady_requirements(self._library, tools, code)
            draft = ToolDraft(
                name=spec.name,
                description=spec.description,
                signature=spec.signature(),
                code=code,
                tests=tests,
                example_requests=(turn.request, *(r for r in spec.example_requests if r != turn.request))[:6],
                model=self._model_name,
                requires=requires,
            )
            try:
                tool = await self._library.add(draft)
                current.summary = f"{tool.name} is in the library."
            except ToolExists:
                # Another turn was asked the same at the same time, and was faster.
                tool = await self._library.get(spec.name)
                if tool.signature != draft.signature:
                    raise
                current.summary = f"{tool.name} was registered by another turn meanwhile; that one is used."
            return tool

    async def _written(self, current: Step, turn: Turn, prompt: Prompt, check: Callable[[str], str | None]) -> tuple[str, str]:
        """The Python source that the model streams, and what is wrong with it ("": nothing)."""
        try:
            reply = await current.streamed(self._model.stream(prompt, turn.budget))
        except ModelReplyInvalid as error:
            return "", error.message
        code = python_code(reply)
        return (code, check(code) or "") if code else (reply, "the reply holds no block of Python code")


def _summary(verdict: Verdict) -> str:
    if verdict.problem:
        return verdict.problem
    failed = [t.test for t in verdict.tests if t.outcome != "passed"]
    return f"{len(failed)} of {count(len(verdict.tests), 'test')} failed: {', '.join(failed)}"


def _gave_up(what: str, problem: str) -> SynthesisFailed:
    message = f"no usable {what} in {count(MAX_REWRITES + 1, 'attempt')}; the last: {problem}"
    return SynthesisFailed(message, "say it in other words", where=what)


if __name__ == "__main__":
    import runpy
    import sys

    sys.argv[1:] = ["check", "synthesis_engine"]
    runpy.run_module("src", run_name="__main__")
