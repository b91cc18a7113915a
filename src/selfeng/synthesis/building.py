"""One synthesis: the stages that build a tool, from the specification to the registration, and the
state that they share.

The suite is frozen once the candidates have voted on it; repairs change the code only. A
specification that no implementation can fulfil is reopened once. Each stage returns the symbol that
it ends with; src/selfeng/core/stage.py says what follows.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import assert_never

from selfeng.core.background import beside
from selfeng.core.composition import Importable
from selfeng.core.consent_question import (
    ConsentAsked,
    need_key,
    needs_consent,
    not_consented,
    titles,
)
from selfeng.core.errors import EmbedderUnavailable, NetworkRefused, SynthesisFailed, ToolExists
from selfeng.core.events import AnswerCorrected, ConsentDecided, ToolProposed
from selfeng.core.functions import REFERENCE
from selfeng.core.http import Exchange, NetworkAccess
from selfeng.core.package_lock import PackageLock
from selfeng.core.plan import Plan
from selfeng.core.protocols import Sandbox, ToolLibrary, ToolNetwork
from selfeng.core.provenance import Corrected, Created, Extended, Proposal, Provenance
from selfeng.core.question import ALWAYS, NO, Question
from selfeng.core.result import Dispute
from selfeng.core.secrets import may_be_kept
from selfeng.core.spec import Specification, SpecifiedTool
from selfeng.core.stage import StageName
from selfeng.core.tool import Tool, ToolDraft, needs_of
from selfeng.core.turn import Turn
from selfeng.core.verdict import SandboxJob, Verdict
from selfeng.core.words import count, request_key, shortened
from selfeng.prompts.request import exchanges_shown
from selfeng.synthesis.before import Before
from selfeng.synthesis.composing import asking_problem, steady_requirements
from selfeng.synthesis.consensus import (
    LEAST_JURY,
    Consensus,
    Difference,
    DrawnCode,
    against,
    agree,
    distinct,
    kept_witnesses,
)
from selfeng.synthesis.examples import arguments_of
from selfeng.synthesis.gate import Chain, steady_summary, summary
from selfeng.synthesis.inputs import Arguments
from selfeng.synthesis.probe import SAYS, CallOutcome, outcome_of, same, shown_call
from selfeng.synthesis.programming import Programmer, no_implementation
from selfeng.synthesis.relatives import passing, twin
from selfeng.synthesis.specifying import (
    Analyst,
    BuildSpec,
    DelegateToAgents,
    DirectAnswer,
    KnownTool,
)
from selfeng.synthesis.steps import Step, Steps, SynthesisPolicy, gave_up
from selfeng.synthesis.suite.editing import without
from selfeng.synthesis.testing import Tester, can_not_pass

_ERROR = 400
"""The status of HTTP from which on an answer is an error."""
_LARGEST = 1_000_000
"""Characters of a body, in base64, that are recorded."""
_SHOWN = 200
"""Characters of a call, and of a result, in a question."""
_EXAMPLES = 5
"""The most example requests that a tool has, which everyone sees."""


@dataclass(frozen=True)
class SynthesisDeps:
    """The agents, the rules and the library of a synthesis."""

    policy: SynthesisPolicy
    sandbox: Sandbox
    chain: Chain
    before: Callable[[Tool], Awaitable[Before]]
    """A tool as the previous version."""
    library: ToolLibrary
    model_name: str
    analyst: Analyst
    tester: Tester
    programmer: Programmer
    provided: Callable[[Sandbox, tuple[Exchange, ...], PackageLock | None], Sandbox]
    """A sandbox that has these packages, and in which hosts answer as recorded."""
    network: ToolNetwork | None = None
    """The hosts that tools may use; None: there are none."""


class Synthesis:
    """One tool being built, for one turn."""

    _build: BuildSpec
    _tools: Importable
    _former: Before | None
    """The previous version, if there is one."""
    _tests: str
    _earlier: Mapping[str, str]
    """The tests that come from the previous version, with their names there."""
    _drawn: list[str]
    """The candidates; the first is the one that the person saw."""
    _witnesses: Sequence[DrawnCode]
    """The candidates that were right, as far as the comparison could tell."""
    _code: str
    _failing: set[tuple[str, int, str]]
    """Tools near the specification, by name and version, each with a suite that it does not pass.
    """
    _verdict: Verdict
    _draft: ToolDraft
    """The draft that is verified, without the tools that it imports."""

    def __init__(
        self,
        deps: SynthesisDeps,
        turn: Turn,
        near: Sequence[str],
        learnable: Sequence[str],
        likely: Sequence[str] = (),
        *,
        dispute: Dispute | None = None,
        specified: SpecifiedTool | None = None,
    ) -> None:
        """`near` names tools that the specification is compared with, `likely` those that the
        request may want changed; `learnable` are the forms of the request that stand alone; with a
        `dispute` the tool that gave that result may be fixed; `specified` has a person's consent.
        """
        self._specified = specified
        self._refused_probes, self._reopened = "", 0
        self._sandbox = deps.sandbox
        """It has the packages, and in it hosts answer as recorded, if something is."""
        self._dispute = dispute
        self._deps, self._policy, self._steps = deps, deps.policy, Steps(turn)
        self._near, self._requests = near, tuple(filter(may_be_kept, learnable))
        self._likely = likely
        self.result: Tool | DirectAnswer | ConsentAsked | Plan | DelegateToAgents | None = None
        """The result; a tool was registered, or found in the library."""
        self.built: Specification | None = None
        """The specification of the tool that was added to the library."""
        self._stuck: SynthesisFailed | None = None
        """Why the specification was reopened."""
        self.arguments: Arguments | None = None
        """The request's own, by parameter, as the specification gives them; None where it gives
        none.
        """
        self.cron = ""
        """The times at which the request wants a call to be made again and again; "" for none."""

    async def specify(self) -> str:
        if isinstance(self.result, ConsentAsked):  # for the host that a probe was redirected to
            return "unclear"
        problem = f"it can't be fulfilled as written: {self._stuck.message}" if self._stuck else ""
        reply, self._specified = self._specified, None
        decision = await self._deps.analyst.specify(
            self._steps,
            self._near,
            self._likely,
            self._refused_probes or problem,
            self._dispute,
            reply=reply,
        )
        if isinstance(decision, BuildSpec | KnownTool):
            self.arguments, self.cron = decision.arguments, decision.cron
        if isinstance(decision, BuildSpec) and decision.fixes:
            self.arguments = decision.fixes.arguments or self.arguments
        if isinstance(decision, KnownTool):
            self.result = decision.tool
            return "known"
        if not isinstance(decision, BuildSpec):
            self.result = decision
            match decision:
                case Plan():
                    return "steps"
                case DelegateToAgents():
                    return "for agents"
                case DirectAnswer(questions=questions, declined=declined):
                    return "unclear" if questions else "declined" if declined else "no tool"
                case _:
                    assert_never(decision)
        if decision.extends and decision.extends.frozen and not decision.fixes:
            name, version = decision.extends.name, decision.extends.version
            raise SynthesisFailed(
                f"version {version} of {name} is frozen, and the request needs a change of it",
                f"`selfeng unfreeze {name}` allows it",
                where="specify",
                cause="frozen",
                name=name,
            )
        if self._stuck and decision.spec == self._build.spec:
            raise self._stuck
        if not self._stuck:
            self._tools = Importable(await self._deps.library.tools())
        self._build, self._drawn, self._witnesses, self._failing = decision, [], (), set()
        self._former = await self._deps.before(decision.extends) if decision.extends else None
        self._rewrites, self._problem, self._strengthened, self._asked_more = 0, "", False, False
        if await self._asks_for_consent():
            return "unclear"
        return "to be probed" if self._build.spec.network else "ordered"

    async def _asks_for_consent(self) -> bool:
        """Whether something that the tool needs is not allowed yet. The next version of a tool
        keeps what that has.
        """
        build, former, network = self._build, self._build.extends, self._deps.network
        if former:
            former_needs = {
                "network": build.spec.network or former.network,
                "limits": build.spec.limits if str(build.spec.limits) else former.limits,
            }
            build = build.model_copy(
                update={
                    "spec": build.spec.model_copy(update=former_needs),
                    "exchanges": former.exchanges,
                    "lock": build.lock or former.lock,
                }
            )
            self._build = build
        self._sandbox = self._deps.provided(self._deps.sandbox, build.exchanges, build.lock)
        needs = needs_of(build.spec.accesses, build.lock, build.spec.limits)
        if former and needs and network:
            all_needs = {**former_needs, "network": build.spec.accesses, "lock": build.lock}
            needs = await network.ungranted(former.model_copy(update=all_needs))
        turn, name = self._steps.turn, build.spec.name
        needs = tuple(need for need in needs if need_key(name, need) not in turn.granted)
        if not needs:
            return False
        final = {"specification": build.spec, "lock": build.lock}
        specified = build.reply and build.reply.model_copy(update=final)
        consent = needs_consent(name, needs, specified=specified)
        if not turn.request.is_part:
            self.result = consent
            return True
        decision = turn.granted.get(consent.question.id)  # the whole of which this is a part asked
        if decision in (None, NO):
            refusal = not_consented(name, "")
            if decision is None:
                refusal.asks = consent.model_copy(update={"specified": None})
            raise refusal
        turn.emit(ConsentDecided(tool=name, server=titles(needs), decision=decision))
        turn.granted.update((need_key(name, need), decision) for need in needs)
        return False

    async def probe(self) -> str:
        """Record what the hosts answer; the specification is written again if they don't, or put
        to the person with the hosts that they redirect to.

        Raises:
            SynthesisFailed: they still don't.
        """
        spec = self._build.spec
        with self._steps.step("probe") as current:
            exchanges, problems, redirects = await self._probed()
            has_failed = bool(problems) and not any(e.response.status < _ERROR for e in exchanges)
            answered = f"{len(exchanges)} of {count(len(spec.probes), 'probe')} answered."
            current.summary = " ".join([answered, *(f"{problem}." for problem in problems)])
            current.failed = has_failed and not redirects
        if redirects:
            more_hosts = spec.model_copy(update={"network": (*spec.network, *redirects)})
            self._build = self._build.model_copy(update={"spec": more_hosts})
            return "stuck" if await self._asks_for_consent() else await self.probe()
        if has_failed and self._reopened == self._policy.max_rewrites:
            raise gave_up("probe", self._reopened + 1, problems[0])
        if has_failed:
            self._reopened += 1
            self._refused_probes = f"no probe works: {'; '.join(problems)}"
            return "stuck"
        self._refused_probes = ""
        exchanges = (*self._build.exchanges, *exchanges)
        self._build = self._build.model_copy(update={"exchanges": exchanges})
        self._sandbox = self._deps.provided(self._deps.sandbox, exchanges, self._build.lock)
        if self._former:
            self._former = self._former.model_copy(update={"exchanges": exchanges})
        return "recorded"

    async def _probed(self) -> tuple[tuple[Exchange, ...], list[str], list[NetworkAccess]]:
        """The exchanges that the probes recorded, except earlier ones, their problems, and the
        hosts to which they were redirected without consent.
        """
        build, network, problems = self._build, self._deps.network, list[str]()
        redirects = list[NetworkAccess]()
        assert network is not None, build
        exchanges = {exchange.request.url: exchange for exchange in build.exchanges}
        for url in [url for url in build.spec.probes if url not in exchanges]:
            try:
                exchange = await network.probe(build.spec.accesses, url)
            except NetworkRefused as error:
                problems.append(error.message)
                redirects += [error.lacks] if error.lacks else []
                continue
            if len(exchange.response.body) > _LARGEST:
                problems.append(f"the answer to GET {url} is too large to be recorded")
                continue
            if exchange.response.status >= _ERROR:
                problems.append(f"the answer to GET {url} is {exchanges_shown([exchange])}")
            exchanges[url] = exchange
        new = tuple(e for e in exchanges.values() if e not in build.exchanges)
        return new, problems, list(dict.fromkeys(redirects))

    async def test(self) -> str:
        suite = await self._deps.tester.write(
            self._steps, self._build, self._former, problem=self._problem
        )
        self._tests, self._earlier = suite.tests, suite.earlier
        return "rewritten" if self._drawn else "written"

    async def implement(self) -> str:
        self._drawn = await self._deps.programmer.draw(
            self._steps, self._build, self._tests, self._tools
        )
        self._begin_repairs(self._drawn[0])
        return "different" if len(set(self._drawn)) > 1 else "alike"

    async def compare(self) -> str:
        agreed = await self._agreed(self._drawn, self._tests)
        enough = agreed.kept >= self._policy.least_tests or not agreed.dropped
        problem, last = (
            "" if enough else _too_few(agreed),
            self._rewrites == self._policy.max_rewrites,
        )
        if not problem or last:
            problem = await self._weakened(agreed.tests)
        if not problem:
            agreed, difference = await self._on_own_call(agreed)
            self._tests, self._witnesses = agreed.tests, agreed.right
            self._begin_repairs(agreed.nearest.code)
            if difference and (question := self._which(difference)):
                self.result = question
                return "unclear"
            return "agreed"
        if last:
            raise gave_up("test", self._rewrites + 1, problem)
        self._rewrites, self._problem = self._rewrites + 1, problem
        return "refuted"

    async def _on_own_call(self, agreed: Consensus) -> tuple[Consensus, Difference | None]:
        """The vote, with one more test if candidates that are right so far differ on the request's
        own call, and how they still differ there.
        """
        agreed, difference = await self._differing_there(agreed)
        if difference is None:
            return agreed, None
        larger = await self._deps.tester.decide(self._steps, self._build, agreed.tests, difference)
        if larger == agreed.tests:
            return agreed, difference
        return await self._differing_there(await self._vote(self._drawn, larger))

    async def _differing_there(self, agreed: Consensus) -> tuple[Consensus, Difference | None]:
        """The vote, without candidates that raise on the request's own call where others return,
        and how the others differ there. The call is run on the person's files, without effects.
        """
        right = [n for n, report in enumerate(agreed.reports) if report.right]
        arguments, name = self.arguments, self._build.spec.name
        if not arguments or len(right) < LEAST_JURY or REFERENCE in repr(arguments):
            return agreed, None
        files, reports = await self._steps.turn.request.files_of(arguments), [*agreed.reports]
        with self._steps.step("compare") as current:
            runs = await asyncio.gather(
                *(
                    self._sandbox.execute(SandboxJob(name, reports[n].code), arguments, files)
                    for n in right
                )
            )
            outcomes = {n: o for n, run in zip(right, runs, strict=True) if (o := outcome_of(run))}
            returned = [outcome for outcome in outcomes.values() if outcome.kind == "returned"]
            if not returned:
                current.tell(
                    "No candidate returns a value for the request's own call.", "own_call_none"
                )
                return agreed, None
            expected, call = self._expected, shown_call(name, arguments)
            first = expected or returned[0]
            for n, outcome in outcomes.items():
                if outcome.kind != "returned" or (expected and not same(first, outcome)):
                    own = Difference(
                        call=call, others=first.text, own=SAYS[outcome.kind](outcome.text)
                    )
                    reports[n] = reports[n].model_copy(update={"refuted": own})
            other, text = None, shortened(first.text, _SHOWN)
            if expected:
                current.tell(f"The person says that {text} is right.", "own_call_right", value=text)
            elif other := next((o for o in returned if not same(first, o)), None):
                second = shortened(other.text, _SHOWN)
                current.tell(
                    f"On the request's own call one candidate returns {text}, and another one "
                    f"{second}.",
                    "own_call_differs",
                    first=text,
                    second=second,
                )
            else:
                current.tell("The candidates agree on the request's own call.", "own_call_agrees")
        agreed = agreed.model_copy(update={"reports": tuple(reports)})
        if other is None:
            return agreed, None
        return agreed, Difference(call=call, others=first.text, own=other.text)

    @property
    def _expected(self) -> CallOutcome | None:
        """The outcome that the person says is right for the request's own call."""
        dispute = self._build.fixes
        if not dispute or not dispute.expected or not dispute.arguments:
            return None
        return CallOutcome(kind="returned", text=repr(json.loads(dispute.expected)))

    async def _missed(self) -> str:
        """How code differs from what the person says is right, on their own files; "" if it does
        not.
        """
        expected, arguments, name = self._expected, self.arguments, self._build.spec.name
        if expected is None or not arguments:
            return ""
        files = await self._steps.turn.request.files_of(arguments)
        run = await self._sandbox.execute(SandboxJob(name, self._code), arguments, files)
        outcome = outcome_of(run)
        if outcome and same(outcome, expected):
            return ""
        does = SAYS[outcome.kind](outcome.text) if outcome else "returns no value"
        return (
            f"for {shortened(shown_call(name, arguments), _SHOWN)} it {shortened(does, _SHOWN)}; "
            f"the person says that {shortened(expected.text, _SHOWN)} is right"
        )

    def _which(self, difference: Difference) -> DirectAnswer | None:
        """The question which of two results is right; None if the person can't be asked again."""
        question = Question(
            id="result",
            question="Two readings of the request give different results. Which one is right?",
            why=shortened(difference.call, _SHOWN),
            answer="choice",
            options=(shortened(difference.others, _SHOWN), shortened(difference.own, _SHOWN)),
        )
        request = self._steps.turn.request
        if request.is_part or asking_problem(request, [question]):
            return None
        return DirectAnswer(text="", questions=(question,), code="readings")

    async def _weakened(self, tests: str) -> str:
        """Why the suite that a vote left is refused; "" if it is accepted."""
        if tests == self._tests:
            return ""
        judged = await self._deps.chain.suite_problem(self._build.spec.signature(), tests)
        problem = (
            judged.problem
            if judged
            else await self._deps.tester.fault_missing(self._build, tests, self._former)
        )
        return (
            f"without the tests that most of the independent implementations refute, {problem}"
            if problem
            else ""
        )

    async def _agreed(self, drawn: Sequence[str], tests: str) -> Consensus:
        """The candidates' vote on the tests and on each other, with one more test if two of them
        differ and no third decides.
        """
        agreed = await self._vote(drawn, tests)
        if agreed.open_question is None:
            return agreed
        larger = await self._deps.tester.decide(
            self._steps, self._build, agreed.tests, agreed.open_question
        )
        return agreed if larger == agreed.tests else await self._vote(drawn, larger)

    async def _vote(self, drawn: Sequence[str], tests: str) -> Consensus:
        signature = self._build.spec.signature()
        with self._steps.step("compare") as current:
            agreed = await agree(
                self._sandbox,
                signature,
                distinct(drawn),
                tests,
                self._examples(),
                frozen=() if self._build.fixes else self._earlier,
            )
            self._witnesses = agreed.right
            current.summary, current.artifact = agreed.summary(), agreed.model_dump_json(indent=2)
            current.failed = agreed.winner is None
        return agreed

    def _examples(self) -> list[Arguments]:
        spec = self._build.spec
        return [
            a
            for e in (*spec.user_examples, *spec.examples)
            if (a := arguments_of(e, spec.signature()))
        ]

    def _begin_repairs(self, code: str) -> None:
        """Allow the full number of repairs for this code."""
        self._code, self._before, self._repairs = code, "", 0
        self._always: set[str] | None = None
        """The tests that every attempt so far has failed."""

    @property
    def _job(self) -> SandboxJob:
        build = self._build
        return SandboxJob(
            build.spec.name,
            self._code,
            self._tests,
            exchanges=build.exchanges,
            lock=build.lock,
        )

    async def verify(self) -> str:
        with self._steps.step("verify") as current:
            async with beside(self._prepare()):
                self._verdict = await self._deps.chain.gate.green(
                    self._job, self._steps.turn.emit, current.attempt
                )
            if self._verdict.passed and (problem := await self._refuted()):
                self._verdict = Verdict(passed=False, problem=problem)
            if self._verdict.passed:
                current.summary = steady_summary(self._verdict)
                return "passed" if self._strengthened else "unproven"
            current.fail(summary(self._verdict))
        failed = {
            t.test
            for t in self._verdict.tests
            if t.outcome != "passed" and not self._verdict.problem
        }
        self._always = failed if self._always is None else self._always & failed
        return "failed"

    async def _prepare(self) -> None:
        """Do ahead what a new tool's registration needs: note which of the tools near the
        specification do not pass the suite, and embed its words. It runs concurrently with steps of
        the turn's work, so it takes only one of its own, at once.
        """
        spec, tests, near = self._build.spec, self._tests, self._unknown(self._build.near)
        self._draft = ToolDraft(
            name=spec.name,
            description=spec.description,
            signature=spec.signature(),
            code=self._code,
            tests=tests,
            example_requests=_own_examples(self._steps.turn.request.text, spec.example_requests),
            model=self._deps.model_name,
            witnesses=kept_witnesses(self._code, self._witnesses),
            network=spec.network,
            exchanges=self._build.exchanges,
            lock=self._build.lock,
            limits=spec.limits,
        )
        passed = await passing(self._sandbox, self._draft.signature, tests, near)
        self._failing |= {(t.name, t.version, tests) for t in near if t not in passed}
        if not self._build.extends:
            await self._deps.library.prepare(self._draft, self._requests)

    async def _twin(self) -> Tool | None:
        """The tool of another name that does the same, if the library has it by now."""
        candidates = await self._deps.analyst.relatives(self._build.spec)
        near, draft = self._unknown([c.tool for c in candidates]), self._draft
        return await twin(self._sandbox, draft.signature, draft.code, draft.tests, near)

    def _unknown(self, tools: Sequence[Tool]) -> Sequence[Tool]:
        """Those of the tools that need no other packages, and are not known to fail the suite."""
        alike = [tool for tool in tools if tool.lock in (None, self._build.lock)]
        return [t for t in alike if (t.name, t.version, self._tests) not in self._failing]

    async def _refuted(self) -> str:
        """The objection of the person, of the previous version, or of the candidates if the code is
        not one of them, to code that passes; "" if there is none.
        """
        deps, signature = self._deps, self._build.spec.signature()
        if missed := await self._missed():
            return missed
        if problem := await deps.chain.comparison(signature, self._job, self._former):
            return problem
        if self._code in self._drawn:
            return ""
        difference = await against(
            self._sandbox,
            signature,
            self._code,
            self._witnesses,
            tests=self._tests,
            examples=self._examples(),
        )
        return (
            f"for {difference.call} it {difference.own}, and most of the implementations that "
            f"passed return {difference.others}"
            if difference
            else ""
        )

    async def repair(self) -> str:
        """Repair the code until it can be run, as often as the policy allows.

        Raises:
            SynthesisFailed: no repair is left, and the specification is not at fault or was already
                reopened.
        """
        build, last = self._build, summary(self._verdict)
        while self._repairs < self._policy.max_repairs:
            self._repairs += 1
            new, last = await self._deps.programmer.repair(
                self._steps,
                build,
                self._tests,
                self._tools,
                self._code,
                before=self._before,
                verdict=self._verdict,
            )
            if not last:
                self._before, self._code = self._code, new
                return "repaired"
        failure = no_implementation(self._policy, last)
        old = sorted(
            {
                self._earlier[name]
                for t in self._always or ()
                if (name := t.partition("[")[0]) in self._earlier
            }
        )
        if build.fixes and old:  # they hold the fault
            names = [n for n, former in self._earlier.items() if former in old]
            self._tests = without(self._tests, build.spec.name, names)
            self._earlier = {n: f for n, f in self._earlier.items() if n not in names}
            self._begin_repairs(self._code)
            return "repaired"
        if build.extends and old:
            raise can_not_pass(
                build.extends,
                f"{failure.message}; of version {build.extends.version}: {', '.join(old)}",
            )
        if self._stuck or not self._always or not self._policy.max_repairs:
            raise failure
        self._stuck = failure
        return "stuck"

    async def strengthen(self) -> str:
        """Add tests, once, if the suite would miss many mistakes, or has not looked at something.

        Raises:
            SynthesisFailed: tests pass whatever the tool does, even after that.
        """
        with self._steps.step("strengthen") as current:
            strength = await self._deps.chain.strength(self._job, self._verdict)
            current.summary = strength.summary
            current.artifact = strength.model_dump_json(indent=2)
            problem = self._deps.chain.weakness(strength)
            self._verdict = self._verdict.model_copy(update={"strength": strength.alterations})
            if strength.replay.refused:
                current.fail(f"Refused: {problem}.")
        self._strengthened = not strength.replay.refused
        if not problem and not strength.replay.gaps:
            return "strong"
        asked_more, self._asked_more = self._asked_more, True
        tests = self._tests
        if not asked_more:
            tests = await self._deps.tester.more(self._steps, self._build, self._tests, strength)
        if tests == self._tests:
            if strength.replay.refused or strength.problem:
                raise gave_up("test", 1 + asked_more, problem)
            return "strong"
        code = self._code
        if len(set(self._drawn)) > 1:
            agreed = await self._agreed([*self._drawn, code], tests)
            tests = self._tests if await self._weakened(agreed.tests) else agreed.tests
            code = (
                code
                if any(r.right for r in agreed.reports if r.code == code)
                else agreed.nearest.code
            )
        self._tests = tests
        self._begin_repairs(code)
        return "added"

    async def register(self) -> str:
        tool = await self._registered(self._build, self._verdict)
        if isinstance(tool, Proposal):
            self.result = DirectAnswer(
                text=tool.words, waits=True, code="proposed", values={"tool": tool.name}
            )
            return "proposed"
        if tool.needs:
            await self._grant(tool)
        self.result = tool
        self.built = self._build.spec if tool.code == self._code else None
        return "registered"

    async def _registered(self, build: BuildSpec, verdict: Verdict) -> Tool:
        library, turn, spec, base = self._deps.library, self._steps.turn, build.spec, build.extends
        further = [p.name for p in spec.parameters[len(base.signature.parameters) if base else 0 :]]
        extended = Extended(parameters=tuple(further)) if base else Created()
        provenance = Provenance(
            origin=Corrected(turn_id=build.fixes.result.turn_id) if build.fixes else extended,
            verdict=verdict,
            prompts=tuple(self._steps.prompts_sent),
            usage=turn.budget.usage,
            seconds=turn.budget.seconds,
        )
        with self._steps.step("register") as current:
            requires = await steady_requirements(library, self._tools, self._code)
            lock = self._tools.lock(self._code, self._build.lock)
            draft = self._draft.model_copy(update={"requires": requires, "lock": lock})
            if base:
                tool = await library.revise(draft, base.version, provenance)
                await self._learn(tool, build.fixes)
                report_registered(self._steps, current, tool)
                return tool
            if same_tool := await self._twin():
                current.tell(
                    f"{same_tool.name} is in the library already, and each passes the "
                    "other's tests: it is used.",
                    "twin",
                    tool=same_tool.name,
                )
                return same_tool
            try:
                tool = await library.add(draft, provenance, self._requests)
                report_registered(self._steps, current, tool)
            except ToolExists:
                # Another turn was asked the same at the same time, and was faster.
                tool = await library.get(spec.name)
                if tool.signature != draft.signature:
                    raise
                current.tell(
                    f"{tool.name} was registered by another turn meanwhile; that one is used.",
                    "meanwhile",
                    tool=tool.name,
                )
            return tool

    async def _grant(self, tool: Tool) -> None:
        """Keep the consent to what the person was asked for, if they said so."""
        granted = self._steps.turn.granted
        bound = tool.model_copy(update={"network": self._build.spec.accesses})
        built_as = self._build.spec.name  # the library may have the same under another name
        decisions = {need: granted.get(need_key(built_as, need)) for need in bound.needs}
        for need, decision in decisions.items():
            if decision:
                granted[need_key(tool.name, need)] = decision
        needs = [need for need, decision in decisions.items() if decision == ALWAYS]
        if self._deps.network and needs and not isinstance(tool, Proposal):
            await self._deps.network.grant(tool, needs)

    async def _learn(self, tool: Tool, dispute: Dispute | None) -> None:
        """Let the requests find the next version of a tool, or mark the answer that it corrects,
        and take back what the tool learnt by that.
        """
        if isinstance(tool, Proposal):
            return
        if not dispute:
            with suppress(EmbedderUnavailable):  # its words and examples still find it
                for form in self._requests:
                    await self._deps.library.record_request(tool.name, tool.version, form)
            return
        for form in dispute.requests:
            await self._deps.library.forget_request(tool.name, form)
        turn_id = dispute.result.turn_id
        if turn_id:  # none if a person teaches the tool
            self._steps.turn.emit(
                AnswerCorrected(tool=tool.name, version=tool.version, turn_id=turn_id)
            )


def report_registered(steps: Steps, current: Step, tool: Tool) -> None:
    """Summarize that a tool was registered, or proposed, which is an event too."""
    if isinstance(tool, Proposal):
        steps.turn.emit(ToolProposed(tool=tool.name, version=tool.version, based_on=tool.based_on))
        current.tell(tool.words, "proposed", tool=tool.name)
        return
    version = f", as version {tool.version}" if tool.version > 1 else ""
    current.summary = f"{tool.name} is in the library{version}."


SYNTHESIS_STAGES: Mapping[StageName, Callable[[Synthesis], Awaitable[str]]] = {
    "specify": Synthesis.specify,
    "probe": Synthesis.probe,
    "test": Synthesis.test,
    "implement": Synthesis.implement,
    "compare": Synthesis.compare,
    "verify": Synthesis.verify,
    "repair": Synthesis.repair,
    "strengthen": Synthesis.strengthen,
    "register": Synthesis.register,
}


def _own_examples(request: str, examples: Sequence[str]) -> tuple[str, ...]:
    """The examples that the model wrote for a new tool, except those that repeat the person's own
    request.
    """
    key = request_key(request)
    return tuple(r for r in examples if request_key(r) != key)[:_EXAMPLES]


def _too_few(agreed: Consensus) -> str:
    refuted = "; ".join(
        f"{d.test} ({d.message.strip().splitlines()[-1] if d.message.strip() else 'failed'})"
        for d in agreed.dropped
    )
    return (
        "most of the independent implementations refute these tests, so only "
        f"{count(agreed.kept, 'test')} would be left: {refuted}"
    )
