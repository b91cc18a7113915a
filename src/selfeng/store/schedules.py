"""The schedules in SQL. Every process that shares the database looks after them; what one of them
takes, the others leave, as each change names what it saw.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from selfeng.core.errors import LimitReached, RequestError, ResourceNotFound
from selfeng.core.files import File, FileReference
from selfeng.core.schedule import Schedule, ScheduledRun, SchedulePlan
from selfeng.store import schema
from selfeng.store.conversation_files import keep_files
from selfeng.store.database import fetch, storable, storable_data, utc, writing
from selfeng.store.journal import NewConversation, create_conversation

_SCHEDULES = schema.schedules
_ACTIVE = _SCHEDULES.c.state == "active"
_MOST = 100
"""Schedules of one owner."""
_NO_RUN: Mapping[str, Any] = {
    **{"run": "", "due_at": None, "begun_at": None},
    **{"tries": 0, "delivered_at": None, "given": None, "run_files": None},
}
_DELIVERS = timedelta(minutes=2)
"""Within which a process has delivered a result, or another one does."""


class Schedules:
    """All methods block."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def put(self, schedule: Schedule, files: Sequence[File] = ()) -> None:
        """Store a new schedule with its files and its conversation.

        Raises: RequestError: its owner has one of that name. LimitReached: they have too many.
        """
        its = _SCHEDULES.c.owner == schedule.owner
        plan = schedule.model_dump(include=set(SchedulePlan.model_fields))
        with writing(self._engine) as connection:
            names = connection.scalars(sa.select(_SCHEDULES.c.name).where(its)).all()
            if storable(schedule.name) in names:
                raise RequestError(
                    f"there is a schedule {schedule.name!r}", "give another name, or remove it"
                )
            if len(names) >= _MOST:
                raise LimitReached(f"there are {_MOST} schedules", "remove one", count=_MOST)
            new = NewConversation(schedule.owner, schedule.name)
            create_conversation(connection, schedule.conversation_id, new, datetime.now(UTC))
            keep_files(connection, schedule.conversation_id, 0, files)
            row = {
                **{name: getattr(schedule, name) for name in _PLAIN},
                **_NO_RUN,
                "name": storable(schedule.name),
                "plan": json.dumps(storable_data(plan)),
                "files": _references(schedule.files),
                "watches": schedule.watch is not None,
            }
            connection.execute(_SCHEDULES.insert().values(**row))

    def read(self, owner: str) -> tuple[Schedule, ...]:
        """Those of an owner, by name."""
        query = sa.select(_SCHEDULES).where(_SCHEDULES.c.owner == owner)
        return tuple(map(_schedule, fetch(self._engine, query.order_by(_SCHEDULES.c.name))))

    def find(self, owner: str, name: str) -> Schedule:
        """One by its name or id. Raises: ResourceNotFound: the owner has none."""
        its = (_SCHEDULES.c.name == storable(name)) | (_SCHEDULES.c.id == storable(name))
        query = sa.select(_SCHEDULES).where(_SCHEDULES.c.owner == owner, its)
        for row in fetch(self._engine, query):
            return _schedule(row)
        raise ResourceNotFound(
            f"there is no schedule {name[:80]!r}", "`selfeng schedules list` has their names"
        )

    def with_hook(self, schedule_id: str) -> Schedule | None:
        """The schedule of that id if requests may begin its runs; of any owner."""
        query = sa.select(_SCHEDULES).where(_SCHEDULES.c.id == storable(schedule_id))
        schedules = map(_schedule, fetch(self._engine, query))
        return next((schedule for schedule in schedules if schedule.hook), None)

    def due(self, now: datetime) -> tuple[Schedule, ...]:
        """Those that need a look: a run of theirs has begun, or they are due."""
        is_due = _ACTIVE & (_SCHEDULES.c.next_at <= now)
        query = sa.select(_SCHEDULES).where((_SCHEDULES.c.run != "") | is_due)
        return tuple(map(_schedule, fetch(self._engine, query.order_by(_SCHEDULES.c.next_at))))

    def watching(self) -> tuple[Schedule, ...]:
        """The active ones that watch a folder and don't run."""
        free = _ACTIVE & _SCHEDULES.c.watches & (_SCHEDULES.c.run == "")
        return tuple(map(_schedule, fetch(self._engine, sa.select(_SCHEDULES).where(free))))

    def begin(
        self,
        schedule: Schedule,
        run: str,
        due_at: datetime,
        next_at: datetime,
        *,
        extra: Mapping[str, Any] | None = None,
        files: Sequence[File] = (),
    ) -> bool:
        """Take a run of the schedule, which is due at `next_at` after it; False if another process
        did, or did before. `extra` are further arguments, and `files` what these name.
        """
        now = datetime.now(UTC)
        is_turn = sa.exists().where(schema.turns.c.id == run)
        free = (_SCHEDULES.c.run == "") & (_SCHEDULES.c.next_at == schedule.next_at) & ~is_turn
        run_values: dict[str, Any] = {"run": run, "due_at": due_at, "begun_at": now, "tries": 0}
        run_values["given"] = json.dumps(storable_data(dict(extra))) if extra else None
        run_values["run_files"] = _references([file.reference() for file in files])
        change = _SCHEDULES.update().where(_SCHEDULES.c.id == schedule.id, free)
        with writing(self._engine, exclusive=bool(files)) as connection:
            begins = connection.execute(change.values(**run_values, next_at=next_at)).rowcount > 0
            if begins and files:
                first, its = len(schedule.files), schema.files.c
                place = (its.conversation_id == schedule.conversation_id) & (its.seq == 0)
                before = place & (its.position >= first)  # of an earlier run, which has its own
                connection.execute(schema.files.delete().where(before))
                keep_files(connection, schedule.conversation_id, 0, files, first)
        return begins

    def skip(self, schedule: Schedule, next_at: datetime) -> bool:
        """Have the schedule be due at `next_at`, without the runs before."""
        unchanged = _SCHEDULES.c.next_at == schedule.next_at
        return self._change(schedule, unchanged, {"next_at": next_at})

    def begin_again(self, schedule: Schedule, run: str) -> bool:
        """Take the run again as another turn, as the first was stopped with its process."""
        values = {"run": run, "begun_at": datetime.now(UTC), "tries": schedule.tries + 1}
        return self._change(schedule, _SCHEDULES.c.run == schedule.run, values)

    def deliver(self, schedule: Schedule) -> bool:
        """Take the delivery of the run's result; False if another process does."""
        now, since = datetime.now(UTC), _SCHEDULES.c.delivered_at
        free = (_SCHEDULES.c.run == schedule.run) & (since.is_(None) | (since < now - _DELIVERS))
        return self._change(schedule, free, {"delivered_at": now})

    def end(self, schedule: Schedule, last: ScheduledRun) -> bool:
        """Note the end of the run; one with a problem pauses the schedule. False if another process
        did.
        """
        values = {**_NO_RUN, "last": last.model_dump_json()}
        if last.problem:
            values |= {"state": "paused", "reason": storable(last.problem)}
        return self._change(schedule, _SCHEDULES.c.run == schedule.run, values)

    def pause(self, schedule: Schedule, reason: str, last: ScheduledRun | None = None) -> bool:
        """False if it is paused already. `last` is a run that did not begin, or that still runs."""
        values = {"state": "paused", "reason": storable(reason)}
        values |= {"last": last.model_dump_json()} if last else {}
        return self._change(schedule, _ACTIVE, values)

    def resume(self, schedule: Schedule, next_at: datetime) -> None:
        values = {"state": "active", "reason": "", "next_at": next_at}
        self._change(schedule, sa.true(), values)

    def remove(self, schedule: Schedule) -> None:
        """Its conversation stays."""
        with writing(self._engine, exclusive=False) as connection:
            connection.execute(_SCHEDULES.delete().where(_SCHEDULES.c.id == schedule.id))

    def _change(
        self, schedule: Schedule, condition: sa.ColumnElement[bool], values: Mapping[str, Any]
    ) -> bool:
        change = _SCHEDULES.update().where(_SCHEDULES.c.id == schedule.id, condition)
        with writing(self._engine, exclusive=False) as connection:
            return connection.execute(change.values(**values)).rowcount > 0


def _references(files: Sequence[FileReference]) -> str:
    return json.dumps([file.model_dump() for file in files])


_PLAIN = ("id", "owner", "conversation_id", "state", "reason", "created_at", "next_at")


def _schedule(row: sa.Row[Any]) -> Schedule:
    times = {
        name: at and utc(at)
        for name in ("created_at", "next_at", "due_at", "begun_at")
        for at in [row._mapping[name]]
    }
    return Schedule.model_validate(
        {
            **json.loads(row.plan),
            **{name: row._mapping[name] for name in (*_PLAIN, "run", "tries")},
            **times,
            "files": json.loads(row.files),
            "run_files": json.loads(row.run_files or "[]"),
            "extra": json.loads(row.given or "{}"),
            "last": row.last and json.loads(row.last),
        }
    )
