"""Spending of turns: by conversation and month, the savings by reuse, and the limit of a month."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from selfeng.core.errors import MonthSpent
from selfeng.core.events import (
    BudgetSpent,
    Event,
    Limits,
    TurnFailed,
    TurnFinished,
    TurnStopped,
)
from selfeng.core.stage_event import Usage
from selfeng.store import schema
from selfeng.store.database import writing
from selfeng.store.journal import Journal, JournalEntry
from selfeng.store.spending import (
    PAYS_WITHIN,
    Costs,
    MonthBudget,
    MonthSpending,
    Spending,
    ToolAccount,
    note_reuses,
)

NOW = datetime.now(UTC)
MONTH = f"{NOW:%Y-%m}"
REUSED = Usage(calls=2, input_tokens=60, output_tokens=40, cost=0.01)
BUILT = Usage(calls=5, input_tokens=800, output_tokens=200, cost=0.25)


def _usage(tokens: int, cost: float | None) -> Usage:
    return Usage(calls=1, input_tokens=tokens, cost=cost)


class Turns:
    """Turns of owners, with their events."""

    def __init__(self, database: sa.Engine) -> None:
        self.database, self.journal = database, Journal(database)

    def run(
        self, *events: Event, owner: str = "ann", conversation: str = "", at: datetime = NOW
    ) -> str:
        """The id of the turn's conversation."""
        conversation = conversation or self.journal.create_conversation(owner, "spend")
        turn = self.journal.begin_turn(conversation, "spend")
        for event in events:
            self.journal.append([JournalEntry(conversation, turn, at, event)])
        return conversation

    def build(
        self,
        name: str,
        usage: Usage | None,
        how: str = "created",
        version: int = 1,
        *,
        seconds: float | None = None,
        at: datetime = NOW,
    ) -> None:
        row = dict.fromkeys(("description", "code", "tests", "digest", "model"), "")
        row |= {"name": name, "version": version, "origin": f'{{"how":"{how}"}}', "prompts": "[]"}
        row |= {"signature": "{}", "example_requests": "[]", "requires": "[]"}
        text = usage and usage.model_dump_json()
        with writing(self.database) as connection:
            values = {**row, "usage": text, "seconds": seconds, "created_at": at}
            connection.execute(schema.tool_versions.insert().values(**values))

    def add(self, *names: str) -> None:
        """Tools of the library, without their versions."""
        row = dict.fromkeys(("description", "code", "tests", "digest", "model"), "")
        row |= {"signature": "{}", "example_requests": "[]", "state": "active"}
        with writing(self.database) as connection:
            for name in names:
                values = {**row, "name": name, "created_at": NOW}
                connection.execute(schema.tools.insert().values(**values))

    def accounts(self) -> dict[str, ToolAccount]:
        return {account.tool: account for account in Spending(self.database).tools()}

    def months(self, owner: str = "ann") -> tuple[MonthSpending, ...]:
        return Spending(self.database).months(owner)


@pytest.fixture
def turns(database: sa.Engine) -> Turns:
    return Turns(database)


def test_a_conversation_tells_what_its_turns_cost_while_they_run(turns: Turns) -> None:
    running = BudgetSpent(usage=_usage(100, 0.5), limits=Limits(), seconds=1)
    conversation = turns.run(running)
    summary = turns.journal.conversation("ann", conversation)
    assert (summary.tokens, summary.cost) == (100, 0.5)
    turns.run(TurnFailed(where="x", message="", usage=_usage(7, 0.25)), conversation=conversation)
    (summary,) = turns.journal.conversations("ann")
    assert (summary.tokens, summary.cost) == (107, 0.75)
    other = turns.run(TurnFinished(answer="hi"))
    free = turns.journal.conversation("ann", other)
    assert (free.tokens, free.cost) == (0, None)


def test_months_sum_what_each_owner_spent_also_in_removed_conversations(turns: Turns) -> None:
    before = (NOW.replace(day=1) - timedelta(days=1)).replace(hour=1)
    gone = turns.run(TurnFinished(answer="", usage=_usage(10, 1.0)))
    turns.run(TurnFinished(answer="", usage=_usage(20, None)))
    turns.run(TurnFinished(answer="", usage=_usage(5, None)), at=before)
    turns.run(TurnFinished(answer="", usage=_usage(40, 2.0)), owner="bob")
    turns.journal.remove_conversations([gone])
    nothing = {"reuses": 0, "saved_tokens": 0, "saved_cost": None}
    assert turns.months() == (
        MonthSpending(month=MONTH, turns=2, tokens=30, cost=1.0, **nothing),
        MonthSpending(month=f"{before:%Y-%m}", turns=1, tokens=5, cost=None, **nothing),
    )
    assert Spending(turns.database).this_month() == 3.0


def test_who_ends_the_turn_of_a_dead_process_does_not_forget_what_it_spent(turns: Turns) -> None:
    turns.run(
        BudgetSpent(usage=_usage(100, 0.5), limits=Limits(), seconds=1), TurnStopped(reason="ended")
    )
    assert [(month.tokens, month.cost) for month in turns.months()] == [(100, 0.5)]


@pytest.mark.parametrize(
    ("reused", "usage", "build", "saved"),
    [
        (("slugify",), REUSED, BUILT, (1, 900, 0.24)),
        (("seed", "slugify"), REUSED, BUILT, (1, 900, 0.24)),
        (("slugify",), Usage(), BUILT, (1, 1000, 0.25)),  # by hand
        (("slugify",), REUSED.model_copy(update={"cost": None}), BUILT, (1, 900, None)),
        (("slugify",), REUSED, BUILT.model_copy(update={"cost": None}), (1, 900, None)),
        (("slugify",), BUILT, REUSED, (1, -900, -0.24)),
        (("slugify",), REUSED, None, (0, 0, None)),  # a tool that no turn built
        ((), REUSED, BUILT, (0, 0, None)),
    ],
)
def test_a_turn_saves_the_build_of_the_tool_that_it_reuses(
    turns: Turns,
    reused: tuple[str, ...],
    usage: Usage,
    build: Usage | None,
    saved: tuple[int, int, float | None],
) -> None:
    turns.build("slugify", build)
    turns.build("slugify", _usage(9, 9.0), "repaired", version=2)
    turns.run(TurnFinished(answer="", usage=usage, reused=reused))
    (month,) = turns.months()
    assert (month.reuses, month.saved_tokens) == saved[:2]
    assert month.saved_cost == (None if saved[2] is None else pytest.approx(saved[2]))


def test_several_tools_save_all_their_builds(turns: Turns) -> None:
    turns.build("slugify", BUILT)
    turns.build("reverse", BUILT)
    turns.build("reverse", REUSED, version=3)  # created once more
    turns.run(TurnFinished(answer="", usage=REUSED, reused=("reverse", "slugify")))
    (month,) = turns.months()
    assert (month.reuses, month.saved_tokens) == (1, 1000)
    assert month.saved_cost == pytest.approx(0.25)


def test_the_last_event_of_a_turn_that_reuses_a_tool_takes_one_statement(turns: Turns) -> None:
    turns.build("slugify", BUILT)
    statements: list[str] = []

    @sa.event.listens_for(turns.database, "before_cursor_execute")
    def note(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
        statements.append(statement)

    turns.run(TurnFinished(answer="", usage=REUSED, reused=("slugify",)))
    assert len([statement for statement in statements if "spending" in statement]) == 1


async def test_what_is_spent_outside_of_turns_counts_for_its_owner(turns: Turns) -> None:
    turns.run(TurnFinished(answer="", usage=_usage(10, 1.0)))
    spending = Spending(turns.database, lambda: 1.5)
    for cost in (None, 0.25, None, 0.25):
        async with spending.outside_turns("ann") as budget:
            await budget.look()
            budget.check()
            budget.charge(5, 2, cost)
    async with spending.outside_turns("ann"):
        pass  # no call
    (month,) = turns.months()
    assert (month.turns, month.tokens, month.cost) == (1, 38, 1.5)
    async with spending.outside_turns("bob") as budget:
        await budget.look()
        with pytest.raises(MonthSpent):
            budget.check()
    assert turns.months("bob") == ()


def test_what_is_learnt_from_a_turn_counts_too(turns: Turns) -> None:
    conversation = turns.run(TurnFinished(answer="", usage=_usage(10, None)))
    (record,) = turns.journal.history(conversation)
    Spending(turns.database).add(record.turn_id, _usage(5, 0.5))
    Spending(turns.database).add(record.turn_id, _usage(5, None))
    assert [(month.tokens, month.cost) for month in turns.months()] == [(20, 0.5)]


async def test_a_month_is_limited_for_all_turns_of_the_database(turns: Turns) -> None:
    spending = Spending(turns.database)
    budget, unlimited = MonthBudget(spending, 1.0), MonthBudget(spending, None)
    for one in (budget, unlimited):
        await one.look()
        one.check()
    turns.run(TurnFinished(answer="", usage=_usage(10, 0.5)), owner="bob")
    await budget.look()
    budget.check()
    budget.check_running(10, 0.49)
    with pytest.raises(MonthSpent, match=r"cost \$1\.01 of \$1\.00") as refused:
        budget.check_running(10, 0.51)
    assert (refused.value.kind, refused.value.cause) == ("budget", "month")
    assert refused.value.remedy.startswith("raise MONTH_MAX_COST")
    turns.run(TurnFinished(answer="", usage=_usage(10, 0.5)))
    await budget.look()
    with pytest.raises(MonthSpent):
        budget.check()
    budget.check(paid=False)
    budget.check_running(10, None)
    await unlimited.look()
    unlimited.check()


async def test_a_turn_counts_its_own_calls_before_they_are_stored_and_once(turns: Turns) -> None:
    turns.run(BudgetSpent(usage=_usage(10, 0.4), limits=Limits(), seconds=1))
    budget = MonthBudget(Spending(turns.database), 1.0)
    budget.charge(10, 0, 0.4)  # repeated after an interruption, and stored above
    await budget.look()
    budget.check()
    budget.charge(10, 0, 0.5)
    await budget.look()
    budget.check()
    budget.charge(10, 0, 0.1)
    await budget.look()
    with pytest.raises(MonthSpent):
        budget.check()


def test_the_account_of_a_tool_sets_its_builds_against_what_its_reuse_saved(turns: Turns) -> None:
    turns.add("slugify", "reverse", "seed")
    turns.build("slugify", REUSED, seconds=2.0)  # of a tool of that name, since removed
    turns.build("slugify", BUILT, version=2, seconds=30.0)
    turns.build("slugify", REUSED, "repaired", version=3, seconds=10.0)
    turns.build("reverse", BUILT.model_copy(update={"cost": None}), seconds=None)
    turns.build("seed", None)
    turns.run(TurnFinished(answer="", usage=REUSED, reused=("slugify",), seconds=4.0))
    turns.run(TurnFinished(answer="", usage=Usage(), reused=("slugify", "seed"), seconds=1.0))
    turns.run(TurnFinished(answer="", usage=REUSED, reused=("removed",)))
    with writing(turns.database) as connection:  # calls without a turn
        for _ in range(2):
            note_reuses(connection, ("slugify",), times=3)
    slugify, seed, reverse = Spending(turns.database).tools()
    assert slugify == ToolAccount(
        tool="slugify",
        since=NOW,
        built=Costs(tokens=1100, cost=0.26, seconds=40.0),
        reuses=8,
        spent=Costs(tokens=100, cost=0.01, seconds=4.5),
        saved=Costs(tokens=8700, cost=8 * 0.26 - 0.01, seconds=315.5),
        pays=None,
    )
    average = Costs(tokens=1050, cost=None, seconds=None)
    assert (seed.tool, seed.built, seed.reuses, seed.pays) == ("seed", None, 1, None)
    assert seed.saved == average
    assert (reverse.reuses, reverse.saved) == (0, Costs())


@pytest.mark.parametrize(
    ("age", "build", "reuses", "pays"),
    [
        (PAYS_WITHIN - 1, BUILT, 0, None),
        (PAYS_WITHIN + 1, BUILT, 0, False),
        (PAYS_WITHIN + 1, BUILT, 1, False),  # it saved less than it took, by what the turn spent
        (PAYS_WITHIN + 1, BUILT, 2, True),
        (PAYS_WITHIN + 1, BUILT.model_copy(update={"cost": None}), 1, False),
        (PAYS_WITHIN + 1, BUILT.model_copy(update={"cost": None}), 2, True),
        (PAYS_WITHIN + 1, None, 0, None),
    ],
)
def test_a_tool_does_not_pay_if_it_saved_less_than_it_took_in_its_first_month(
    turns: Turns, age: int, build: Usage | None, reuses: int, pays: bool | None
) -> None:
    turns.add("slugify")
    turns.build("slugify", build, at=datetime.now(UTC) - timedelta(days=age))
    for _ in range(reuses):
        turns.run(TurnFinished(answer="", usage=REUSED, reused=("slugify",)))
    assert turns.accounts()["slugify"].pays is pays


def test_a_repeated_end_of_a_turn_is_one_reuse(turns: Turns) -> None:
    turns.add("slugify")
    end = TurnFinished(answer="", usage=REUSED, reused=("slugify",))
    turns.run(end, end)
    assert turns.accounts() == {}  # it has no version
    turns.build("slugify", BUILT)
    assert turns.accounts()["slugify"].reuses == 1
