"""Metrics: what this process has done, in Prometheus's format."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from selfeng.core.events import (
    FINAL,
    Event,
    ExecutionFailed,
    ExecutionFinished,
    Outcome,
    Record,
    SynthesisStep,
)
from selfeng.core.status import EngineLoad
from selfeng.doors.turn_story import ordered_tool
from selfeng.engine import Engine

if TYPE_CHECKING:
    from prometheus_client import Metric

_SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Upper bounds of the buckets in which turns are counted."""
_EXECUTIONS = ("returned", "raised", "killed")
_SYNTHESES = ("registered", "failed", "stopped")
_DIRECTIONS = ("input", "output")


class Metrics:
    """Counts from `listen` on. Its numbers are of this process alone, but for the queue, which all
    that share a database have together; it counts on the engine's loop.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._turns, self._calls, self._syntheses = Counter[str](), Counter[str](), Counter[str]()
        self._tokens, self._model_calls, self._cost = Counter[str](), 0, 0.0
        self._buckets, self._seconds = Counter[float](), 0.0
        self._ordered: dict[str, set[tuple[str, str]]] = {}
        """By turn, the tools that are specified and not registered, by agent and step of a plan."""

    def listen(self) -> None:
        """Begin to count; on the engine's loop."""
        self._engine.recorder.subscribe(self._take)
        self._engine.called.subscribe(self._count_call)

    async def exposition(self) -> bytes:
        """All of it as text, version 0.0.4 of the format."""
        return await asyncio.to_thread(self._exposed, await self._engine.load())

    def _take(self, records: Sequence[Record]) -> None:
        for record in records:
            if record.seq:  # those that are not stored yet come again
                self._count(record)

    def _count(self, record: Record) -> None:
        event, turn = record.event, record.turn_id
        self._count_call(event)
        match event:
            case SynthesisStep(step="specify", state="finished", artifact=artifact):
                if ordered_tool(artifact):
                    self._ordered.setdefault(turn, set()).add((event.within, event.plan_step))
            case SynthesisStep(step="register", state="finished"):
                self._ordered.get(turn, set()).discard((event.within, event.plan_step))
                self._syntheses["registered"] += 1
        if isinstance(event, FINAL):
            self._turns[event.outcome.value] += 1
            self._seconds += event.seconds
            self._buckets[next((top for top in _SECONDS if event.seconds <= top), 1e999)] += 1
            spent = event.usage
            self._model_calls += spent.calls
            self._tokens.update(input=spent.input_tokens, output=spent.output_tokens)
            self._cost += spent.cost or 0.0
            synthesis_outcome = "stopped" if event.outcome is Outcome.STOPPED else "failed"
            self._syntheses[synthesis_outcome] += len(self._ordered.pop(turn, ()))

    def _count_call(self, event: Event) -> None:
        if isinstance(event, ExecutionFinished | ExecutionFailed):
            self._calls[event.execution.outcome] += 1

    def _exposed(self, load: EngineLoad) -> bytes:
        from prometheus_client import generate_latest  # takes a tenth of a second

        return generate_latest(cast(Any, SimpleNamespace(collect=lambda: self._families(load))))

    def _families(self, load: EngineLoad) -> Iterator["Metric"]:
        from prometheus_client.core import (
            CounterMetricFamily,
            GaugeMetricFamily,
            HistogramMetricFamily,
        )

        for name, documentation, label, counts, label_values in (
            ("turns", "Turns that ended", "outcome", self._turns, tuple(Outcome)),
            ("tool_calls", "Calls of tools", "outcome", self._calls, _EXECUTIONS),
            ("syntheses", "Tools that were ordered", "outcome", self._syntheses, _SYNTHESES),
            ("model_tokens", "Tokens of model calls", "direction", self._tokens, _DIRECTIONS),
        ):
            family = CounterMetricFamily(f"selfeng_{name}", f"{documentation}.", labels=[label])
            for value in label_values:
                family.add_metric([value], counts[value])
            yield family
        yield CounterMetricFamily(
            "selfeng_model_calls", "Model calls of turns that ended.", value=self._model_calls
        )
        yield CounterMetricFamily("selfeng_model_cost_dollars", "What they cost.", value=self._cost)
        buckets, below = [], 0
        for top in _SECONDS:
            below += self._buckets[top]
            buckets.append((str(top), below))
        buckets.append(("+Inf", sum(self._buckets.values())))
        yield HistogramMetricFamily(
            "selfeng_turn_duration_seconds",
            "How long turns took.",
            buckets=buckets,
            sum_value=self._seconds,
        )
        for name, documentation, number in (
            ("turns_running", "Turns that run here.", load.running),
            ("turns_queued", "Turns that wait in the queue.", load.queued),
            ("containers_ready", "Sandbox containers that wait for a job.", load.containers),
        ):
            yield GaugeMetricFamily(f"selfeng_{name}", documentation, value=number)
