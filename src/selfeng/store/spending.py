"""Spending on models: by turns, whose rows outlive their conversations, with what they save by
the tools that earlier ones built; and outside of turns, in one row for an owner and month. Of each
tool, what it took to build and what its reuse saved.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from selfeng.core.errors import MonthSpent
from selfeng.core.events import FINAL, BudgetSpent, Limits, Record, TurnFinished
from selfeng.core.stage_event import Usage
from selfeng.core.turn import Budget
from selfeng.core.value import Value
from selfeng.store import schema
from selfeng.store.database import fetch, fetch_value, reading, utc, writing

_SPENDING, _VERSIONS = schema.spending, schema.tool_versions
_ANY = 10**12
PAYS_WITHIN = 30
"""Days after which a tool should have saved what it took."""


class MonthSpending(Value):
    """One person's spending in a month, such as 2026-11, UTC; `turns` are those that spent.

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


class Costs(Value):
    """Expenses or savings; savings are less than 0 where nothing was saved."""

    tokens: int = 0
    cost: float | None = 0.0
    """US dollars; None if unknown."""
    seconds: float | None = 0.0
    """None if unknown."""

    def __add__(self, more: "Costs") -> "Costs":
        return Costs(
            tokens=self.tokens + more.tokens,
            cost=_sum(self.cost, more.cost),
            seconds=_sum(self.seconds, more.seconds),
        )

    def times(self, factor: float) -> "Costs":
        """So many of these; a share of them if the factor is less than 1."""
        if not factor:
            return Costs()
        cost, seconds = (None if n is None else n * factor for n in (self.cost, self.seconds))
        return Costs(tokens=round(self.tokens * factor), cost=cost, seconds=seconds)

    def exceeds(self, costs: "Costs") -> bool:
        """By the dollars, or by the tokens where a price is unknown or nothing has one."""
        dollars = self.cost, costs.cost
        if None in dollars or not any(dollars):
            return self.tokens > costs.tokens
        return (self.cost or 0.0) > (costs.cost or 0.0)


class ToolAccount(Value):
    """The expenses and savings of one tool, by everybody's turns."""

    tool: str
    since: datetime
    """When it was built, or came into the library; UTC."""
    built: Costs | None
    """Of all turns that built and changed it; None if no turn did."""
    reuses: int
    """Turns that called it and built nothing, and calls without a turn."""
    spent: Costs
    """By those turns; of a turn that called several tools an equal share."""
    saved: Costs
    """The expense of building it each time, less `spent`; of a tool that no turn built, what
    the average tool took.
    """
    pays: bool | None
    """Whether it saved what it took; None if no turn built it, or within its first `PAYS_WITHIN`
    days.
    """


class ToolAccounts(Value):
    tools: tuple[ToolAccount, ...]
    """That which saved most tokens first."""


class SpendingReport(Value):
    """A person's newest months, the newest first, and the sum that all persons on the database
    `spent` in this month, in US dollars, and may spend; `limit` is None without one.
    """

    months: tuple[MonthSpending, ...]
    spent: float
    limit: float | None


def note_spending(connection: sa.Connection, records: Sequence[Record]) -> None:
    """Keep what turns have spent by their newest events, and saved by the tools they reused."""
    newest = {r.turn_id: r for r in records if r.seq and isinstance(r.event, (BudgetSpent, *FINAL))}
    for record in newest.values():
        event = record.event
        assert isinstance(event, (BudgetSpent, *FINAL))
        usage, reused = event.usage, event.reused if isinstance(event, TurnFinished) else ()
        costs = _costs(usage, getattr(event, "seconds", None))
        if reused:
            note_reuses(connection, reused, record, costs)
        if usage.calls or reused:  # a process that ends another one's turn knows of no calls
            values = {
                "turn": record.turn_id,
                "conversation": record.conversation_id,
                "in_month": f"{record.at:%Y-%m}",
                "names": list(reused),
                "its_tokens": costs.tokens,
                "its_cost": costs.cost,
            }
            statement = _of_turn(_insert(connection), bool(usage.calls), bool(reused))
            connection.execute(statement, values)


def note_reuses(
    connection: sa.Connection,
    tools: Sequence[str],
    record: Record | None = None,
    spent: Costs = Costs(),  # noqa: B008 - frozen
    *,
    times: int = 1,
) -> None:
    """Keep that a turn, or so many calls without one, reused tools, and what that took, in equal
    shares. Tools that are not in the library are left out.
    """
    share = spent.times(1 / max(1, len(tools)))
    values = {"turn": record.turn_id, "conversation": record.conversation_id} if record else {}
    values |= {f"its_{name}": value for name, value in share.model_dump().items()}
    statement = _reused(_insert(connection), bool(record))
    connection.execute(statement, {"turn": "", "times": times, "names": list(tools), **values})


_Insert = Callable[[sa.Table], Any]
_TURN = sa.bindparam("turn", type_=sa.String)
_NAMES = sa.bindparam("names", type_=sa.String, expanding=True)
_ITS_TOKENS = sa.bindparam("its_tokens", type_=sa.Integer)
_ITS_COST = sa.bindparam("its_cost", type_=sa.Float)
_CONVERSATION = sa.bindparam("conversation", type_=sa.String)
_OWNER = (
    sa.select(schema.conversations.c.owner)
    .where(schema.conversations.c.id == _CONVERSATION)
    .scalar_subquery()
)


def _insert(connection: sa.Connection) -> _Insert:
    return sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert


@cache
def _of_turn(insert: _Insert, has_spent: bool, has_reused: bool) -> Any:
    """Writes what a turn has spent and saved; making the statement takes as long as running it."""
    month = sa.bindparam("in_month", type_=sa.String)
    ids = {"turn_id": _TURN, "conversation_id": _CONVERSATION, "owner": _OWNER, "month": month}
    values: dict[str, Any] = {"tokens": _ITS_TOKENS, "cost": _ITS_COST} if has_spent else {}
    return _upsert(insert, ids, values | (_saved() if has_reused else {}))


@cache
def _reused(insert: _Insert, by_turn: bool) -> Any:
    """Writes that a turn, or calls without one, reused tools."""
    reuses, times = schema.tool_reuses, sa.bindparam("times", type_=sa.Integer)
    owner: Any = sa.func.coalesce(_OWNER, "") if by_turn else sa.literal("")
    seconds = sa.bindparam("its_seconds", type_=sa.Float)
    values = sa.select(
        schema.tools.c.name, _TURN, owner, times, _ITS_TOKENS, _ITS_COST, seconds
    ).where(schema.tools.c.name.in_(_NAMES))
    insertion = insert(reuses).from_select(reuses.c.keys(), values)
    sums = {"reuses": reuses.c.reuses + (0 if by_turn else times)}  # a turn counts once
    return insertion.on_conflict_do_update(index_elements=["tool", "turn_id"], set_=sums)


def _upsert(
    insert: _Insert, ids: dict[str, Any], values: dict[str, Any], *, add: bool = False
) -> Any:
    """Writes the values into a row, or `add`s them to those that it has."""
    insertion = insert(_SPENDING).values(**ids, **values)
    changes: dict[str, Any] = {name: insertion.excluded[name] for name in values}
    if add:
        changes = {
            name: sa.func.coalesce(_SPENDING.c[name] + new, _SPENDING.c[name], new)
            for name, new in changes.items()
        }
    return insertion.on_conflict_do_update(index_elements=["turn_id"], set_=changes)


def _saved() -> dict[str, Any]:
    """The savings of a turn by tools, as expressions: the use of the turns that created them, up to
    the registration, less the turn's own use. NULL if no turn created them.
    """
    created = _VERSIONS.c.name.in_(_NAMES) & _VERSIONS.c.origin.contains('"how":"created"')
    newest = sa.select(_VERSIONS.c.name, sa.func.max(_VERSIONS.c.version))
    newest = newest.where(created & _VERSIONS.c.usage.is_not(None)).group_by(_VERSIONS.c.name)
    whose = sa.tuple_(_VERSIONS.c.name, _VERSIONS.c.version).in_(newest)
    text = sa.cast(_VERSIONS.c.usage, sa.JSON().with_variant(sa.Text(), "sqlite"))
    fields = sa.type_coerce(text, sa.JSON)
    wrote, read, cost = (
        fields[name].as_float() for name in ("output_tokens", "input_tokens", "cost")
    )
    tokens = sa.cast(sa.func.sum(wrote + read), sa.Integer) - _ITS_TOKENS
    dollars = sa.case((sa.func.count(cost) == sa.func.count(), sa.func.sum(cost) - _ITS_COST))
    return {
        name: sa.select(sum).where(whose).scalar_subquery()
        for name, sum in (("saved_tokens", tokens), ("saved_cost", dollars))
    }


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _costs(usage: Usage, seconds: float | None) -> Costs:
    cost = usage.cost if usage.calls else 0.0
    return Costs(tokens=_tokens(usage), cost=cost, seconds=seconds)


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


class Spending:
    """Records of spending. All methods but `month` and `outside_turns` block."""

    def __init__(self, engine: sa.Engine, limit: Callable[[], float | None] = lambda: None) -> None:
        """`limit` gives what a month may cost in US dollars."""
        self._engine, self._limit = engine, limit

    def month(self) -> "MonthBudget":
        """The budget of this month, for one turn."""
        return MonthBudget(self, self._limit())

    @asynccontextmanager
    async def outside_turns(self, owner: str) -> AsyncIterator["MonthBudget"]:
        """The budget of this month for calls of no turn, which count when the block ends."""
        budget = self.month()
        try:
            yield budget
        finally:
            await asyncio.to_thread(self.count, owner, budget.usage)

    def count(self, owner: str, usage: Usage) -> None:
        """Count what was spent outside of turns."""
        month = f"{datetime.now(UTC):%Y-%m}"
        ids = {"turn_id": uuid5(NAMESPACE_OID, f"{month} {owner}").hex, "conversation_id": ""}
        values = {"tokens": _tokens(usage), "cost": usage.cost}
        if usage.calls:
            with writing(self._engine) as connection:
                ids |= {"owner": owner, "month": month}
                connection.execute(_upsert(_insert(connection), ids, values, add=True))

    def report(self, owner: str) -> SpendingReport:
        """The spending and savings of `owner`'s turns in the last months."""
        return SpendingReport(
            months=self.months(owner), spent=self.this_month(), limit=self._limit()
        )

    def months(self, owner: str) -> tuple[MonthSpending, ...]:
        """The last twelve months in which an owner spent, or a turn reused a tool, newest first."""
        columns, sums = _SPENDING.c, ("tokens", "cost", "saved_cost")
        query = sa.select(
            columns.month,
            sa.func.count(sa.func.nullif(columns.conversation_id, "")).label("turns"),
            *(sa.func.sum(columns[name]).label(name) for name in sums),
            sa.func.count(columns.saved_tokens).label("reuses"),
            sa.func.coalesce(sa.func.sum(columns.saved_tokens), 0).label("saved_tokens"),
        ).where(columns.owner == owner)
        query = query.group_by(columns.month).order_by(columns.month.desc()).limit(12)
        return tuple(MonthSpending(**row._mapping) for row in fetch(self._engine, query))

    def tools(self) -> tuple[ToolAccount, ...]:
        """The account of each tool of the library, that which saved most tokens first."""
        tools, reuses = schema.tools.c, schema.tool_reuses.c
        sums = (sa.func.sum(reuses[name]).label(name) for name in ("reuses", "tokens", "seconds"))
        has_price = sa.func.count(reuses.cost) == sa.func.count()
        cost = sa.case((has_price, sa.func.sum(reuses.cost))).label("cost")
        by_tool: sa.Select[Any] = sa.select(reuses.tool, *sums, cost).group_by(reuses.tool)
        version = _VERSIONS.c
        columns = version.name, version.origin, version.usage, version.seconds, version.created_at
        query = sa.select(*columns).where(version.name.in_(sa.select(tools.name)))
        built: dict[str, Costs | None] = {}
        since: dict[str, datetime] = {}
        with reading(self._engine) as connection:
            for row in connection.execute(query.order_by(version.name, version.version)):
                if row.name not in since or '"how":"created"' in row.origin:  # a tool of that name
                    built[row.name], since[row.name] = None, utc(row.created_at)
                if row.usage:
                    costs = _costs(Usage.model_validate_json(row.usage), row.seconds)
                    built[row.name] = costs + (built[row.name] or Costs())
            spent = {row.tool: row for row in connection.execute(by_tool)}
        paid = [costs for costs in built.values() if costs]
        average = sum(paid, Costs()).times(1 / max(1, len(paid)))
        accounts = (
            _account(name, at, built[name], spent.get(name), average) for name, at in since.items()
        )
        return tuple(sorted(accounts, key=lambda account: -account.saved.tokens))

    def this_month(self) -> float:
        """US dollars that all owners have spent in this month."""
        in_month = _SPENDING.c.month == f"{datetime.now(UTC):%Y-%m}"
        query = sa.select(sa.func.coalesce(sa.func.sum(_SPENDING.c.cost), 0.0)).where(in_month)
        return float(fetch_value(self._engine, query) or 0.0)

    def add(self, turn_id: str, usage: Usage) -> None:
        """Add what was spent after a turn, for what is learnt from it."""
        columns = _SPENDING.c
        more = {"tokens": columns.tokens + _tokens(usage)}
        if usage.cost is not None:
            more["cost"] = sa.func.coalesce(columns.cost, 0.0) + usage.cost
        with writing(self._engine) as connection:
            of_turn = columns.turn_id == turn_id
            connection.execute(_SPENDING.update().where(of_turn).values(**more))


def _account(
    tool: str, since: datetime, built: Costs | None, row: sa.Row[Any] | None, average: Costs
) -> ToolAccount:
    reuses = row.reuses if row else 0
    spent = Costs(tokens=row.tokens, cost=row.cost, seconds=row.seconds) if row else Costs()
    saved = (built or average).times(reuses) + spent.times(-1)
    is_due = built is not None and datetime.now(UTC) - since > timedelta(days=PAYS_WITHIN)
    return ToolAccount(
        tool=tool,
        since=since,
        built=built,
        reuses=reuses,
        spent=spent,
        saved=saved,
        pays=not built.exceeds(saved) if built and is_due else None,
    )


class MonthBudget(Budget):
    """The budget of a month, for one turn; all turns on the database count. Calls that cost
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
