"""The decision: which tool of the library a request needs, if any, and how certain that is.

Search; below the floor, decide without the model; otherwise one model call that also gives the
arguments. If the model fails, the search's confidence decides alone.
"""

import time
from functools import partial
from typing import NamedTuple

from selfeng.core.errors import ModelError, ModelUnavailable, stage
from selfeng.core.events import NoToolFound, Searching, ToolFound
from selfeng.core.protocols import ToolLibrary
from selfeng.core.tool import Candidate
from selfeng.core.turn import Turn
from selfeng.core.value import Value
from selfeng.stages.executor import Call, Executor, Misfit, NoFit

CANDIDATES = 8
"""How many tools the model chooses from."""
CHOICE_ODDS = 19.0
"""How much likelier a model is to choose a tool that fits than one that doesn't (0.95 against
0.05): the factor by which its choice multiplies the odds that the search gives.
"""
_LOOKED_BACK = 3
"""How many earlier requests are searched with a request when neither it nor the one before names
its subject.
"""


class Thresholds(Value):
    """The confidences, 0 to 1, that the decision depends on."""

    threshold: float = 0.75
    """SIMILARITY_THRESHOLD: from here on a tool counts as found."""
    floor: float = 0.05
    """SEARCH_FLOOR: if the best candidate is below it, the model is not asked. 0: always ask."""


class Decision(Value):
    """What the library has for a request."""

    choice: Call | Misfit | NoFit
    considered: tuple[str, ...] = ()
    """Names of the candidates, best first."""
    learn_request: bool = False
    """Whether the tool may learn this request, if it serves it: the model chose it, and the request
    finds it without earlier ones, unlike `and 20 percent?`.
    """


class _Found(NamedTuple):
    """What the search found."""

    candidates: tuple[Candidate, ...]
    """Best first."""
    by_itself: frozenset[str]
    """Names of those that the request finds at least as well alone as with earlier ones."""

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(candidate.tool.name for candidate in self.candidates)


class _Choice(NamedTuple):
    choice: Call | Misfit | NoFit
    confidence: float = 0.0
    """That its tool fits."""
    reason: str = ""
    """Why the search alone decided; "" if the model did."""


class Decider:
    """Finds a tool for a request, and its call."""

    def __init__(self, library: ToolLibrary, executor: Executor, thresholds: Thresholds) -> None:
        self._library, self._executor, self._thresholds = library, executor, thresholds

    async def decide(self, turn: Turn) -> Decision:
        """Search and choose; one model call, or more if its reply is unusable or its arguments
        don't fit.

        Raises:
            ModelError: the model failed and nothing can be decided or called without it; names the
                tool that was found.
            BudgetExceeded, EmbedderUnavailable
        """
        started = time.monotonic()
        turn.emit(Searching())
        with stage("search"):
            found = await self._search(turn)
            choice, confidence, reason = await self._choose(turn, found.candidates)
            while isinstance(choice, NoFit) and await turn.need(
                "tools", partial(self._is_another_likely, turn, found.names)
            ):
                found = await self._search(turn)
                choice, confidence, reason = await self._choose(turn, found.candidates)
        searched = {
            "considered": found.names,
            "confidences": tuple(c.confidence for c in found.candidates),
            "seconds": time.monotonic() - started,
        }
        if isinstance(choice, NoFit):
            turn.emit(NoToolFound(reason=choice.reason, **searched))
            return Decision(choice=choice, considered=found.names)
        name = choice.tool.name
        turn.emit(ToolFound(tool=name, confidence=confidence, reason=reason, **searched))
        return Decision(
            choice=choice,
            considered=found.names,
            learn_request=name in found.by_itself and not reason,
        )

    async def _is_another_likely(self, turn: Turn, known: tuple[str, ...]) -> bool:
        """Whether a tool that was added meanwhile would be used if the model chose it."""
        candidates = (await self._search(turn)).candidates
        return any(
            _confirmed(c.confidence) >= self._thresholds.threshold
            for c in candidates
            if c.tool.name not in known
        )

    async def _search(self, turn: Turn) -> _Found:
        """The tools nearest to the request, alone and as a continuation of earlier ones."""
        former = [m.content for m in turn.request.history if m.role == "user"]
        alone = found = await self._library.search(turn.request.text, CANDIDATES)
        if former:
            found += await self._library.search(
                "\n".join([*former[-1:], turn.request.text]), CANDIDATES
            )
        if len(former) > 1 and all(c.confidence < self._thresholds.floor for c in found):
            found += await self._library.search(
                "\n".join([*former[-_LOOKED_BACK:], turn.request.text]), CANDIDATES
            )
        best: dict[str, Candidate] = {}
        for candidate in sorted(
            found, key=lambda c: -c.confidence
        ):  # stable: among equals, what the request found alone is first
            best.setdefault(candidate.tool.name, candidate)
        able = {
            c.tool.name
            for c in alone
            if c.confidence >= max(self._thresholds.floor, best[c.tool.name].confidence)
        }
        return _Found(tuple(best.values())[:CANDIDATES], frozenset(able))

    async def _choose(self, turn: Turn, candidates: tuple[Candidate, ...]) -> _Choice:
        if not candidates:
            return _Choice(NoFit(reason="The library is empty."))
        best = candidates[0]
        if best.confidence < self._thresholds.floor:
            limit = f"below the {self._thresholds.floor:.1%} of SEARCH_FLOOR"
            return _Choice(
                NoFit(
                    reason=f"The nearest tool, {best.tool.name}, has a confidence of only "
                    f"{best.confidence:.1%}, {limit}."
                )
            )
        try:
            choice = await self._executor.choose(turn, [c.tool for c in candidates])
        except ModelError as error:
            return await self._choose_alone(turn, best, error)
        if isinstance(choice, NoFit):
            return _Choice(choice)
        confidence = next(
            _confirmed(c.confidence) for c in candidates if c.tool.name == choice.tool.name
        )
        if confidence < self._thresholds.threshold:
            limit = f"below the {self._thresholds.threshold:.0%} of SIMILARITY_THRESHOLD"
            return _Choice(
                NoFit(
                    reason=f"{choice.tool.name} fits with a confidence of only {confidence:.0%}, "
                    f"{limit}."
                )
            )
        return _Choice(choice, confidence)

    async def _choose_alone(self, turn: Turn, best: Candidate, error: ModelError) -> _Choice:
        """What the search alone decides after `error`; a tool without required parameters can be
        called without the model.

        Raises:
            ModelError: `error`, or the failure to get the arguments; the message names the tool.
        """
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
                    "is not sure enough."
                )
            )
        reason = f"The model could not choose ({error.message}); the search alone decided."
        try:
            if out:
                raise error
            return _Choice(await self._executor.prepare(turn, best.tool), best.confidence, reason)
        except ModelError as failure:
            needed = [p.name for p in best.tool.signature.parameters if p.required]
            if needed:
                found = f"{name} was found with a confidence of {best.confidence:.0%}"
                raise _without_model(
                    failure, f"{found}, but its arguments ({', '.join(needed)}) need the model"
                ) from failure
            return _Choice(Call(tool=best.tool, arguments={}), best.confidence, reason)


def _without_model(error: ModelError, found: str) -> ModelError:
    return type(error)(f"{found}: {error.message}", error.remedy or "try again later")


def _confirmed(confidence: float) -> float:
    """Confidence of the search, 0..1, after the model has chosen the same tool; Bayes' rule in odds
    form.
    """
    return CHOICE_ODDS * confidence / (CHOICE_ODDS * confidence + 1 - confidence)
