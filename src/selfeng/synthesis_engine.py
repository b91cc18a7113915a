"""The synthesis engine: from a request that no tool fits to a registered tool, tests first.

Its stages are in synthesis/building.py, their order in core/stage.py. Existing code, edited
by hand or repaired, passes through the same chain (synthesis/gate.py).
"""

from collections.abc import Callable, Mapping, Sequence

from selfeng.core.composition import Importable
from selfeng.core.consent_question import ConsentAsked
from selfeng.core.errors import RequestError, SynthesisFailed
from selfeng.core.plan import Plan
from selfeng.core.protocols import ModelClient, Sandbox, ToolLibrary, ToolNetwork
from selfeng.core.provenance import (
    Behaviour,
    Edited,
    LessonReplay,
    Origin,
    Proposal,
    Provenance,
    Refactored,
    Repaired,
    ToolVersion,
)
from selfeng.core.question import Question
from selfeng.core.result import Dispute, ToolEdit
from selfeng.core.signature import UNREADABLE
from selfeng.core.spec import SpecifiedTool
from selfeng.core.tool import Tool, ToolDraft
from selfeng.core.turn import Budget, Turn
from selfeng.core.verdict import Alterations, Returned, Verdict, Version
from selfeng.library.composition.linked_sandbox import PinnedSources, provided
from selfeng.library.tool_files import Sources
from selfeng.library.tool_writer import edited
from selfeng.synthesis.before import Before, KnownCall, behaviour
from selfeng.synthesis.building import (
    SYNTHESIS_STAGES,
    Synthesis,
    SynthesisDeps,
    report_registered,
)
from selfeng.synthesis.checks import draft_problem
from selfeng.synthesis.composing import steady_requirements
from selfeng.synthesis.examples import example_of, example_problem, example_tests
from selfeng.synthesis.gate import Chain, steady_summary, summary
from selfeng.synthesis.probe import SAYS, outcome_of
from selfeng.synthesis.programming import FailedCall, Programmer
from selfeng.synthesis.refactoring import Lap, Race
from selfeng.synthesis.specifying import Analyst, DelegateToAgents, DirectAnswer
from selfeng.synthesis.steps import Steps, SynthesisPolicy, checked
from selfeng.synthesis.suite.joining import joined
from selfeng.synthesis.testing import Tester
from selfeng.turns.graph_run import GraphRun

__all__ = ["DelegateToAgents", "DirectAnswer", "Synthesis", "SynthesisEngine", "SynthesisPolicy"]

_BY_HAND = Edited()
_OPTIMAL = "optimal"
"""The model's reply if it knows no faster way."""


class SynthesisEngine:
    """Writes tools by test-driven development."""

    def __init__(
        self,
        model: ModelClient,
        sandbox: Sandbox,
        library: ToolLibrary,
        model_name: str,
        policy: SynthesisPolicy | None = None,
        *,
        sources: PinnedSources | None = None,
        network: ToolNetwork | None = None,
        expect_tests: Callable[[], None] = lambda: None,
    ) -> None:
        """Without a `network` no tool that needs one is built. `expect_tests` is called when a tool
        is to be built, so that containers for its tests start while the model writes.
        """
        policy, self._expect_tests, self._model = policy or SynthesisPolicy(), expect_tests, model
        self._chain, self._library, self._model_name = Chain(sandbox, policy), library, model_name
        self._sources = sources or PinnedSources(library)
        self._programmer = Programmer(model, library, policy)
        self._deps = SynthesisDeps(
            policy=policy,
            sandbox=sandbox,
            chain=self._chain,
            before=self._before,
            library=library,
            model_name=model_name,
            analyst=Analyst(model, sandbox, library, policy, network),
            tester=Tester(model, self._chain, policy),
            programmer=self._programmer,
            provided=provided,
            network=network,
        )

    async def synthesize(
        self, turn: Turn
    ) -> Tool | DirectAnswer | ConsentAsked | Plan | DelegateToAgents:
        """Build and register the tool that the request needs, unless the library turns out to have
        it, or the request needs more than one.

        Raises:
            SynthesisFailed: a step gave up; the message says why, `where` names the step.
            ModelError, SandboxError: the model or the sandbox is broken.
        """
        synthesis = self.begin(turn)
        await GraphRun(turn, "specify").follow(SYNTHESIS_STAGES, synthesis)
        assert synthesis.result is not None
        return synthesis.result

    def begin(
        self,
        turn: Turn,
        near: Sequence[str] = (),
        learnable: Sequence[str] | None = None,
        likely: Sequence[str] = (),
        *,
        dispute: Dispute | None = None,
        specified: SpecifiedTool | None = None,
    ) -> Synthesis:
        """The synthesis of a tool for the turn, before its first stage; the tool is found by the
        `learnable` forms of the request from then on, None for the request as it is. `likely`
        names the candidates that the request may want changed, likeliest first; `dispute` is with
        an earlier result of a tool, which is fixed if it is wrong; `specified` has a person's
        consent.
        """
        self._expect_tests()
        forms = (turn.request.text,) if learnable is None else learnable
        return Synthesis(
            self._deps, turn, near, forms, likely, dispute=dispute, specified=specified
        )

    async def mend(self, turn: Turn, tool: Tool, failed: FailedCall) -> Tool | Question | None:
        """Make a new version of a tool that failed in use; None if the model blames the call and
        not the tool, or no repair passed; a question if only the person can decide.

        The tests stay unchanged, and the new version has to return what the old one returned, so
        everything that worked still works.

        Raises:
            ModelError, SandboxError: the model or the sandbox is broken.
            LibraryError, SynthesisFailed: the tool, or one that it imports, has changed meanwhile.
        """
        steps = Steps(turn)
        tools = Importable(
            await self._library.tools(), retired_allowed=[pin.name for pin in tool.requires]
        )
        code = await self._programmer.mend(steps, tool, tools, failed)
        if not code or isinstance(code, Question):
            return code or None
        new = (e.model_copy(update={"from_call": True}) for e in failed.exchanges)
        exchanges = (*tool.exchanges, *new)
        draft = tool.draft().model_copy(
            update={"code": code, "model": self._model_name, "exchanges": exchanges}
        )
        with steps.step("verify") as current:
            judged = await self._chain.judge(
                draft, tools, turn.emit, before=await self._before(tool)
            )
            problem = judged.problem or await self._still_failing(draft, failed)
            if problem:
                current.fail(problem)
                return None
            current.summary = judged.summary
        origin = Repaired(failure=failed.reason)
        return await self._revised(steps, tool, draft, tools, origin=origin, verdict=judged.verdict)

    async def _still_failing(self, draft: ToolDraft, failed: FailedCall) -> str:
        """How a draft fails in a call whose exchanges are replayed; "" if it does not."""
        if not failed.exchanges:
            return ""
        job = draft.job(exchanges=failed.exchanges)
        execution = await self._deps.sandbox.execute(job, failed.arguments, failed.files)
        outcome = outcome_of(execution)
        does = SAYS[outcome.kind](outcome.text) if outcome else "returns no plain value"
        return "" if isinstance(execution, Returned) else f"with the new answers it {does}"

    async def _revised(
        self,
        steps: Steps,
        tool: Tool,
        draft: ToolDraft,
        tools: Importable,
        *,
        origin: Origin,
        verdict: Verdict | None,
    ) -> Tool:
        """Register the draft as the next version of the tool."""
        with steps.step("register") as current:
            provenance = Provenance(
                origin=origin,
                verdict=verdict,
                prompts=tuple(steps.prompts_sent),
                usage=steps.turn.budget.usage,
                seconds=steps.turn.budget.seconds,
            )
            requires = await steady_requirements(self._library, tools, draft.code)
            pinned = {"requires": requires, "lock": tools.lock(draft.code, draft.lock)}
            new = await self._library.revise(
                draft.model_copy(update=pinned), tool.version, provenance
            )
            report_registered(steps, current, new)
        return new

    async def refactor(self, turn: Turn, tool: Tool) -> DirectAnswer:
        """Make a faster version of a tool: it passes the same tests and agrees with the old one on
        what they return, or raise, for other calls.

        Raises:
            SynthesisFailed: there is nothing to gain, or no rewriting is faster and agrees.
            ModelError, SandboxError: the model or the sandbox is broken.
            LibraryError: the tool, or one that it imports, has changed meanwhile.
        """
        steps, race = Steps(turn), Race(self._deps.sandbox, await self._before(tool))
        tools = Importable(
            await self._library.tools(), retired_allowed=[pin.name for pin in tool.requires]
        )
        problem = await race.prepare()
        for _ in range(0 if problem else self._deps.policy.max_rewrites + 1):
            code, problem = await self._programmer.refactor(
                steps, tool, tools, race.slowest, problem
            )
            if code.strip() == _OPTIMAL:
                problem = "the model knows no faster way"
                break
            if problem := problem or ("it is the code as it was" if code == tool.code else ""):
                continue
            lap, verdict = await self._raced(steps, race, tool, code)
            if not (problem := lap.objection):
                draft = tool.draft().model_copy(update={"code": code, "model": self._model_name})
                origin = Refactored(factor=lap.factor)
                new = await self._revised(steps, tool, draft, tools, origin=origin, verdict=verdict)
                words = f"`{new.name}` has version {new.version}."
                words = new.words if isinstance(new, Proposal) else words
                text = f"{words} {race.report(lap)}"
                return DirectAnswer(text=text, code="faster", values=race.figures(lap))
        raise SynthesisFailed(
            f"{tool.name} stays at version {tool.version}: {problem}", where="refactor"
        )

    async def _raced(self, steps: Steps, race: Race, tool: Tool, code: str) -> tuple[Lap, Verdict]:
        """The result of new code, and the verdict on it; what does not pass is not raced."""
        with steps.step("verify") as current:
            job = tool.job(code, tool.tests)
            verdict = await self._chain.gate.green(job, steps.turn.emit, current.attempt)
            if not verdict.passed:
                current.fail(summary(verdict))
                return Lap(0.0, 0.0, summary(verdict)), verdict
            current.summary = steady_summary(verdict)
        with steps.step("refactor") as current:
            lap = await race.run(code)
            if lap.objection:
                current.fail(f"Refused: {lap.objection}.")
            else:
                current.tell(race.report(lap), "faster", **race.figures(lap))
        return lap, verdict

    async def examine_imported(
        self, draft: ToolDraft, beside: Sequence[Tool] = (), *, alone: bool = False
    ) -> Verdict:
        """Check the words of a tool of another library, then run the chain on it. `beside` are
        tools that it may import, though they are not registered yet.

        Raises: SynthesisFailed, SandboxError, as `examine`.
        """
        if problem := draft_problem(draft):
            raise SynthesisFailed(
                f"{draft.name}: {problem}", "ask its author for plain words", where="specify"
            )
        return await self.examine(draft, beside, alone=alone)

    async def examine(
        self, draft: ToolDraft, beside: Sequence[Tool] = (), *, alone: bool = False
    ) -> Verdict:
        """Run the chain on a tool that a person wrote; the library's tool of its name, if there is
        one, is the previous version, unless it is judged `alone`. `beside` are tools that it may
        import, though they are not registered yet.

        Raises:
            SynthesisFailed: it does not pass; the message says why, `where` names the step.
            SandboxError: the sandbox is broken.
        """
        library_tools = await self._library.tools()
        tools, earlier = (
            Importable([*library_tools, *beside]),
            next((t for t in library_tools if t.name == draft.name and not alone), None),
        )
        new = {tool.name: tool.code for tool in beside}
        pins = [pin for pin in draft.requires if pin.name not in new]
        judged = await self._chain.judge(
            draft,
            tools,
            before=await self._before(earlier) if earlier else None,
            library={**await self._sources.of(pins), **new} if new else None,
        )
        if not judged.passed:
            where = "test" if judged.link in ("policy", "red", "mutation") else "verify"
            raise SynthesisFailed(f"{draft.name}: {judged.problem}", where=where)
        if (
            not new
            and await steady_requirements(self._library, tools, draft.code) != draft.requires
        ):
            raise SynthesisFailed(
                f"{draft.name}: the tools that it imports have changed meanwhile",
                "try again",
                where="verify",
            )
        assert judged.verdict
        return judged.verdict

    async def reexamine(self, tool: Tool, library: Mapping[str, str]) -> Verdict:
        """Run the chain on a tool with other modules to import; the tool with those that it is
        pinned to is the previous version.

        Raises: SandboxError.
        """
        tools = Importable(
            await self._library.tools(), retired_allowed=[pin.name for pin in tool.requires]
        )
        judged = await self._chain.judge(
            tool, tools, before=await self._before(tool), library=library
        )
        verdict = judged.verdict or Verdict(passed=False)
        if judged.passed:
            return verdict
        return verdict.model_copy(update={"passed": False, "problem": judged.problem})

    async def drafted(self, tool: Tool, edit: ToolEdit) -> ToolDraft:
        """A tool as a person edits it, with the rows as tests of their own.

        Raises: ToolModified: the code does not define it; RequestError: a row is not a call of it.
        """
        sources = Sources(code=edit.code or tool.code, tests=edit.tests or tool.tests)
        examples = [example_of(tool.name, row) for row in edit.rows]
        for example in examples:
            if problem := example_problem(example, tool.signature):
                raise RequestError(problem, f"the signature is {tool.signature}")
        taught = example_tests(tool.name, examples)
        try:
            tests = joined(sources.tests, taught) if taught else sources.tests
        except UNREADABLE as error:
            raise RequestError(f"the tests can't be read: {error}", "correct them") from error
        sources = sources.model_copy(update={"tests": tests})
        draft = edited(tool, sources, await self._library.tools())
        same_code = sources.code == tool.code
        return draft.model_copy(update={"witnesses": tool.witnesses if same_code else ()})

    async def quick_verdict(self, draft: ToolDraft) -> Verdict:
        """Its own tests once, in processes that serve others, too: for who still edits it. Raises:
        SandboxError.
        """
        (verdict,) = await self._suite(draft, [draft.code])
        return verdict

    async def alterations(self, tool: Tool) -> Alterations:
        """How much the suite of a tool notices. Raises: SandboxError."""
        modules = await self._sources.of(tool.requires)
        job = tool.job(tests=tool.tests, library=modules)
        return (await self._chain.strength(job)).alterations

    async def save(self, tool: Tool, edit: ToolEdit, origin: Origin = _BY_HAND) -> Tool:
        """Put what a person edited, or taught by rows, through the gate; it is the next version.

        Raises: as `drafted` and `examine`; VersionConflict, LibraryError.
        """
        draft = await self.drafted(tool, edit)
        verdict = await self.examine(draft)
        verdicts = await self._suite(draft, draft.witnesses)
        pairs = zip(draft.witnesses, verdicts, strict=True)
        witnesses = tuple(witness for witness, its in pairs if its.passed)
        draft = draft.model_copy(update={"witnesses": witnesses})
        provenance = Provenance(origin=origin, verdict=verdict)
        based_on = tool.based_on if isinstance(tool, Proposal) else tool.version
        if not based_on:
            return await self._library.add(draft, provenance)
        return await self._library.revise(draft, based_on, provenance)

    async def replay(self, version: ToolVersion, line: str, budget: Budget) -> LessonReplay | None:
        """Have the code of a version written again, by its recorded prompt and by the same without
        the line of a lesson; None if no prompt had it. Raises: ModelError, SandboxError.
        """
        if (recorded := version.provenance.prompt_with(line)) is None:
            return None
        codes = list[str]()
        for prompt in (recorded.without(), recorded.without(line)):
            reply = "".join([piece async for piece in self._model.stream(prompt, budget)])
            codes.append(checked(reply, lambda code: None)[0])
        first, second = await self._suite(version, codes)
        outcomes = {"passed_with": first.passed, "passed_without": second.passed}
        return LessonReplay(tool=version.name, version=version.version, **outcomes)

    async def _suite(self, draft: ToolDraft, codes: Sequence[str]) -> tuple[Verdict, ...]:
        modules = await self._sources.of(draft.requires)
        job = draft.job("", draft.tests, library=modules)
        versions = [Version(code=code, whole=True, apart=False) for code in codes]
        return await self._deps.sandbox.verify_versions(job, versions) if versions else ()

    async def behaviour(
        self, tool: Tool | None, draft: ToolDraft, recorded: Sequence[KnownCall]
    ) -> Behaviour:
        """How a draft differs from the tool that it changes, if any, on recorded calls and on those
        of its suite and mutations of them. Raises: SandboxError.
        """
        before = await self._before(tool) if tool else None
        modules = await self._sources.of(draft.requires)
        return await behaviour(self._deps.sandbox, before, draft, modules, recorded)

    async def objections(
        self, tool: Tool, draft: ToolDraft, recorded: Sequence[KnownCall]
    ) -> tuple[str, ...]:
        """How a version that another library made fails the tests of the tool that it would
        replace, and what else it returns for recorded calls. Raises: SandboxError.
        """
        new, untested = await self._before(draft), draft.model_copy(update={"tests": ""})
        failed = await self._chain.failing_before(tool.name, tool.tests, new)
        objections = [f"of your tests, {failed}"] if failed else []
        if recorded:
            before = await self._before(tool.model_copy(update={"tests": ""}))
            modules = await self._sources.of(draft.requires)
            changed = await behaviour(self._deps.sandbox, before, untested, modules, recorded)
            objections += [f"{c.call} {c.before}, and with it {c.after}" for c in changed.calls]
        return tuple(objections)

    async def _before(self, tool: ToolDraft) -> Before:
        modules = await self._sources.of(tool.requires)
        return Before(
            version=tool.version if isinstance(tool, Tool) else 0,
            signature=tool.signature,
            code=tool.code,
            tests=tool.tests,
            library=modules,
            exchanges=tool.replays,
            lock=tool.lock,
        )
