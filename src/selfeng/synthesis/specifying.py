"""The analyst: from a request to a specification, unless no tool has to be built."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import assert_never

from selfeng.core.composition import NEAR
from selfeng.core.errors import LibraryError, ModelRefused, RequestError
from selfeng.core.http import Exchange
from selfeng.core.package_lock import PackageLock
from selfeng.core.plan import Plan
from selfeng.core.protocols import ModelClient, Sandbox, ToolLibrary, ToolNetwork
from selfeng.core.question import Question
from selfeng.core.result import Dispute
from selfeng.core.signature import Signature
from selfeng.core.spec import SpecExample, Specification, SpecificationReply, SpecifiedTool
from selfeng.core.tool import Candidate, Tool
from selfeng.core.turn import Budget, Request
from selfeng.core.value import Coded, Value
from selfeng.core.words import count
from selfeng.prompts import render
from selfeng.prompts.request import disputable, saved_plan, shown
from selfeng.synthesis.checks import probe_problem, specification_problem
from selfeng.synthesis.composing import (
    asking_problem,
    nearest,
    sources_of,
    steps_problem,
)
from selfeng.synthesis.examples import (
    arguments_of,
    contradiction,
    expected_examples,
    stated,
    with_example,
)
from selfeng.synthesis.inputs import Arguments
from selfeng.synthesis.relatives import likeness, renamed
from selfeng.synthesis.steps import Step, Steps, SynthesisPolicy, gave_up

RELATIVES = 5
"""Tools near a specification that may be the same."""
_FULFILLED = (
    "the present version fulfils all these examples, so they show no fault: begin with a call that "
    "it gets wrong, or, if it is right, reply with `answer` and the reason"
)
LIKELY = 0.5
"""Confidence from which a tool that the model has not seen may be what it specifies."""
VIEWED = 2
"""Tools that the specification may change, and of which it sees what docstring and tests say."""

_KNOWN = "{} is in the library already, and does this."


class DirectAnswer(Coded):
    """The request needs no tool: this is the answer to the person, or the question."""

    text: str
    """The whole answer, what introduces the questions, or why the request is declined."""
    questions: tuple[Question, ...] = ()
    waits: bool = False
    """Whether it says that a tool waits for the person to accept it."""
    declined: bool = False
    tool: str | None = None
    """The tool that was asked for, and is not called."""


class DelegateToAgents(Value):
    """The request is work for agents."""

    agent: str = "coder"
    context: str = ""
    """The information that the request takes from the conversation before it."""


class BuildSpec(Value):
    spec: Specification
    extends: Tool | None = None
    """The tool to make the next version of; its tests have to pass as well."""
    fixes: Dispute | None = None
    """The wrong answer of that tool, if it gave one: then a test must fail on it, and its own tests
    may be wrong.
    """
    arguments: Arguments | None = None
    """Those that the request gives, by parameter; None if it does not give all that are needed."""
    near: tuple[Tool, ...] = ()
    """Of a new tool: those of the library that may do the same."""
    reply: SpecifiedTool | None = None
    """The model's reply that it was read from."""
    exchanges: tuple[Exchange, ...] = ()
    """The exchanges recorded with the hosts that it needs."""
    lock: PackageLock | None = None
    """The packages that it needs."""
    cron: str = ""
    """When the request wants a call to be made again and again; "" for once, now."""


class KnownTool(Value):
    """A tool of the library that does what would have been built."""

    tool: Tool
    arguments: Arguments | None
    """As those of a `BuildSpec`."""
    cron: str = ""


Specified = BuildSpec | KnownTool | DirectAnswer | Plan | DelegateToAgents
"""The outcome of the specification of a request."""


class Analyst:
    def __init__(
        self,
        model: ModelClient,
        sandbox: Sandbox,
        library: ToolLibrary,
        policy: SynthesisPolicy,
        network: ToolNetwork | None = None,
    ) -> None:
        """Without a `network` no tool needs anything that a person would have to grant."""
        self._model, self._sandbox, self._library, self._policy = model, sandbox, library, policy
        self._network = network

    async def specify(
        self,
        steps: Steps,
        near: Sequence[str],
        likely: Sequence[str] = (),
        problem: str = "",
        dispute: Dispute | None = None,
        *,
        reply: SpecifiedTool | None = None,
    ) -> Specified:
        """`near` names the tools that the prompt lists, `likely` those that are shown with their
        sources; `near` without `likely` means that the search could not tell which they are.
        `problem` says why an earlier specification was refused. The tool of a `dispute` may be
        fixed. A `reply` that a person has consented to is taken instead of the model's first one.

        Raises:
            SynthesisFailed: the model wrote no usable specification.
            ModelError, SandboxError: the model or the sandbox is broken.
        """
        turn, attempts = steps.turn, self._policy.max_rewrites + 1
        request, lessons = turn.request, await turn.lessons("specify", turn.request.text)
        context = {
            **shown(request, lessons),
            "may_plan": not request.is_part,
            "connected": self._network is not None,
            "kept": saved_plan(request),
            "disputed": bool(dispute),
            "disputable": disputable(dispute or request.earlier_results.values),
        }
        if dispute:
            near = (dispute.result.tool, *near)
            likely = (dispute.result.tool,)
        listed = [tool for name in near if (tool := await self._find_tool(name))]
        viewed = [tool for tool in listed if dispute and tool.name in likely]
        unsure = bool(listed) and not likely
        problem = problem or _refused(request.refused)
        for _ in range(attempts):
            sources = {"near": nearest(listed, likely[:VIEWED]), "sources": sources_of(viewed)}
            prompt = render("specification", request.history, **context, **sources, problem=problem)
            with steps.step("specify", prompt.name) as current:
                steps.note_prompt(prompt)
                try:
                    limits = turn.budget.limits
                    budget = Budget(limits, on_text=current.tell_answer, parent=turn.budget)
                    patient = prompt.showing(request.pictures).model_copy(update={"streamed": True})
                    new_reply: SpecificationReply = reply or await self._model.structured(
                        patient, SpecificationReply, budget
                    )
                except ModelRefused as refusal:
                    current.tell("The model declines it.", "declined")
                    return _declined(f"{refusal.message.rstrip('.')}.")
                concerned, reply = SpecifiedTool(**{"lock": None} | dict(new_reply)), None
                decision = await self._made_of(current, request, concerned, dispute)
                if isinstance(decision, BuildSpec) and not decision.extends:
                    seen_names = {tool.name for tool in listed} if unsure and not problem else None
                    decision = await self._in_library(current, decision, seen_names)
                elif isinstance(decision, str):
                    current.fail(f"Refused: {decision}.")
                if not isinstance(decision, str):
                    return decision
                problem = decision
                viewed += [
                    t for t in await self._tools_concerned(concerned, problem) if t not in viewed
                ]
        raise gave_up("specify", attempts, problem)

    async def _made_of(
        self,
        current: Step,
        request: Request,
        reply: SpecifiedTool,
        dispute: Dispute | None,
    ) -> Specified | str:
        """The decision that follows from a reply; a text says why it is refused."""
        if reply.outcome != "tool" and reply.outcome != "fix":  # noqa: PLR1714 - which mypy follows
            current.decision = reply.outcome
        match reply.outcome:
            case "impossible":
                current.summary = "It can't be done here."
                return _declined(reply.message)
            case "steps":
                current.summary = f"It takes {count(len(reply.steps), 'step')}."
                return steps_problem(request, reply.steps) or Plan(steps=reply.steps)
            case "delegate":
                current.summary = "It is work for agents."
                return (
                    "this is a part of a larger task; specify one tool for it"
                    if request.is_part
                    else DelegateToAgents(agent=reply.agent or "coder", context=reply.message)
                )
            case "question" if reply.message or reply.questions:
                questions = reply.questions or (Question(id="request", question=reply.message),)
                current.summary = "Something has to be asked first."
                return asking_problem(request, questions) or DirectAnswer(
                    text=reply.message if reply.questions else "", questions=questions
                )
            case "answer" if reply.message:
                current.summary = "No tool is needed."
                return DirectAnswer(text=reply.message)
        dispute = dispute or (_dispute(request, reply) if reply.outcome == "fix" else None)
        spec = _with_examples(reply.specification, request, dispute)
        reply, problem = await self._locked(spec, request, reply)
        decision = problem or await self._judge(current, spec, dispute, reply.outcome == "fix")
        match decision:
            case Tool():
                return KnownTool(tool=decision, arguments=_arguments(reply), cron=reply.cron)
            case BuildSpec():
                fields = {"arguments": _arguments(reply), "cron": reply.cron}
                return decision.model_copy(update={**fields, "reply": reply, "lock": reply.lock})
            case DirectAnswer() | str():
                return decision
            case _:
                assert_never(decision)

    async def _locked(
        self, spec: Specification | None, request: Request, reply: SpecifiedTool
    ) -> tuple[SpecifiedTool, str]:
        """The reply with the versions of the packages, unless it has them, and why the tool can't
        have what it is specified with; "" if it can.
        """
        if not (spec and spec.needs):
            return reply, ""
        if self._network is None:
            needs = ", ".join(spec.needs)
            return reply, f"tools can't have {needs} here: do without, or reply with `impossible`"
        problem = _refused([n for n in spec.needs if n in request.refused]) or probe_problem(spec)
        if problem or reply.lock or not spec.packages:
            return reply, problem or await self._limits_problem(spec)
        former = await self._find_tool(spec.name)
        lock = former.lock if former else None
        try:
            if lock is None or {*spec.packages} - {*lock.requirements}:
                lock = await self._network.lock(spec.packages)
        except RequestError as error:
            return reply, f"{error.message}; {error.remedy}"
        locked = reply.model_copy(update={"lock": lock if lock.packages else None})
        return locked, await self._limits_problem(spec)

    async def _limits_problem(self, spec: Specification) -> str:
        """Why no call gets the limits that are specified; "" if it does."""
        assert self._network is not None, spec
        try:
            await self._network.check_limits(spec.limits)
        except RequestError as error:
            return f"{error.message}: specify at most that, for less at once"
        return ""

    async def _tools_concerned(self, reply: SpecificationReply, problem: str) -> list[Tool]:
        """The tools that a refused specification is about: that of its name, and the one that the
        problem begins with.
        """
        names = {problem.partition(" ")[0]}
        if reply.specification:
            names.add(reply.specification.name)
        return [tool for name in sorted(names) if (tool := await self._find_tool(name))]

    async def _judge(
        self, current: Step, spec: Specification | None, dispute: Dispute | None, fix: bool
    ) -> BuildSpec | Tool | DirectAnswer | str:
        """The decision that follows from a specification; a text says why it is refused. The tool
        of a `dispute` may be wrong, and is said to be where it is a `fix`.
        """
        if spec is None:
            return "the reply holds no specification"
        if problem := specification_problem(spec):
            return problem
        if conflict := contradiction(spec):
            problem = (
                f"`{conflict['call']}` gives {conflict['first']} in one example and "
                f"{conflict['second']} in another; only one can be right"
            )
            current.fail(
                f"The examples of the request can't all be right: {problem}.",
                "contradiction",
                **conflict,
            )
            question = Question(id="example", question="Which one do you mean?")
            return DirectAnswer(
                text=f"Your examples can't all be right: {problem}.",
                questions=(question,),
                code="example",
                values=conflict,
            )
        if (namesake := await self._find_tool(spec.name)) and namesake.standing == "retired":
            return f"the name {spec.name} is taken by a tool that was retired"
        if namesake and _extends(spec, namesake) and not fix:
            build: BuildSpec | Tool | str = BuildSpec(spec=spec, extends=namesake)
        elif namesake and dispute and dispute.result.tool == spec.name:
            build = await self._fixed(namesake, spec, dispute, demanded=fix)
        elif fix:
            build = "a fix is the next version of the tool that gave the wrong result"
        else:
            build = await self._known_or_new(namesake, spec)
        if isinstance(build, Tool):
            current.tell(_KNOWN.format(build.name), "known", tool=build.name)
        if not isinstance(build, BuildSpec):
            return build
        goal = "To fix" if build.fixes else "To become the next version of"
        summary = f"{spec.signature()}: {spec.description}"
        current.summary = f"{goal} {spec.name}: {summary}" if build.extends else summary
        current.artifact = spec.model_dump_json(indent=2)
        return build

    async def _fixed(
        self, tool: Tool, spec: Specification, dispute: Dispute, *, demanded: bool
    ) -> BuildSpec | Tool | str:
        """The next version of a tool that may be wrong, and is said to be where that is `demanded`;
        the tool itself if it does what is specified; a text says why neither will do.
        """
        if _parameters(tool.signature) != _parameters(spec.signature()):
            return f"a fix keeps the parameters of {spec.name}, with their types and defaults"
        if await likeness(self._sandbox, tool, spec) == "same":
            return _FULFILLED if demanded else tool
        return BuildSpec(spec=spec, extends=tool, fixes=dispute)

    async def _known_or_new(
        self, namesake: Tool | None, spec: Specification
    ) -> BuildSpec | Tool | str:
        """The tool of that name if it means the same, or a new one; a text says why the name can't
        be had.
        """
        if namesake and await self._means_the_same(namesake, spec):
            return namesake
        if namesake:
            return (
                f"the name {spec.name} is taken by a tool that does something else: "
                f"{namesake.description}"
            )
        try:
            await self._library.check_name(spec.name)
        except LibraryError as error:
            return error.message
        return BuildSpec(spec=spec)

    async def _in_library(
        self, current: Step, build: BuildSpec, seen_names: Collection[str] | None
    ) -> BuildSpec | KnownTool | str:
        """The tool of another name that fulfils all examples, if the library has it, else the build
        as it is. Where the model could compare it with the tools of `seen_names` only, a text
        names another one that is likely the same.
        """
        spec, candidates = build.spec, await self.relatives(build.spec)
        for tool in [c.tool for c in candidates if c.similarity >= NEAR]:
            if await likeness(self._sandbox, tool, spec) == "same":
                current.tell(_KNOWN.format(tool.name), "known", tool=tool.name)
                arguments = renamed(spec.signature(), tool.signature, build.arguments)
                return KnownTool(tool=tool, arguments=arguments, cron=build.cron)
        best = candidates[0] if seen_names is not None and candidates else None
        if (
            best
            and seen_names is not None
            and best.confidence >= LIKELY
            and best.tool.name not in seen_names
        ):
            current.tell(
                f"{best.tool.name} is in the library, and may do this.",
                "maybe_known",
                tool=best.tool.name,
            )
            return (
                f"{best.tool.name} is in the library: give its very name and parameters if it does "
                "what is asked, and else the same specification again"
            )
        return build.model_copy(update={"near": tuple(c.tool for c in candidates)})

    async def relatives(self, spec: Specification) -> tuple[Candidate, ...]:
        """The tools that may do what is specified, the nearest first."""
        text = f"{spec.description} {' '.join(spec.example_requests)}"
        return await self._library.search(text, RELATIVES)

    async def _means_the_same(self, tool: Tool, spec: Specification) -> bool:
        same_parameters = [p.name for p in tool.signature.parameters] == [
            p.name for p in spec.parameters
        ]
        return same_parameters and await likeness(self._sandbox, tool, spec) != "other"

    async def _find_tool(self, name: str) -> Tool | None:
        with suppress(LibraryError):
            return await self._library.get(name)
        return None


def _refused(names: Sequence[str]) -> str:
    """The message to the model about needs that the person does not allow; "" if there are none."""
    reason = (
        f"the person does not allow {', '.join(names)}: do without, or reply with `impossible`, "
        "and say in `message` what could be done without"
    )
    return reason if names else ""


def _dispute(request: Request, reply: SpecificationReply) -> Dispute | None:
    """That with the last result of the tool to fix."""
    name = reply.specification and reply.specification.name
    values = (v for v in reversed(request.earlier_results.values) if v.tool == name)
    return next(map(request.dispute, values), None)


def _arguments(reply: SpecificationReply) -> Arguments | None:
    """Those of the call that the request asks for."""
    assert reply.specification, reply
    return arguments_of(SpecExample(call=reply.call, result=""), reply.specification.signature())


def _declined(reason: str) -> DirectAnswer:
    return DirectAnswer(
        text=reason or "No tool can do this.", declined=True, code="" if reason else "no_tool"
    )


def _with_examples(
    spec: Specification | None, request: Request, dispute: Dispute | None
) -> Specification | None:
    """The specification, in which an example that the person did not give, although it is marked
    so, becomes an ordinary one, open to votes; and with the one that they give for a call that went
    wrong, unless it is about a file, which no test may hold. Hosts are private only where the
    person names them.
    """
    if spec is None:
        return None
    transcript = "\n".join(
        [*(m.content for m in request.history if m.role == "user"), request.text]
    )
    person_examples = tuple(e for e in spec.user_examples if stated(e, transcript))
    model_examples = tuple(
        e for e in spec.user_examples if e not in person_examples and e not in spec.examples
    )
    spec = spec.model_copy(
        update={
            "user_examples": person_examples,
            "examples": (*spec.examples, *model_examples),
            "network": tuple(
                access.model_copy(update={"private": access.private and access.host in transcript})
                for access in spec.network
            ),
        }
    )
    if dispute is None or request.names_file(dispute.arguments):
        return spec
    for example in expected_examples(spec, dispute):
        spec = with_example(spec, example)
    return spec


def _extends(spec: Specification, tool: Tool) -> bool:
    """Whether the specification is the known tool with further parameters that can be left out."""
    ours, theirs = _parameters(spec.signature()), _parameters(tool.signature)
    further = spec.signature().parameters[len(theirs) :]
    return ours[: len(theirs)] == theirs and bool(further) and not any(p.required for p in further)


def _parameters(signature: Signature) -> list[tuple[str, str, str | None]]:
    return [(p.name, p.annotation, p.default) for p in signature.parameters]
