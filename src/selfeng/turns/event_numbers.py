"""The numbers of a turn's events, by which each of them is stored once, also if the turn is resumed
in another process, which emits them again.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from selfeng.core.errors import Diverged
from selfeng.core.events import (
    AnswerToken,
    BudgetSpent,
    Event,
    ExecutionProgress,
    ModelAskedAgain,
    ModelSilent,
    PlanStepChanged,
    SynthesisStep,
    ThoughtAloud,
    TurnQueued,
    TurnResumed,
    TurnStarted,
    TurnStopped,
    Waiting,
)
from selfeng.core.stage_event import StageEvent


class NumberedEvent(NamedTuple):
    """An event with its number in its scope; None for one that is not numbered."""

    event: Event
    scope: str | None = None
    n: int | None = None


class EventNumbers:
    """Takes the events of one turn in the order of its feed.

    The parts of a turn that run at once are scopes of their own: in each of them, the events come
    in the same order whenever the turn is repeated. Pieces of streams have offsets instead of
    numbers, since a reply that was interrupted is written again and is another.
    """

    def __init__(self, recorded: Iterable[NumberedEvent] = (), *, again: bool = False) -> None:
        """`recorded` are those in the journal, in their order; all that comes is dropped as long
        as it repeats them. `again`: the turn begins again and may go another way, so that nothing
        is dropped.
        """
        self._again = again
        self._types: dict[tuple[str, int], str] = {}
        self._last: defaultdict[str, int] = defaultdict(int)
        """The number of the newest event, by scope."""
        self._texts: defaultdict[tuple[str, str, int, int], bytes] = defaultdict(bytes)
        """The text of each stream that the journal has, in UTF-16."""
        self._calls = self._thoughts = 0
        """The model calls that the journal has, and the last one that thought aloud."""
        self._begin_streams()
        for event, scope, n in recorded:
            self._know(event, scope, n)
        if not again:
            self._last.clear()
        self._begin_streams()

    def take(self, event: Event) -> NumberedEvent | None:
        """The event as the journal wants it; None if it is there already.

        Raises: Diverged: the journal has another event in its place.
        """
        match event:
            case (
                TurnResumed()
                | TurnQueued()
                | Waiting()
                | ExecutionProgress()
                | ModelAskedAgain()
                | ModelSilent()
            ):
                return NumberedEvent(event)
            case TurnStarted() if self._again:
                return None
            case BudgetSpent(usage=usage):
                return None if usage.calls <= self._calls else NumberedEvent(event)
            case ThoughtAloud(call=call):
                return NumberedEvent(event.model_copy(update={"call": call + self._thoughts}))
            case AnswerToken() | SynthesisStep(state="streaming"):
                return self._piece(event)
            case TurnStopped():  # wherever the repetition was
                return NumberedEvent(event, "", self.next)
        self._note_stream(event)
        scope = _scope(event)
        self._last[scope] = n = self._last[scope] + 1
        if (recorded_type := self._types.get((scope, n))) is None:
            return NumberedEvent(event, scope, n)
        if recorded_type != event.type:
            raise Diverged(
                f"event {n} of {scope or 'the turn'} was {recorded_type} and is {event.type}"
            )
        return None

    @property
    def next(self) -> int:
        """The number of the event that ends the turn, whatever was repeated of it."""
        return max(self._last[""], *(n for scope, n in self._types if not scope), 0) + 1

    def _begin_streams(self) -> None:
        self._lengths: defaultdict[tuple[str, str, int, int], int] = defaultdict(int)
        self._started: defaultdict[tuple[str, str, int], int] = defaultdict(int)
        self._differing: set[tuple[str, str, int, int]] = set()
        """Streams that differ from what the journal has of them."""

    def _know(self, event: Event, scope: str | None, n: int | None) -> None:
        match event:
            case BudgetSpent(usage=usage) if not self._again:
                self._calls = max(self._calls, usage.calls)
            case ThoughtAloud(call=call):
                self._thoughts = max(self._thoughts, call)
            case AnswerToken() | SynthesisStep(state="streaming") if not self._again:
                stream, text = self._stream(event), self._texts
                at = len(text[stream]) if event.offset is None else 2 * event.offset
                text[stream] = text[stream][:at] + _utf16(event.text)
        self._note_stream(event)
        if n is not None and scope is not None:
            self._last[scope] = max(n, self._last[scope])
            if not self._again:
                self._types[scope, n] = event.type

    def _note_stream(self, event: Event) -> None:
        """A step that starts has a stream of its own, even if its attempt has the same number."""
        if isinstance(event, SynthesisStep) and event.state == "started":
            self._started[_scope(event), event.step, event.attempt] += 1

    def _stream(self, piece: AnswerToken | SynthesisStep) -> tuple[str, str, int, int]:
        if isinstance(piece, AnswerToken):
            return "", "", 0, 0
        attempt = _scope(piece), piece.step, piece.attempt
        return *attempt, self._started[attempt]

    def _piece(self, piece: AnswerToken | SynthesisStep) -> NumberedEvent | None:
        stream, text = self._stream(piece), _utf16(piece.text)
        at = self._lengths[stream]
        self._lengths[stream] = end = at + len(text)
        if stream not in self._differing and self._texts[stream][at:end] == text:
            return None
        self._differing.add(stream)
        return NumberedEvent(piece.model_copy(update={"offset": at // 2}))


def _scope(event: Event) -> str:
    """The part of the turn whose events come one after the other: a step of its plan, or all that
    is outside of plans.
    """
    if isinstance(event, PlanStepChanged):
        return event.step
    return event.plan_step if isinstance(event, StageEvent) else ""


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")
