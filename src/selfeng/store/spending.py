"""What turns spend on the model, by conversation and month, and what they save by the tools that
earlier ones built. A row outlives the conversation of its turn.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa

from selfeng.core.errors import MonthSpent
from selfeng.core.events import (
    EVENT,
    FINAL,
    BudgetSpent,
    Executing,
    Limits,
    Outcome,
    Record,
    TurnFinished,
)
from selfeng.core.stage_event import Usage
from selfeng.core.turn import Budget
from selfeng.core.value import Value
from selfeng.store import schema
from selfeng.store.database import reading, writing

_SPENDING, _VERSIONS, _EVENTS = schema.spending, schema.tool_versions, schema.events
_ANY = 10**12


class MonthSpending(Value):
    """What the turns of one person spent in a month, such as 2026-11, UTC.

    `cost` and `saved_cost` are in US dollars, without what has an unknown price; None if all has.
    `reuses` are turns that a tool served which an earlier turn had built. They saved what its build
    had taken, less what they took.
    """

    month: str
    turns: int
    tokens: int
    cost: float | None
    reuses: int
    saved_tokens: int
    saved_cost: float | None


class SpendingReport(Value):
    """A person's newest months, the newest first, and beside them what everybody on the database
    `spent` in this month, in US dollars, and may spend; `limit` is None without one.
    """

    months: tuple[MonthSpending, ...]
    spent: float
    limit: float | None


def note_spending(connection: sa.Connection, records: Sequence[Record]) -> None:
    """Keep what turns have spent by their newest events."""
    newest = {r.turn_id: r for r in records if r.seq and isinstance(r.event, (BudgetSpent, *FINAL))}
    for record in newest.values():
        event, turn_id, conversation_id = record.event, record.turn_id, record.conversation_id
        assert isinstance(event, (BudgetSpent, *FINAL))
        values: dict[str, Any] = {}
        if isinstance(event, TurnFinished) and event.outcome is Outcome.ANSWERED:
            values = _saved(connection, turn_id, event.usage)
        if event.usage.calls:  # a process that ends the turn of another one knows nothing of it
            values |= {"tokens": _tokens(event.usage), "cost": event.usage.cost}
        row = _SPENDING.update().where(_SPENDING.c.turn_id == turn_id).values(**values)
        if values and not connection.execute(row).rowcount:
            of_conversation = schema.conversations.c.id == conversation_id
            owner = sa.select(schema.conversations.c.owner).where(of_conversation)
            ids = {"turn_id": turn_id, "conversation_id": conversation_id}
            values |= {**ids, "owner": owner.scalar_subquery(), "month": f"{record.at:%Y-%m}"}
            connection.execute(_SPENDING.insert().values(**values))


def _saved(connection: sa.Connection, turn_id: str, usage: Usage) -> dict[str, Any]:
    """What a turn saved by the tools that it used, if turns had built them and it built none."""
    of_turn, event = _EVENTS.c.turn_id == turn_id, _EVENTS.c.event
    registered = (_EVENTS.c.type == "synthesis_step") & event.contains('"step":"register"')
    if connection.scalar(sa.select(sa.exists().where(of_turn, registered))):
        return {}
    calls = sa.select(event).where(of_turn, _EVENTS.c.type == "executing")
    events = map(EVENT.validate_json, connection.scalars(calls))
    tools = {e.tool for e in events if isinstance(e, Executing) and not e.server}
    builds = [build for name in sorted(tools) if (build := _build(connection, name))]
    if not builds:
        return {}
    paid = usage.cost if usage.calls else 0.0
    costs = [build.cost for build in builds if build.cost is not None]
    has_prices = paid is not None and len(costs) == len(builds)
    cost = sum(costs) - (paid or 0.0) if has_prices else None
    return {"saved_tokens": sum(map(_tokens, builds)) - _tokens(usage), "saved_cost": cost}


def _build(connection: sa.Connection, tool: str) -> Usage | None:
    """What the turn that created a tool had used when it was registered."""
    created = _VERSIONS.c.origin.contains('"how":"created"') & _VERSIONS.c.usage.is_not(None)
    newest = sa.select(_VERSIONS.c.usage).where(_VERSIONS.c.name == tool, created)
    text = connection.scalar(newest.order_by(_VERSIONS.c.version.desc()).limit(1))
    return Usage.model_validate_json(text) if text else None


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


class Spending:
    """What turns spent. All methods but `month` block."""

    def __init__(self, engine: sa.Engine, limit: Callable[[], float | None] = lambda: None) -> None:
        """`limit` gives what a month may cost in US dollars."""
        self._engine, self._limit = engine, limit

    def month(self) -> "MonthBudget":
        """The budget of this month, for one turn."""
        return MonthBudget(self, self._limit())

    def report(self, owner: str) -> SpendingReport:
        return SpendingReport(
            months=self.months(owner), spent=self.this_month(), limit=self._limit()
        )

    def months(self, owner: str, most: int = 12) -> tuple[MonthSpending, ...]:
        """The months in which an owner's turns asked the model or reused a tool, newest first."""
        columns, sums = _SPENDING.c, ("tokens", "cost", "saved_cost")
        query = sa.select(
            columns.month,
            sa.func.count().label("turns"),
            *(sa.func.sum(columns[name]).label(name) for name in sums),
            sa.func.count(columns.saved_tokens).label("reuses"),
            sa.func.coalesce(sa.func.sum(columns.saved_tokens), 0).label("saved_tokens"),
        ).where(columns.owner == owner)
        query = query.group_by(columns.month).order_by(columns.month.desc()).limit(most)
        with reading(self._engine) as connection:
            return tuple(MonthSpending(**row._mapping) for row in connection.execute(query))

    def this_month(self) -> float:
        """US dollars that all owners' turns have spent in this month."""
        in_month = _SPENDING.c.month == f"{datetime.now(UTC):%Y-%m}"
        query = sa.select(sa.func.coalesce(sa.func.sum(_SPENDING.c.cost), 0.0)).where(in_month)
        with reading(self._engine) as connection:
            return float(connection.scalar(query) or 0.0)

    def add(self, turn_id: str, usage: Usage) -> None:
        """Add what was spent after a turn, for what is learnt from it."""
        columns = _SPENDING.c
        more = {"tokens": columns.tokens + _tokens(usage)}
        if usage.cost is not None:
            more["cost"] = sa.func.coalesce(columns.cost, 0.0) + usage.cost
        with writing(self._engine) as connection:
            of_turn = columns.turn_id == turn_id
            connection.execute(_SPENDING.update().where(of_turn).values(**more))


class MonthBudget(Budget):
    """What a month may cost, for one turn; all turns on the database count. Calls that cost
    nothing, or whose price is unknown, are free.
    """

    def __init__(self, spending: Spending, limit: float | None) -> None:
        """`limit` is in US dollars; None: there is none."""
        super().__init__(Limits(calls=_ANY, tokens=_ANY, seconds=_ANY, cost=limit))
        self._spending, self._spent = spending, 0.0
        self._elsewhere: float | None = None

    async def look(self) -> None:
        if self.limits.cost is not None:
            stored = await asyncio.to_thread(self._spending.this_month)
            paid = self.usage.cost or 0.0
            self._elsewhere = stored - paid if self._elsewhere is None else self._elsewhere
            self._spent = max(stored, self._elsewhere + paid)  # the last call may not be stored yet

    def check(self, *, paid: bool = True) -> None:
        self.check_running(0, 0.0 if paid else None)

    def check_running(self, tokens: int, cost: float | None) -> None:
        limit, total = self.limits.cost, self._spent + (cost or 0.0)
        if cost is not None and limit is not None and total >= limit:
            raise MonthSpent(
                f"the requests of this month cost ${total:.2f} of ${limit:.2f}",
                "raise MONTH_MAX_COST, or choose a model that costs nothing",
                limit=round(limit, 2),
            )
