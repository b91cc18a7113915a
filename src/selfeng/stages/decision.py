"""The decision: which tool of the library a request needs, if any, and how certain that is.

Search; below the floor, decide without the model; otherwise one model call that also gives the
arguments, and its choice stands. If the model fails, the search's confidence decides alone.
"""

import asyncio
import time
from collections.abc import Iterable, Sequence
from functools import partial
from operator import attrgetter
from typing import NamedTuple

from selfeng.core.errors import ModelError, ModelUnavailable, stage
from selfeng.core.events import NoToolFound, Searching, ToolFound
from selfeng.core.plan import Plan, SavedStep
from selfeng.core.protocols import ServerTools, ToolLibrary
from selfeng.core.provenance import Proposal
from selfeng.core.server_tool import ServerCandidate, ServerTool
from selfeng.core.tool import Candidate, Tool
from selfeng.core.turn import Turn
from selfeng.core.value import TextCode, Value
from selfeng.stages.executor import Call, Choice, Disputed, Executor, NoFit
from selfeng.stages.language import is_english

AnyCandidate = Candidate | ServerCandidate

CANDIDATES = 8
"""How many tools the model chooses from."""
CHOICE_ODDS = 19.0
"""How much likelier a model is to choose a tool that fits than one that doesn't (0.95 against
0.05): the factor by which its choice multiplies the odds that the search gives.
"""
_RIVALLED = 0.2
"""Share of the floor that a tool needs however certain the better ones are. With it, the model
sees 97 % of the right tools among the candidates of small libraries of one subject; without the
rule for rivals 95 %. It sees 2.9 tools instead of 1.9.
"""
_LOOKED_BACK = 3
"""How many earlier requests are searched with a request when neither it nor the one before names
its subject.
"""


class Thresholds(Value):
    """The confidences, 0 to 1, that the decision depends on."""

    threshold: float = 0.75
    """SIMILARITY_THRESHOLD: from here on a tool counts as found where no model chooses."""
    floor: float = 0.05
    """SEARCH_FLOOR: the model sees no tool below it if the better tools are wrong. 0: it sees all
    candidates.
    """


class Decision(Value):
    """The choice among the library's tools for a request."""

    choice: Choice
    considered: tuple[str, ...] = ()
    """Names of the candidates, best first."""
    learnable: tuple[str, ...] = ()
    """The forms of the request that stand alone; the tool that serves it may be found by them."""
    likely: tuple[str, ...] = ()
    """Names of the tools that the model saw, likeliest first."""
    near: tuple[str, ...] = ()
    """Names of the tools that a specification is compared with: the likely ones, or all candidates
    where none is likely because the search hardly knows the request's language.
    """


class _SearchResults(NamedTuple):
    candidates: tuple[AnyCandidate, ...]
    """Best first, with the confidence of the request itself, in its own or the model's words."""
    offered: tuple[Tool | ServerTool, ...]
    """Those that the model sees, likeliest first; earlier requests may have brought them."""

    def sure_of(self, name: str) -> float:
        return next((c.confidence for c in self.candidates if c.tool.name == name), 0.0)

    def joined(self, candidates: Iterable[AnyCandidate]) -> "_SearchResults":
        """With the candidates of another form of the request."""
        return self._replace(candidates=_best((*self.candidates, *candidates)))


class _Choice(NamedTuple):
    choice: Choice
    results: _SearchResults
    reason: str = ""
    """Why the search alone decided; "" if the model did."""
    model_replied: bool = True
    """Whether the model was asked, and replied."""


class Decider:
    """Finds a tool for a request, and its call."""

    def __init__(
        self,
        library: ToolLibrary,
        executor: Executor,
        thresholds: Thresholds,
        servers: ServerTools | None = None,
    ) -> None:
        """The tools of `servers` are candidates in addition to those of the library."""
        self._library, self._executor, self._thresholds = library, executor, thresholds
        self._servers = servers

    async def decide(self, turn: Turn) -> Decision:
        """Search and choose; one model call, or more if its reply is unusable, its arguments
        don't fit, or the request in its words finds other tools.

        Raises:
            ModelError: the model failed and nothing can be decided or called without it; names the
                tool that was found.
            BudgetExceeded, EmbedderUnavailable
        """
        started = time.monotonic()
        turn.emit(Searching())
        with stage("search"):
            selection = await self._choose(turn, await self._search(turn))
            while isinstance(selection.choice, NoFit) and await turn.need(
                "tools", partial(self._is_another_likely, turn, selection.results)
            ):
                selection = await self._choose(turn, await self._search(turn))
        choice, candidates = selection.choice, _judged(selection)
        considered = tuple(c.tool.name for c in candidates)
        searched = {
            "considered": considered,
            "confidences": tuple(c.confidence for c in candidates),
            "standalone": choice.standalone,
            "seconds": time.monotonic() - started,
        }
        if isinstance(choice, Disputed):
            reason = f"An earlier result of {choice.tool_name} is said to be wrong."
            values = {"tool": choice.tool_name}
            turn.emit(NoToolFound(reason=reason, code="disputed", values=values, **searched))
            return Decision(
                choice=choice,
                considered=considered,
                likely=(choice.tool_name,),
                near=tuple(tool.name for tool in selection.results.offered),
            )
        if isinstance(choice, NoFit):
            what = {"reason": choice.reason, "code": choice.code, "values": choice.values}
            turn.emit(NoToolFound(**what, **searched))
        else:
            name = choice.tool.name
            sure = next((c.confidence for c in candidates if c.tool.name == name), 0.0)
            code: TextCode = "alone" if selection.reason else ""
            why = {"reason": selection.reason, "code": code}
            turn.emit(ToolFound(tool=name, confidence=sure, **why, **searched))
        likely = near = tuple(tool.name for tool in selection.results.offered)
        if not likely and not await asyncio.to_thread(is_english, turn.request.text):
            near = considered
        # what a conversation leads up to may mean nothing without it, and the model's words may
        alone = "" if turn.request.history else turn.request.text
        forms = () if selection.reason else turn.request.learnable(alone, choice.standalone)
        return Decision(
            choice=choice,
            considered=considered,
            learnable=forms,
            likely=likely,
            near=near,
        )

    async def served(self, plan: Plan) -> tuple[SavedStep, ...]:
        """The steps of a plan, each with the tool of the library that is nearest; none if one of
        these is not sure even if the model chooses it, or needs consent, or if all are the same.
        """
        searches = [await self._library.search(step.request, 1) for step in plan.steps]
        steps = tuple(
            SavedStep(request=step.request, tool=best.tool.name)
            for step, candidates in zip(plan.steps, searches, strict=True)
            for best in candidates
            if _confirmed(best.confidence) >= self._thresholds.threshold
            and not (best.tool.needs or isinstance(best.tool, Proposal))
        )
        several = len({step.tool for step in steps}) > 1
        return steps if several and len(steps) == len(plan.steps) else ()

    async def _is_another_likely(self, turn: Turn, results: _SearchResults) -> bool:
        """Whether a tool was added meanwhile that is sure if the model chooses it."""
        return bool(self._unseen_tools((await self._search(turn)).candidates, results))

    def _unseen_tools(
        self, candidates: Iterable[AnyCandidate], results: _SearchResults
    ) -> list[Tool | ServerTool]:
        """The tools that the model did not see, and that are sure if it chooses them."""
        return [
            c.tool
            for c in candidates
            if _confirmed(c.confidence) >= self._thresholds.threshold
            and c.tool not in results.offered
        ]

    async def _search(self, turn: Turn) -> _SearchResults:
        """The tools nearest to the request. Earlier requests bring further ones to the model's
        notice, but give confidence to none.
        """
        former = [m.content for m in turn.request.history if m.role == "user"]
        alone = await self._nearest(turn, turn.request.text)
        likely = self._likely(alone)
        if former:
            likely += await self._continued(turn, former[-1:])
        if len(former) > 1 and not likely:
            likely = await self._continued(turn, former[-_LOOKED_BACK:])
        return _SearchResults(
            _best((*alone, *(c.model_copy(update={"confidence": 0.0}) for c in likely))),
            tuple(c.tool for c in _best(likely)),
        )

    async def _nearest(self, turn: Turn, text: str) -> tuple[AnyCandidate, ...]:
        """The tools of the library and of other servers that the person did not refuse; no name of
        theirs stands for one of the library's.
        """
        excluded_names = set(turn.request.refused)
        candidates = await self._library.search(text, CANDIDATES)
        library_candidates = tuple(c for c in candidates if c.tool.name not in excluded_names)
        if self._servers is None:
            return library_candidates
        excluded_names |= {candidate.tool.name for candidate in library_candidates}
        server_candidates = await self._servers.search(text, CANDIDATES)
        return _best(
            (
                *library_candidates,
                *(c for c in server_candidates if c.tool.name not in excluded_names),
            )
        )

    async def _continued(self, turn: Turn, former: Sequence[str]) -> list[AnyCandidate]:
        text = "\n".join([*former, turn.request.text])
        return self._likely(await self._nearest(turn, text))

    def _likely(self, candidates: Iterable[AnyCandidate]) -> list[AnyCandidate]:
        """Those, of the best first, that reach the floor if all better ones are wrong: a strong
        rival does not hide a right tool.
        """
        likely, wrong = list[AnyCandidate](), 1.0
        for candidate in candidates:
            if candidate.confidence < self._thresholds.floor * max(wrong, _RIVALLED):
                break
            likely.append(candidate)
            wrong *= 1 - candidate.confidence
        return likely

    async def _choose(self, turn: Turn, results: _SearchResults) -> _Choice:
        if not results.candidates:
            nothing = NoFit(reason="The library is empty.", code="empty_library")
            return _Choice(nothing, results, model_replied=False)
        if not results.offered:
            best = results.candidates[0]
            reason = f"The nearest tool, {best.tool.name}, has a confidence of only "
            far = NoFit(
                reason=reason + self._below(best.confidence),
                code="far",
                values=self._figures(best.tool.name, best.confidence),
            )
            return _Choice(far, results, model_replied=False)
        asks = bool(turn.request.history) or not await asyncio.to_thread(
            is_english, turn.request.text
        )
        try:
            choice = await self._executor.choose(turn, results.offered, standalone=asks)
        except ModelError as error:
            return await self._choose_alone(turn, results, error)
        if isinstance(choice, Disputed):
            return _Choice(choice, results)
        if choice.standalone:
            chosen_tool = None if isinstance(choice, NoFit) else choice.tool
            declined_tools = [tool for tool in results.offered if tool != chosen_tool]
            candidates = await self._nearest(turn, choice.standalone)
            results = results.joined(c for c in candidates if c.tool not in declined_tools)
            if isinstance(choice, NoFit):
                choice = await self._choose_again(turn, results, choice)
        if isinstance(choice, NoFit | Disputed) or choice.tool in [
            c.tool for c in self._likely(results.candidates)
        ]:
            return _Choice(choice, results)
        name, sure = choice.tool.name, results.sure_of(choice.tool.name)
        doubtful = NoFit(
            reason=f"{name} was chosen, but the search gives it only {self._below(sure)}",
            code="doubtful",
            values=self._figures(name, sure),
            standalone=choice.standalone,
        )
        return _Choice(doubtful, results)

    async def _choose_again(self, turn: Turn, results: _SearchResults, declined: NoFit) -> Choice:
        """The model's choice among the tools that only the request in its own words found."""
        if not (tools := self._unseen_tools(results.candidates, results)):
            return declined
        try:
            choice = await self._executor.choose(turn, tools)
        except ModelError:
            return declined
        return choice.model_copy(update={"standalone": declined.standalone})

    def _figures(self, name: str, confidence: float) -> dict[str, str | float]:
        """For people, in percent."""
        shares = {"share": 100 * confidence, "floor": 100 * self._thresholds.floor}
        return {"tool": name, **shares}

    def _below(self, confidence: float) -> str:
        return f"{confidence:.1%}, below the {self._thresholds.floor:.1%} of SEARCH_FLOOR."

    async def _choose_alone(
        self, turn: Turn, results: _SearchResults, error: ModelError
    ) -> _Choice:
        """The choice of the search alone, after `error`; a tool without required parameters can be
        called without the model.

        Raises:
            ModelError: `error`, or the failure to get the arguments; the message names the tool.
        """
        best = results.candidates[0]
        name, out = best.tool.name, isinstance(error, ModelUnavailable)
        if best.confidence < self._thresholds.threshold:
            if out:
                near = f"the nearest, {name}, has a confidence of {best.confidence:.0%}"
                raise _without_model(
                    error,
                    f"no tool is near enough to be used without the model ({near}), and none can "
                    "be built",
                )
            return _Choice(
                NoFit(
                    reason=f"The model could not choose ({error.message}), and the search alone "
                    "is not sure enough.",
                    code="unsure",
                ),
                results,
                model_replied=False,
            )
        reason = f"The model could not choose ({error.message}); the search alone decided."
        try:
            if out:
                raise error
            return _Choice(await self._executor.prepare(turn, best.tool), results, reason)
        except ModelError as failure:
            if needed := _required(best.tool):
                sure = f"{name} was found with a confidence of {best.confidence:.0%}"
                raise _without_model(
                    failure, f"{sure}, but its arguments ({', '.join(needed)}) need the model"
                ) from failure
            return _Choice(Call(tool=best.tool, arguments={}), results, reason)


def _without_model(error: ModelError, problem: str) -> ModelError:
    remedy = error.remedy or "try again later"
    return type(error)(f"{problem}: {error.message}", remedy, cause=error.cause, **error.values)


def _required(tool: Tool | ServerTool) -> Sequence[str]:
    if isinstance(tool, ServerTool):
        return tool.required
    return [p.name for p in tool.signature.parameters if p.required]


def _best(candidates: Iterable[AnyCandidate]) -> tuple[AnyCandidate, ...]:
    """Each tool once, at its best, best first; of equals the first."""
    best: dict[str, AnyCandidate] = {}
    for candidate in sorted(candidates, key=attrgetter("confidence"), reverse=True):
        best.setdefault(candidate.tool.name, candidate)
    return tuple(best.values())[:CANDIDATES]


def _judged(selection: _Choice) -> tuple[AnyCandidate, ...]:
    """The candidates, after what the model said of them."""
    if selection.reason or not selection.model_replied:
        return selection.results.candidates
    match selection.choice:
        case NoFit():
            name = None
        case Disputed() as disputed:
            name = disputed.tool_name
        case chosen:
            name = chosen.tool.name
    return _best(
        c.model_copy(
            update={
                "confidence": _confirmed(
                    c.confidence, CHOICE_ODDS if c.tool.name == name else 1 / CHOICE_ODDS
                )
            }
        )
        for c in selection.results.candidates
    )


def _confirmed(confidence: float, odds: float = CHOICE_ODDS) -> float:
    """Confidence of the search, 0..1, after the model has chosen the same tool, or not; Bayes' rule
    in odds form.
    """
    return odds * confidence / (odds * confidence + 1 - confidence)
