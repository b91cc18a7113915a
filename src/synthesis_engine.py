"""The synthesis engine: from a request that no tool fits to a registered tool, tests first.

specification → tests (which must fail on stubs) → candidates → consensus → verification ⇄ repair → mutation → registration.
The suite is frozen once the candidates have voted on it; repairs change the code only, and nothing is registered that did not pass
in every order. A specification that no implementation can fulfil is reopened, once and for all to see.
"""

from collections.abc import Sequence

from src.core.composition import Importable
from src.core.errors import SynthesisFailed, ToolExists
from src.core.example import first_examples
from src.core.plan import Plan
from src.core.protocols import ModelClient, Sandbox, ToolLibrary
from src.core.provenance import Created, Extended, Provenance, Repaired
from src.core.tool import Tool, ToolDraft
from src.core.turn import Turn
from src.core.value import Value
from src.core.verdict import Verdict
from src.core.words import count
from src.synthesis.checks import module_problem, suite_problem
from src.synthesis.composing import steady_requirements
from src.synthesis.consensus import Consensus, agree, distinct
from src.synthesis.examples import arguments_of
from src.synthesis.gate import Gate, steady_summary
from src.synthesis.mutants import strength
from src.synthesis.policy import SynthesisPolicy
from src.synthesis.programming import Programmer, no_implementation
from src.synthesis.specifying import Analyst, Order, Reply
from src.synthesis.steps import Steps
from src.synthesis.testing import Tester

__all__ = ["Reply", "SynthesisEngine", "SynthesisPolicy"]


class Built(Value):
    """What is ready for registration."""

    tests: str
    code: str
    verdict: Verdict


class Stuck(SynthesisFailed):
    """Every attempt failed the same tests: it may be the specification that is wrong."""


class SynthesisEngine:
    """Writes tools by test-driven development."""

    def __init__(
        self, model: ModelClient, sandbox: Sandbox, library: ToolLibrary, model_name: str, policy: SynthesisPolicy | None = None
    ) -> None:
        self._policy = policy or SynthesisPolicy()
        self._sandbox, self._gate, self._library, self._model_name = sandbox, Gate(sandbox), library, model_name
        self._analyst = Analyst(model, sandbox, library, self._policy)
        self._tester = Tester(model, self._gate, self._policy)
        self._programmer = Programmer(model, library, self._policy)

    async def synthesize(self, turn: Turn, looked_at: Sequence[str] = ()) -> Tool | Reply | Plan:
        """Build and register the tool that the request needs, unless the library turns out to have it, or it takes several.

        `looked_at` names the tools that the search came up with and that don't fit.

        Raises:
            SynthesisFailed: a step gave up; the message says why, `where` at which step.
            ModelError, SandboxError: the model or the sandbox is out of order.
        """
        steps = Steps(turn)
        order = await self._analyst.specify(steps, looked_at)
        if not isinstance(order, Order):
            return order
        tools = Importable(await self._library.tools())
        try:
            return await self._build(steps, order, tools)
        except Stuck as stuck:
            again = await self._analyst.specify(steps, looked_at, problem=f"it can't be fulfilled as it stands: {stuck.message}")
            if not isinstance(again, Order):
                return again
            if again.spec == order.spec:
                raise
            return await self._build(steps, again, tools)

    async def mend(self, turn: Turn, tool: Tool, call: str, failure: str, reason: str) -> Tool | None:
        """Make a new version of a tool that failed in use; None if the model finds the call wrong and not the tool, or no repair passed.

        The tests stay as they are, so what the tool could do it still can. `call` is Python source, `failure` what came of it, and
        `reason` what everybody may know of that: it stays with the version.

        Raises:
            ModelError, SandboxError: the model or the sandbox is out of order.
            LibraryError, SynthesisFailed: the tool, or one that it imports, has changed meanwhile.
        """
        steps = Steps(turn)
        tools = Importable(await self._library.tools(), kept=[pin.name for pin in tool.requires])
        code = await self._programmer.mend(steps, tool, tools, call, failure)
        if not code:
            return None
        with steps.step("verification") as current:
            verdict = await self._gate.green(tool.name, code, tool.tests, turn.emit, current.attempt)
            if not verdict.passed:
                current.fail(_summary(verdict))
                return None
            current.summary = steady_summary(verdict)
        with steps.step("registration") as current:
            made = Provenance(origin=Repaired(failure=reason), verdict=verdict, prompts=tuple(turn.asked), usage=turn.budget.usage)
            requires = await steady_requirements(self._library, tools, code)
            draft = tool.draft().model_copy(update={"code": code, "model": self._model_name, "requires": requires})
            mended = await self._library.revise(draft, tool.version, made)
            current.summary = f"{mended.name} is in the library, as version {mended.version}."
        return mended

    async def examine(self, draft: ToolDraft) -> Verdict:
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
        if await steady_requirements(self._library, tools, draft.code) != draft.requires:
            raise SynthesisFailed(f"{draft.name}: the tools that it imports have changed meanwhile", "try again", where="verification")
        return verdict

    async def _build(self, steps: Steps, order: Order, tools: Importable) -> Tool:
        tests = await self._tester.write(steps, order)
        drawn = await self._programmer.draw(steps, order.spec, tests, tools)
        code = drawn[0]
        for rewrite in range(self._policy.max_rewrites + 1):
            if len(set(drawn)) == 1:
                break
            agreed = await self._agree(steps, order, drawn, tests)
            code, left = agreed.nearest.code, agreed.tests
            enough = agreed.kept >= self._policy.least_tests or not agreed.dropped
            if enough or rewrite == self._policy.max_rewrites:
                tests = left
                break
            tests = await self._tester.write(steps, order, problem=_too_few(agreed))
        built = await self._verify(steps, order, tests, tools, code)
        built = await self._strengthen(steps, order, built, tools, drawn)
        return await self._register(steps, order, built, tools)

    async def _agree(self, steps: Steps, order: Order, drawn: Sequence[str], tests: str) -> Consensus:
        """What the candidates say of the tests and of each other, with one more test where two of them differ and no third decides."""
        agreed = await self._compare(steps, order, drawn, tests)
        if agreed.open_question is None:
            return agreed
        larger = await self._tester.decide(steps, order, agreed.tests, agreed.open_question)
        return agreed if larger == agreed.tests else await self._compare(steps, order, drawn, larger)

    async def _compare(self, steps: Steps, order: Order, drawn: Sequence[str], tests: str) -> Consensus:
        signature = order.spec.signature()
        examples = [a for e in (*order.spec.user_examples, *order.spec.examples) if (a := arguments_of(e, signature))]
        with steps.step("consensus") as current:
            agreed = await agree(self._sandbox, signature, distinct(drawn), tests, examples)
            current.summary, current.artifact = agreed.summary(), agreed.model_dump_json(indent=2)
            current.failed = agreed.chosen is None
        return agreed

    async def _verify(self, steps: Steps, order: Order, tests: str, tools: Importable, code: str) -> Built:
        """Verify the code, and repair it as often as may be. Raises: SynthesisFailed, Stuck."""
        spec, problem, before, always = order.spec, "", "", None
        for attempt in range(self._policy.max_repairs + 1):
            if not problem:
                with steps.step("verification") as current:
                    verdict = await self._gate.green(spec.name, code, tests, steps.turn.emit, current.attempt)
                    if verdict.passed:
                        current.summary = steady_summary(verdict)
                        return Built(tests=tests, code=code, verdict=verdict)
                    current.fail(_summary(verdict))
                failed = {t.test for t in verdict.tests if t.outcome != "passed" and not verdict.problem}
                always, last = failed if always is None else always & failed, _summary(verdict)
            if attempt < self._policy.max_repairs:
                new, problem = await self._programmer.repair(steps, spec, tests, tools, code, before=before, verdict=verdict)
                before, code, last = (before, code, problem) if problem else (code, new, last)
        failure = no_implementation(self._policy, last)
        raise Stuck(failure.message, failure.remedy, failure.where) if always and self._policy.max_repairs else failure

    async def _strengthen(self, steps: Steps, order: Order, built: Built, tools: Importable, drawn: Sequence[str]) -> Built:
        """Have tests added, once, where the suite would not notice many mistakes. Raises: as `_verify`."""
        if not self._policy.mutation_score:
            return built
        with steps.step("mutation") as current:
            found = await strength(self._sandbox, order.spec.name, built.code, built.tests)
            current.summary = f"The tests notice {found.killed} of {count(found.mutants, 'mutant')}."
            current.artifact = found.model_dump_json(indent=2)
        if found.score >= self._policy.mutation_score:
            return built
        tests = await self._tester.more(steps, order, built.tests, found)
        if tests == built.tests:
            return built
        if len(set(drawn)) > 1:
            tests = (await self._agree(steps, order, [*drawn, built.code], tests)).tests
        return await self._verify(steps, order, tests, tools, built.code)

    async def _register(self, steps: Steps, order: Order, built: Built, tools: Importable) -> Tool:
        spec, turn, known = order.spec, steps.turn, order.extends
        origin = Extended(parameters=tuple(p.name for p in spec.parameters[len(known.signature.parameters) :])) if known else Created()
        made = Provenance(origin=origin, verdict=built.verdict, prompts=tuple(turn.asked), usage=turn.budget.usage)
        with steps.step("registration") as current:
            draft = ToolDraft(
                name=spec.name,
                description=spec.description,
                signature=spec.signature(),
                code=built.code,
                tests=built.tests,
                example_requests=first_examples(turn.request, spec.example_requests),
                model=self._model_name,
                requires=await steady_requirements(self._library, tools, built.code),
            )
            if known:
                tool = await self._library.revise(draft, known.version, made)
                current.summary = f"{tool.name} is in the library, as version {tool.version}."
                return tool
            if twin := await self._analyst.twin(spec, built.code, built.tests):
                current.summary = f"{twin.name} is in the library already, and each passes the other's tests: it is used."
                return twin
            try:
                tool = await self._library.add(draft, made)
                current.summary = f"{tool.name} is in the library."
            except ToolExists:
                # Another turn was asked the same at the same time, and was faster.
                tool = await self._library.get(spec.name)
                if tool.signature != draft.signature:
                    raise
                current.summary = f"{tool.name} was registered by another turn meanwhile; that one is used."
            return tool


def _summary(verdict: Verdict) -> str:
    if verdict.problem:
        return verdict.problem
    failed = [t.test for t in verdict.tests if t.outcome != "passed"]
    return f"{len(failed)} of {count(len(verdict.tests), 'test')} failed: {', '.join(failed)}"


def _too_few(agreed: Consensus) -> str:
    refuted = "; ".join(f"{d.test} ({d.message.strip().splitlines()[-1] if d.message.strip() else 'failed'})" for d in agreed.dropped)
    return f"most of the independent implementations refute these tests, so only {count(agreed.kept, 'test')} would be left: {refuted}"


if __name__ == "__main__":
    import runpy
    import sys

    sys.argv[1:] = ["check", "synthesis_engine"]
    runpy.run_module("src", run_name="__main__")
