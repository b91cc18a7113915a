"""Schedules: their runs are turns without a model, one at a time, and none fails unseen."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from standardwebhooks import Webhook

from selfeng.core.errors import RequestError, ResourceBusy, ResourceNotFound, ToolNotFound
from selfeng.core.events import (
    DeliveryFailed,
    Event,
    QuestionsAsked,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    TurnStopped,
)
from selfeng.core.files import File
from selfeng.core.prompt import FunctionCall
from selfeng.core.question import Answer
from selfeng.core.schedule import Schedule, SchedulePlan, ToFolder, ToWebhook, Watch
from selfeng.core.status import Asked
from selfeng.core.verdict import Execution, Raised
from selfeng.engine import Engine
from selfeng.stages.watched_folders import FileVersion
from selfeng.store.conversation_list import ConversationChange
from selfeng.store.schedules import Schedules
from tests.doubles import (
    ScriptedModel,
    ScriptedNetwork,
    ScriptedSandbox,
    failing,
    passing,
    returned,
    specification,
    tool,
)
from tests.engine.test_lessons import engine_on
from tests.engine.test_network_tools import BUILDS, RATES, SPECIFIED
from tests.engine.test_questions import turn
from tests.lessons.notebook import Notebook

HOUR = timedelta(hours=1)
PLAN = SchedulePlan(name="sums", tool="add_numbers", arguments={"a": 2, "b": 3}, cron="0 8 * * *")
FAILS = Raised(type_name="KeyError", message="'b'", traceback="add_numbers.py")


class HeldSandbox(ScriptedSandbox):
    """Executes nothing before it is free."""

    def __init__(self, *script: Execution) -> None:
        super().__init__(*script)
        self.called, self.free = asyncio.Event(), asyncio.Event()

    async def execute(self, *arguments: Any) -> Execution:
        self.called.set()
        await self.free.wait()
        return await super().execute(*arguments)


@asynccontextmanager
async def engine_with(
    database: sa.Engine, *script: Execution, held: bool = False, **more: Any
) -> AsyncIterator[tuple[Engine, HeldSandbox]]:
    """An engine whose model has nothing to say: a turn that asks it fails."""
    sandbox, book = HeldSandbox(*script), Notebook(database)
    if not held:
        sandbox.free.set()
    async with engine_on(book, ScriptedModel(), sandbox, **more) as engine:
        engine.library.replace(tool())  # type: ignore[attr-defined]
        await engine.learning.start()
        yield engine, sandbox
    assert book.model.prompts == []  # no lesson is learnt from runs


async def let_come(engine: Engine, database: sa.Engine, name: str = "sums") -> Schedule:
    """Let it be due since a moment ago, and do what a server does then."""
    rows, schedule = Schedules(database), await engine.schedules.get("me", name)
    due = datetime.now(UTC) - timedelta(seconds=1)
    assert rows.skip(schedule, due)
    await engine.schedules.look()
    await engine.settle()
    await engine.schedules.look()
    await engine.learning.settle()
    return await engine.schedules.get("me", name)


async def events(engine: Engine, schedule: Schedule) -> list[Any]:
    records = await engine.conversations.history("me", schedule.conversation_id)
    return [record.event for record in records]


async def test_a_run_is_a_turn_in_the_conversation_of_its_schedule(database: sa.Engine) -> None:
    async with engine_with(database, returned("5")) as (engine, sandbox):
        added = await engine.schedule("me", PLAN)
        assert (added.version, added.state, added.run, added.last) == (1, "active", "", None)
        assert (added.next_at.hour, added.next_at.minute) == (8, 0)
        schedule = await let_come(engine, database)
        began, *_, last = await events(engine, schedule)
        summary, _ = await engine.conversations.list("me")
    assert isinstance(began, TurnStarted)
    assert (began.request, began.runs, began.schedule) == (
        "Run add_numbers(a=2, b=3)", "add_numbers", "sums",
    )  # fmt: skip
    assert isinstance(last, TurnFinished)
    assert (last.answer, last.usage.calls) == ("The result is:\n\n```\n5\n```", 0)
    assert sandbox.executed == [("add_numbers", {"a": 2, "b": 3})]
    assert schedule.last
    assert (schedule.state, schedule.run, schedule.last.problem) == ("active", "", "")
    assert schedule.last.text == last.answer
    assert schedule.next_at == added.next_at
    assert (summary.title, summary.unread) == ("sums", True)


async def test_the_pinned_version_runs_with_the_schedules_files(database: sa.Engine) -> None:
    prices = File(name="prices.csv", content=b"price\n1\n")
    async with engine_with(database, returned("5"), returned("6")) as (engine, sandbox):
        await engine.schedule("me", PLAN, [prices])
        newer = tool(code="def add_numbers(a: int, b: int = 1) -> int:\n    return b + a\n")
        engine.library.replace(newer.model_copy(update={"version": 2}))  # type: ignore[attr-defined]
        await let_come(engine, database)
        await let_come(engine, database)
        shown = await engine.schedules.get("me", "sums")
    assert [job.code for job in sandbox.jobs] == 2 * [tool().code]
    assert sandbox.files == [(prices,), (prices,)]
    assert shown.version == 1


async def test_a_run_that_fails_pauses_its_schedule_and_says_so(database: sa.Engine) -> None:
    async with engine_with(database, FAILS, returned("5")) as (engine, _):
        await engine.schedule("me", PLAN)
        schedule = await let_come(engine, database)
        last = (await events(engine, schedule))[-1]
        assert (schedule.state, schedule.troubled) == ("paused", True)
        assert schedule.reason == "KeyError: 'b'"
        assert isinstance(last, TurnFinished)
        assert last.answer.endswith(
            "Because of this the schedule “sums” is paused until you resume it."
        )
        assert (await let_come(engine, database)).last == schedule.last  # it does not run
        resumed = await engine.schedules.resume("me", "sums")
        assert (resumed.state, resumed.reason, resumed.troubled) == ("active", "", False)
        assert resumed.next_at > datetime.now(UTC)
        again = await let_come(engine, database)
    assert again.last
    assert (again.state, again.last.problem) == ("active", "")


async def test_a_tool_that_is_gone_pauses_its_schedule(database: sa.Engine) -> None:
    async with engine_with(database) as (engine, _):
        await engine.schedule("me", PLAN)
        await engine.library.remove("add_numbers")
        schedule = await let_come(engine, database)
        last = (await events(engine, schedule))[-1]
    assert (schedule.state, schedule.reason) == ("paused", "there is no tool 'add_numbers'")
    assert isinstance(last, TurnFailed)
    assert last.remedy.endswith("the schedule “sums” is paused until you resume it")


async def test_a_run_that_needs_consent_asks_and_pauses(database: sa.Engine) -> None:
    pages = ScriptedNetwork({})
    async with engine_with(database, pages=pages) as (engine, sandbox):
        engine.library.replace(RATES)  # type: ignore[attr-defined]
        await engine.schedule("me", PLAN.model_copy(update={"arguments": {"a": 2}}))
        schedule = await let_come(engine, database)
        asked = [e for e in await events(engine, schedule) if isinstance(e, QuestionsAsked)]
    assert len(asked) == 1
    assert schedule.state == "paused"
    assert "send requests to api.example.org" in schedule.reason
    assert sandbox.executed == []


async def test_runs_of_one_schedule_do_not_overlap(database: sa.Engine) -> None:
    script = returned("5"), returned("6")
    async with engine_with(database, *script, held=True) as (engine, sandbox):
        added = await engine.schedule("me", PLAN)
        asked = await engine.schedules.start("me", "sums")
        await sandbox.called.wait()
        with pytest.raises(ResourceBusy, match="runs already"):
            await engine.schedules.start("me", "sums")
        Schedules(database).skip(added, datetime.now(UTC))
        await engine.schedules.look()
        assert (await engine.schedules.get("me", "sums")).run == asked.turn_id
        sandbox.free.set()
        await engine.settle()
        await engine.schedules.look()  # it has ended, and the next one begins
        first = await engine.schedules.get("me", "sums")
        await engine.settle()
        await engine.schedules.look()
        second = await engine.schedules.get("me", "sums")
    assert first.last
    assert second.last
    assert first.last.turn_id == asked.turn_id
    assert first.run not in ("", asked.turn_id)
    assert second.last.turn_id != asked.turn_id
    assert len(sandbox.executed) == 2


async def test_of_two_processes_one_begins_the_run(database: sa.Engine) -> None:
    async with engine_with(database, returned("5")) as (engine, _):
        added = await engine.schedule("me", PLAN)
        rows, now = Schedules(database), datetime.now(UTC)
        taken = [rows.begin(added, run, now, added.next_at + HOUR) for run in ("a", "b")]
        assert taken == [True, False]
        assert (await engine.schedules.get("me", "sums")).run == "a"


async def test_a_run_that_was_taken_and_not_begun_is_begun_by_another_process(
    database: sa.Engine,
) -> None:
    async with engine_with(database, returned("5")) as (engine, _):
        added = await engine.schedule("me", PLAN)
        now = datetime.now(UTC)
        assert Schedules(database).begin(added, "f" * 32, now, added.next_at)
        await engine.schedules.look()
        assert await events(engine, added) == []  # that process may be about to begin it
        table = sa.table("schedules", sa.column("begun_at", sa.DateTime(timezone=True)))
        with database.begin() as connection:
            connection.execute(table.update().values(begun_at=now - timedelta(seconds=6)))
        await engine.schedules.look()
        await engine.settle()
        await engine.schedules.look()
        schedule = await engine.schedules.get("me", "sums")
    assert schedule.last
    assert (schedule.last.turn_id, schedule.last.problem) == ("f" * 32, "")


async def test_a_run_that_takes_too_long_is_stopped_and_pauses(database: sa.Engine) -> None:
    async with engine_with(database, held=True) as (engine, sandbox):
        added = await engine.schedule("me", PLAN.model_copy(update={"seconds": 60}))
        await engine.schedules.start("me", "sums")
        await sandbox.called.wait()
        engine.schedules._since -= timedelta(hours=1)
        table = sa.table("schedules", sa.column("begun_at", sa.DateTime(timezone=True)))
        with database.begin() as connection:
            connection.execute(table.update().values(begun_at=datetime.now(UTC) - HOUR))
        await engine.schedules.look()
        assert (await engine.schedules.get("me", "sums")).state == "paused"
        await engine.settle()
        await engine.schedules.look()
        schedule = await engine.schedules.get("me", "sums")
        last = (await events(engine, added))[-1]
    assert isinstance(last, TurnStopped)
    assert last.reason == "It took more than 60 seconds."
    assert schedule.last
    assert (schedule.run, schedule.reason) == ("", "a run took more than 60 seconds")
    assert schedule.last.problem == schedule.reason


async def test_a_run_whose_server_was_ended_begins_again(database: sa.Engine) -> None:
    async with engine_with(database, returned("5"), held=True) as (engine, sandbox):
        await engine.schedule("me", PLAN)
        asked = await engine.schedules.start("me", "sums")
        await sandbox.called.wait()
        engine.turns.stop_all("The server ended.")
        await engine.settle()
        sandbox.free.set()
        await engine.schedules.look()
        again = await engine.schedules.get("me", "sums")
        assert (again.tries, again.state) == (1, "active")
        assert again.run not in ("", asked.turn_id)
        await engine.settle()
        await engine.schedules.look()
        schedule = await engine.schedules.get("me", "sums")
    assert schedule.last
    assert (schedule.last.problem, schedule.run, schedule.tries) == ("", "", 0)


async def test_a_run_that_its_person_stops_pauses(database: sa.Engine) -> None:
    async with engine_with(database, held=True) as (engine, sandbox):
        await engine.schedule("me", PLAN)
        asked = await engine.schedules.start("me", "sums")
        await sandbox.called.wait()
        assert await engine.stop("me", asked.turn_id)
        await engine.settle()
        await engine.schedules.look()
        schedule = await engine.schedules.get("me", "sums")
    assert (schedule.state, schedule.reason) == ("paused", "Stopped on request.")


async def test_a_deleted_conversation_pauses_and_is_restored_by_resuming(
    database: sa.Engine,
) -> None:
    async with engine_with(database, returned("5")) as (engine, _):
        added = await engine.schedule("me", PLAN)
        gone = ConversationChange(deleted=True)
        await engine.conversations.change("me", added.conversation_id, gone)
        await let_come(engine, database)
        paused = await engine.schedules.get("me", "sums")
        assert (paused.state, paused.troubled) == ("paused", True)
        assert paused.reason.startswith("unknown conversation")
        await engine.schedules.resume("me", "sums")
        await engine.schedules.look()
        schedule = await let_come(engine, database)
    assert schedule.last
    assert schedule.last.problem == ""


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"tool": "sail"}, ToolNotFound, "no tool 'sail'"),
        ({"arguments": {"a": "x"}}, RequestError, "a"),
        ({"arguments": {"a": 1, "c": 1}}, RequestError, "has no parameter c"),
        ({"cron": "soon"}, RequestError, "cron 'soon'"),
        ({"timezone": "Mars"}, RequestError, "unknown time zone 'Mars'"),
    ],
)
async def test_what_can_not_run_is_refused_at_once(
    database: sa.Engine, change: dict[str, Any], error: type[Exception], words: str
) -> None:
    async with engine_with(database) as (engine, _):
        with pytest.raises(error, match=words):
            await engine.schedule("me", PLAN.model_copy(update=change))
        assert await engine.schedules.list("me") == ()


async def test_results_are_delivered_before_a_run_has_ended(
    database: sa.Engine, tmp_path: Path
) -> None:
    async with engine_with(database, returned("5")) as (engine, _):
        engine.schedules._deliveries._folder = tmp_path / "scheduled"
        await engine.schedule("me", PLAN.model_copy(update={"deliver": ToFolder()}))
        await let_come(engine, database)
        await engine.background.aflush_tasks()
        schedule = await engine.schedules.get("me", "sums")
    assert schedule.last
    assert (schedule.run, schedule.last.problem) == ("", "")
    (file,) = (tmp_path / "scheduled" / "sums").iterdir()
    assert file.name.endswith("-result.txt")  # the script's value is not kept
    assert "5" in file.read_text()


async def test_a_result_that_is_not_delivered_pauses_and_its_grant_goes_with_the_schedule(
    database: sa.Engine,
) -> None:
    hook = ToWebhook(url="https://hooks.example.org/sums", secret="KEY")
    async with engine_with(database, returned("5")) as (engine, _):
        engine.vault.set("KEY", "kanarie-0123456789")
        added = await engine.schedule("me", PLAN.model_copy(update={"deliver": hook}))
        (grant,) = await engine.network.grants(f"schedule {added.id}")
        assert (grant.need.name, grant.owner) == ("hooks.example.org", "me")
        await engine.network.revoke(grant.tool)
        await let_come(engine, database)
        await engine.background.aflush_tasks()
        schedule = await engine.schedules.get("me", "sums")
        assert (schedule.state, schedule.troubled) == ("paused", True)
        assert schedule.reason.startswith("the result was not delivered: results of 'sums' may not")
        await engine.settle()
        failure = (await events(engine, added))[-1]
        assert isinstance(failure, DeliveryFailed)
        assert (failure.schedule, failure.remedy) == ("sums", "add the schedule again to allow it")
        summary, _ = await engine.conversations.list("me")
        assert (summary.title, summary.unread) == ("sums", True)
        await engine.schedules.remove("me", "sums")
        again = await engine.schedule("me", PLAN.model_copy(update={"deliver": hook}))
        await engine.schedules.remove("me", again.id)
        assert await engine.network.grants() == ()


HOOKED = PLAN.model_copy(update={"cron": "", "hook": "KEY", "arguments": {"b": 3}})
SECRET = "kanarie-0123456789"


def signed(body: bytes, message_id: str = "m1", *, secret: str = SECRET, age: int = 0) -> Any:
    """The headers of a request."""
    at = datetime.now(UTC) - timedelta(seconds=age)
    signature = Webhook(secret.encode()).sign(message_id, at, body.decode())
    return {
        "Webhook-Id": message_id,
        "Webhook-Timestamp": str(int(at.timestamp())),
        "Webhook-Signature": signature,
    }


async def test_a_signed_request_begins_one_run_with_its_arguments(database: sa.Engine) -> None:
    async with engine_with(database, returned("5"), returned("7")) as (engine, sandbox):
        engine.vault.set("KEY", SECRET)
        added = await engine.schedule("me", HOOKED)
        assert (added.upcoming, added.state) == ((), "active")
        receive, body = engine.schedules.receive, b'{"a": 2}'
        first = await receive(added.id, signed(body), body)
        assert await receive(added.id, signed(body), body) == first  # sent again
        await engine.settle()
        await engine.schedules.look()
        assert await receive(added.id, signed(body), body) == first
        other = b'{"a": 4}'
        await receive(added.id, signed(other, "m2"), other)
        await engine.settle()
        await engine.schedules.look()
        schedule = await engine.schedules.get("me", "sums")
    assert [arguments for _, arguments in sandbox.executed] == [{"a": 2, "b": 3}, {"a": 4, "b": 3}]
    assert schedule.last
    assert (schedule.last.problem, schedule.extra) == ("", {})


async def test_what_is_not_signed_lately_by_its_secret_finds_no_hook(database: sa.Engine) -> None:
    body = b'{"a": 2}'
    async with engine_with(database) as (engine, _):
        engine.vault.set("KEY", SECRET)
        hooked = await engine.schedule("me", HOOKED)
        closed = await engine.schedule("me", PLAN.model_copy(update={"name": "closed"}))
        good = signed(body)
        wrong = [
            (hooked.id, {}, body),
            (hooked.id, good, b'{"a": 3}'),
            (hooked.id, signed(body, secret="another-secret"), body),
            (hooked.id, signed(body, age=301), body),
            (hooked.id, {**good, "Webhook-Id": "m2"}, body),
            (hooked.id, {**good, "Webhook-Signature": "v1"}, body),
            (hooked.id, {**good, "Webhook-Timestamp": "soon"}, body),
            (hooked.id, good, b"\xff"),
            (closed.id, good, body),
            ("unknown", good, body),
        ]
        for request in wrong:
            with pytest.raises(ResourceNotFound, match="no such hook"):
                await engine.schedules.receive(*request)
        assert (await engine.schedules.get("me", "sums")).state == "active"
        with pytest.raises(ResourceNotFound, match="OTHER"):
            await engine.schedule("me", HOOKED.model_copy(update={"hook": "OTHER"}))


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"a": "x"}', b'{"c": 1}', b""])
async def test_a_signed_request_that_is_malformed_pauses(database: sa.Engine, body: bytes) -> None:
    async with engine_with(database) as (engine, _):
        engine.vault.set("KEY", SECRET)
        added = await engine.schedule("me", HOOKED)
        with pytest.raises(RequestError, match="malformed"):
            await engine.schedules.receive(added.id, signed(body), body)
        schedule = await engine.schedules.get("me", "sums")
        assert (schedule.state, schedule.troubled) == ("paused", True)
        with pytest.raises(ResourceBusy, match="is paused"):
            await engine.schedules.receive(added.id, signed(b"{}", "m2"), b"{}")
        resumed = await engine.schedules.resume("me", "sums")
    assert (resumed.state, resumed.upcoming) == ("active", ())


async def test_schedules_are_their_owners(database: sa.Engine) -> None:
    async with engine_with(database) as (engine, _):
        await engine.schedule("me", PLAN)
        await engine.schedule("you", PLAN)
        with pytest.raises(RequestError, match="there is a schedule 'sums'"):
            await engine.schedule("me", PLAN)
        await engine.schedules.remove("me", "sums")
        with pytest.raises(ResourceNotFound, match="no schedule 'sums'"):
            await engine.schedules.pause("me", "sums")
        assert [s.owner for s in await engine.schedules.list("you")] == ["you"]
        await engine.delete_data("you")
        assert await engine.schedules.list("you") == ()


MODEL_CALL = FunctionCall(
    name="add_numbers", arguments={"a": 2, "b": 3, "schedule_cron": "0 8 * * mon"}
)
WEEKLY = "every Monday at 8, add 2 and 3"


@asynccontextmanager
async def asking(
    database: sa.Engine, *replies: object, script: tuple[Execution, ...] = ()
) -> AsyncIterator[tuple[Engine, ScriptedSandbox, ScriptedModel]]:
    """An engine whose model gives these replies, on a library with one tool."""
    model, sandbox = ScriptedModel(*replies), ScriptedSandbox(*script)  # type: ignore[arg-type]
    async with engine_on(Notebook(database), model, sandbox) as engine:
        engine.library.replace(tool())  # type: ignore[attr-defined]
        yield engine, sandbox, model


async def say(engine: Engine, place: Asked, value: str, **options: Any) -> list[Event]:
    answers = (Answer(id="schedule", value=value),)
    return (await turn(engine, place.conversation_id, "", answers=answers, **options))[1]


def question(happened: list[Event]) -> QuestionsAsked:
    return next(event for event in happened if isinstance(event, QuestionsAsked))


async def test_a_request_for_set_times_becomes_a_schedule_once_the_person_agrees(
    database: sa.Engine,
) -> None:
    async with asking(database, MODEL_CALL) as (engine, sandbox, model):
        place, first = await turn(engine, None, WEEKLY, timezone="Europe/Berlin")
        assert await engine.schedules.list("me") == ()
        second = await say(engine, place, "schedule", turn_id="a" * 32)
        await say(engine, place, "schedule", turn_id="a" * 32)  # sent again
        await turn(engine, place.conversation_id, WEEKLY, again="a" * 32)
        (schedule,) = await engine.schedules.list("me")
    (consent,) = question(first).questions
    assert consent.question == (
        "Shall I run add_numbers(a=2, b=3), version 1, every Monday at 08:00 (Europe/Berlin)?"
    )
    assert (consent.options, consent.default) == (("schedule", "once", "no"), "schedule")
    assert sandbox.executed == []
    assert (schedule.name, schedule.version, schedule.arguments) == (
        "add_numbers", 1, {"a": 2, "b": 3},
    )  # fmt: skip
    assert (schedule.cron, schedule.timezone) == ("0 8 * * mon", "Europe/Berlin")
    assert isinstance(second[-1], TurnFinished)
    assert (second[-1].code, second[-1].usage.calls) == ("scheduled", 0)
    assert second[-1].answer == (
        "`add_numbers`, version 1, now runs every Monday at 08:00 (Europe/Berlin). Its results "
        "come to the conversation “add_numbers”."
    )
    assert model.asked() == ["decide"]


async def test_who_wants_no_schedule_gets_the_result_once_or_nothing(database: sa.Engine) -> None:
    replies = MODEL_CALL, MODEL_CALL
    async with asking(database, *replies, script=(returned("5"),)) as (engine, sandbox, model):
        place, _ = await turn(engine, None, WEEKLY)
        refused = await say(engine, place, "no")
        again, _ = await turn(engine, None, WEEKLY)
        once = await say(engine, again, "once")
        assert await engine.schedules.list("me") == ()
    assert isinstance(refused[-1], TurnFinished)
    assert (refused[-1].answer, refused[-1].code) == ("No schedule was added.", "not_scheduled")
    assert isinstance(once[-1], TurnFinished)
    assert once[-1].answer == "The result is:\n\n```\n5\n```"
    assert sandbox.executed == [("add_numbers", {"a": 2, "b": 3})]
    assert model.asked() == ["decide", "decide"]


async def test_what_was_answered_before_can_be_scheduled(database: sa.Engine) -> None:
    once = FunctionCall(name="add_numbers", arguments={"a": 2, "b": 3, "schedule_cron": None})
    again = MODEL_CALL.model_copy(
        update={"arguments": {**MODEL_CALL.arguments, "standalone_request": "add 2 and 3"}}
    )
    async with asking(database, once, "It is 5.", again, script=(returned("5"),)) as (engine, *_):
        place, first = await turn(engine, None, "add 2 and 3")
        _, second = await turn(engine, place.conversation_id, "do that every Monday at 8")
        await say(engine, place, "schedule")
        (schedule,) = await engine.schedules.list("me")
    assert isinstance(first[-1], TurnFinished)
    assert first[-1].answer == "It is 5."
    assert question(second).schedule
    assert schedule.arguments == {"a": 2, "b": 3}


async def test_a_tool_that_is_built_for_a_schedule_is_asked_about_first(
    database: sa.Engine,
) -> None:
    reply = SPECIFIED.model_copy(update={"cron": "30 7 * * *", "specification": specification()})
    none = FunctionCall(name="no_tool_fits", arguments={"reason": "none"})
    script = (failing(), passing())
    async with asking(database, none, reply, *BUILDS, script=script) as (engine, sandbox, _):
        place, first = await turn(engine, None, "double 4 every day at 7:30")
        await say(engine, place, "schedule")
        (schedule,) = await engine.schedules.list("me")
    assert question(first).schedule
    assert sandbox.executed == []
    assert (schedule.tool, schedule.arguments) == ("double_number", {"number": 4})


async def test_times_that_never_come_are_asked_about(database: sa.Engine) -> None:
    soon = MODEL_CALL.model_copy(
        update={"arguments": {**MODEL_CALL.arguments, "schedule_cron": "soon"}}
    )
    async with asking(database, soon) as (engine, sandbox, _):
        _, happened = await turn(engine, None, WEEKLY)
    assert "cron 'soon'" in question(happened).intro
    assert sandbox.executed == []


async def test_a_schedule_gets_the_files_that_its_arguments_name(database: sa.Engine) -> None:
    prices, notes = File(name="prices.csv", content=b"price\n1\n"), File(name="b.csv", content=b"b")
    opens = tool(code="def add_numbers(a: str) -> int:\n    return len(open(a).read())\n")
    call = FunctionCall(
        name="add_numbers", arguments={"a": "prices.csv", "schedule_cron": "0 8 * * *"}
    )
    async with asking(database, call) as (engine, *_):
        engine.library.replace(opens)  # type: ignore[attr-defined]
        place, _ = await turn(engine, None, "add up prices.csv daily at 8", files=(prices, notes))
        await say(engine, place, "schedule")
        (schedule,) = await engine.schedules.list("me")
    assert [file.name for file in schedule.files] == ["prices.csv"]


async def test_a_name_that_nobody_chose_is_free(database: sa.Engine) -> None:
    async with engine_with(database) as (engine, _):
        plan = PLAN.model_copy(update={"name": ""})
        names = [(await engine.schedule("me", plan)).name for _ in range(3)]
    assert names == ["add_numbers", "add_numbers 2", "add_numbers 3"]


WATCHED = PLAN.model_copy(update={"cron": "", "arguments": {}})
READS = "def add_numbers(path: str) -> int:\n    return len(open(path).read())\n"


@asynccontextmanager
async def watching(
    database: sa.Engine, folder: Path, *script: Execution
) -> AsyncIterator[tuple[Engine, HeldSandbox, SchedulePlan]]:
    """An engine that may watch a folder, in which nothing changes for long, and a plan for it."""
    os.makedirs(folder)
    async with engine_with(database, *script) as (engine, sandbox):
        engine.library.replace(tool(code=READS))  # type: ignore[attr-defined]
        folders = engine.schedules._folders
        folders._allowed, folders._quiet = lambda: [folder.parent], 0.0
        watch = Watch(folder=str(folder), pattern="*.csv")
        yield engine, sandbox, WATCHED.model_copy(update={"watch": watch})


async def look(engine: Engine) -> Schedule:
    """What a server does at intervals, until nothing is left to do."""
    for _ in range(6):
        await engine.schedules.look()
        await engine.settle()
    return await engine.schedules.get("me", "sums")


async def test_each_version_of_a_file_in_a_watched_folder_begins_one_run(
    database: sa.Engine, tmp_path: Path
) -> None:
    folder, script = tmp_path / "in", (returned("1"), returned("2"), returned("3"))
    async with watching(database, folder, *script) as (engine, sandbox, plan):
        added = await engine.schedule("me", plan)
        assert (added.upcoming, added.watch and added.watch.parameter) == ((), "path")
        assert added.when == f"when *.csv comes to {folder}"
        (folder / "a.csv").write_text("1")
        (folder / "notes.txt").write_text("1")
        (folder / ".b.csv").write_text("1")
        (folder / "link.csv").symlink_to("/etc/passwd")
        await look(engine)
        (folder / "b.csv").write_text("22")
        (folder / "a.csv").write_text("333")
        schedule = await look(engine)
        files = [e.files[0] for e in await events(engine, added) if isinstance(e, TurnStarted)]
    assert [arguments for _, arguments in sandbox.executed] == [
        {"path": "a.csv"}, {"path": "b.csv"}, {"path": "a.csv"},
    ]  # fmt: skip
    assert [(file.name, file.size) for file in files] == [("a.csv", 1), ("b.csv", 2), ("a.csv", 3)]
    assert schedule.last
    assert (schedule.state, schedule.last.problem, schedule.run_files) == ("active", "", ())


async def test_a_folder_with_an_unexpected_error_keeps_no_other_schedule_from_running(
    database: sa.Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "in"
    async with watching(database, folder, returned("1")) as (engine, sandbox, plan):
        await engine.schedule("me", plan.model_copy(update={"name": "broken"}))
        await engine.schedule("me", plan.model_copy(update={"name": "sums"}))
        complete, failures = engine.schedules._folders.complete, iter([ValueError("broken")])

        def failing(watch: Watch, after: datetime) -> list[FileVersion]:
            if error := next(failures, None):
                raise error
            return complete(watch, after)

        monkeypatch.setattr(engine.schedules._folders, "complete", failing)
        (folder / "a.csv").write_text("1")
        await engine.schedules.look()
        await engine.settle()
    assert [arguments for _, arguments in sandbox.executed] == [{"path": "a.csv"}]


async def test_a_file_that_is_written_or_was_there_before_begins_nothing(
    database: sa.Engine, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    async with watching(database, folder, returned("1")) as (engine, sandbox, plan):
        (folder / "old.csv").write_text("1")
        engine.schedules._folders._quiet = 3600.0
        await engine.schedule("me", plan)
        (folder / "new.csv").write_text("1")
        await look(engine)
        assert sandbox.executed == []
        engine.schedules._folders._quiet = 0.0
        await look(engine)
    assert sandbox.executed == [("add_numbers", {"path": "new.csv"})]


async def test_a_malformed_file_pauses_and_is_not_tried_again(
    database: sa.Engine, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    async with watching(database, folder, FAILS, returned("2")) as (engine, sandbox, plan):
        await engine.schedule("me", plan)
        (folder / "a.csv").write_text("1")
        paused = await look(engine)
        (folder / "b.csv").write_text("2")
        await look(engine)
        assert len(sandbox.executed) == 1
        await engine.schedules.resume("me", "sums")
        resumed = await look(engine)
    assert (paused.state, paused.troubled) == ("paused", True)
    assert [a["path"] for _, a in sandbox.executed] == ["a.csv", "b.csv"]
    assert resumed.state == "active"


async def test_a_run_that_was_taken_for_a_file_is_begun_by_another_process(
    database: sa.Engine, tmp_path: Path
) -> None:
    async with watching(database, tmp_path / "in", returned("1")) as (engine, sandbox, plan):
        added, ago = await engine.schedule("me", plan), datetime.now(UTC) - timedelta(seconds=6)
        file = File(name="a.csv", content=b"1")
        begin, extra = Schedules(database).begin, {"path": "a.csv"}
        assert begin(added, "f" * 32, ago, added.next_at, extra=extra, files=(file,))
        table = sa.table("schedules", sa.column("begun_at", sa.DateTime(timezone=True)))
        with database.begin() as connection:
            connection.execute(table.update().values(begun_at=ago))
        await look(engine)
        again = await engine.schedules.get("me", "sums")
        assert not begin(again, "f" * 32, ago, again.next_at, extra=extra, files=(file,))
    assert sandbox.executed == [("add_numbers", {"path": "a.csv"})]


@pytest.mark.parametrize("place", ["elsewhere", "in/missing"])
async def test_only_folders_that_the_setting_names_are_watched(
    database: sa.Engine, tmp_path: Path, place: str
) -> None:
    async with watching(database, tmp_path / "in" / "box") as (engine, _, plan):
        (tmp_path / "elsewhere").mkdir()
        watch = Watch(folder=str(tmp_path / place))
        with pytest.raises(RequestError, match=r"may not be watched|is not a folder"):
            await engine.schedule("me", plan.model_copy(update={"watch": watch}))
        assert await engine.schedules.list("me") == ()
