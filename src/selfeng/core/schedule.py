"""A schedule: the call of a tool of the library at set times, without a model."""

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo

from pydantic import Field, computed_field

from selfeng.core.errors import RequestError
from selfeng.core.files import FileReference
from selfeng.core.question import NO, ONCE
from selfeng.core.result import ResultFormat
from selfeng.core.value import Value

Missed = Literal["skip", "once", "all"]
"""Which of the runs that nobody could begin in time are made up for: none, one, or each."""
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
"""When a schedule without times is due."""
_LATE = timedelta(minutes=1)
"""A run that begins so much later than it is due was missed."""
_MOST_MISSED = 100
"""Of the missed runs of a schedule, as many of the newest are made up for."""
_LONGEST_NAME = 80
_LONGEST_CRON = 100
SCHEDULE = "schedule"
ANSWERS = (SCHEDULE, ONCE, NO)
"""A person's answers to the question whether to make a call at set times."""
_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_WHEN = {
    "hour": "every hour, {minute} minutes past",
    "day": "every day at {time}",
    "workday": "Monday to Friday at {time}",
    "week": "every {day_name} at {time}",
    "month": "on day {day} of every month at {time}",
    "cron": "at the times {cron!r}",
}
_CRON_REMEDY = (
    "write minute, hour, day, month and weekday, such as '0 8 * * mon' for every Monday at 8:00"
)


class ToFolder(Value):
    """Results as files in the folder of the schedule's name below DATA_DIR/scheduled."""

    kind: Literal["folder"] = "folder"
    form: ResultFormat = "json"


class ToWebhook(Value):
    """Results as JSON to a URL, signed as https://www.standardwebhooks.com says."""

    kind: Literal["webhook"] = "webhook"
    url: Annotated[str, Field(max_length=2_000)]
    secret: str
    """Name of the secret that signs."""


class ToMail(Value):
    """Results by e-mail, with the files that the tool made."""

    kind: Literal["mail"] = "mail"
    to: Annotated[str, Field(pattern=r"^[^\s@,;]+@[^\s@,;]+$", max_length=254)]
    sender: Annotated[str, Field(pattern=r"^[^\s@,;]+@[^\s@,;]+$", max_length=254)]
    server: str
    """Its host, which speaks TLS: on port 465 at once, on others by STARTTLS."""
    port: Annotated[int, Field(ge=1, le=65_535)] = 465
    user: str = ""
    """"" for the sender."""
    secret: str
    """Name of the secret that is the password."""


Delivery = Annotated[ToFolder | ToWebhook | ToMail, Field(discriminator="kind")]


class Watch(Value):
    """A folder whose new and changed files begin runs."""

    folder: Annotated[str, Field(min_length=1, max_length=1_000)]
    """Of the server's machine, within WATCHED_FOLDERS."""
    pattern: Annotated[str, Field(min_length=1, max_length=_LONGEST_CRON)] = "*"
    """Which files, such as *.csv."""
    parameter: Annotated[str, Field(max_length=_LONGEST_CRON)] = ""
    """The parameter that gets the name of the file; "" for the first without an argument."""


class SchedulePlan(Value):
    """The call that a schedule makes, and its times."""

    name: Annotated[str, Field(max_length=_LONGEST_NAME)] = ""
    """Unique among those of its owner; "" for the name of its tool."""
    tool: str
    version: Annotated[int, Field(ge=0)] = 0
    """The version that runs, also when the tool has newer ones; 0 for the newest now."""
    arguments: Mapping[str, Any] = {}
    """Plain JSON by parameter name."""
    cron: Annotated[str, Field(max_length=_LONGEST_CRON)] = ""
    """Minute, hour, day, month and weekday; with a sixth field before them, the second. "" for
    runs by `hook` or `watch` alone.
    """
    timezone: Annotated[str, Field(max_length=_LONGEST_NAME)] = "UTC"
    """Of IANA, such as Europe/Berlin."""
    missed: Missed = "once"
    seconds: Annotated[int, Field(ge=1, le=86_400)] = 600
    """The time limit of a run, from the moment that it is due; then it is stopped."""
    deliver: Delivery | None = None
    """Where results go beside the conversation."""
    hook: str = ""
    """Name of the secret that signs requests which begin runs, at `/hooks/` and the id; "" for
    none. Their bodies are JSON of an object, with further arguments.
    """
    watch: Watch | None = None

    def next_due(self, after: datetime) -> datetime:
        """When it is next due after a moment, UTC.

        Raises: RequestError: the time zone or the times are wrong, or never come.
        """
        if not self.cron and (self.hook or self.watch) and self._zone:
            return NEVER
        return self._due(after, forward=True)

    def due_now(self, since: datetime, now: datetime) -> tuple[datetime, ...]:
        """When it was due from `since`, which is such a moment, up to now, the newest 100: of
        several that were missed those that are made up for. The oldest first.
        """
        moments, at = list[datetime](), now + timedelta(microseconds=1)
        while len(moments) < _MOST_MISSED and (at := self._due(at, forward=False)) > since:
            moments.insert(0, at)
        if len(moments) < _MOST_MISSED:
            moments.insert(0, since)
        if self.missed == "all":
            return tuple(moments)
        return tuple(m for m in moments[-1:] if self.missed == "once" or now - m <= _LATE)

    def _due(self, moment: datetime, *, forward: bool) -> datetime:
        from croniter import croniter  # type: ignore[import-untyped]  # imported late: it is slow

        try:
            steps = croniter(self.cron, moment.astimezone(self._zone), second_at_beginning=True)
            while True:
                step = steps.get_next if forward else steps.get_prev
                due: datetime = step(datetime).astimezone(UTC)
                if not self._repeats(due):
                    return due
        except ValueError as error:  # of which its errors are
            raise RequestError(f"cron {self.cron!r}: {error}", _CRON_REMEDY) from None

    @property
    def when(self) -> str:
        """The times in words, such as `every Monday at 08:00 (Europe/Berlin)`, or what else begins
        runs.
        """
        if not self.cron and self.watch:
            return f"when {self.watch.pattern} comes to {self.watch.folder}"
        if not self.cron:
            return "when a signed request asks"
        values = self.when_values
        day_name = next((d.title() for d in _DAYS if d[:3] == values["weekday"]), "")
        words = _WHEN[values["every"]].format_map({**values, "day_name": day_name})
        return f"{words} ({self.timezone})"

    @property
    def when_values(self) -> dict[str, str]:
        """The times for a sentence about them: `every` is a key of `_WHEN`, `cron` for times that
        no other says; `time` is such as 08:00, `weekday` such as mon.
        """
        every, fields = "cron", self.cron.lower().split()
        minute, hour, day, month, weekday = fields if len(fields) == 5 else ("",) * 5
        if re.fullmatch("[0-7]", weekday):
            weekday = _DAYS[int(weekday) % 7][:3]
        is_day = weekday in {name[:3] for name in _DAYS}
        if minute.isdigit() and month == "*":
            match hour.isdigit(), day, weekday:
                case False, "*", "*" if hour == "*":
                    every = "hour"
                case True, "*", "*":
                    every = "day"
                case True, "*", "1-5" | "mon-fri":
                    every = "workday"
                case True, "*", _ if is_day:
                    every = "week"
                case True, _, "*" if day.isdigit():
                    every = "month"
        time = f"{hour:0>2}:{minute:0>2}" if every not in ("cron", "hour") else ""
        values = {"every": every, "time": time, "minute": minute, "day": day, "weekday": weekday}
        return {**values, "cron": self.cron, "timezone": self.timezone}

    @property
    def _zone(self) -> ZoneInfo:
        try:
            return ZoneInfo(self.timezone)
        except (ValueError, OSError, LookupError):
            raise RequestError(
                f"unknown time zone {self.timezone!r}",
                "name one of IANA, such as Europe/Berlin or UTC",
            ) from None

    def _repeats(self, due: datetime) -> bool:
        """Whether the clock was set back, and showed a set hour before, too."""
        return bool(due.astimezone(self._zone).fold) and "*" not in self.cron.split()[-4]


class ScheduledRun(Value):
    """A run that has ended."""

    turn_id: str
    """"" if it could not begin."""
    due_at: datetime
    """UTC, as are all times here."""
    ended_at: datetime
    problem: str = ""
    """Why it needs its owner; "" if it gave a result that nothing casts doubt on."""
    text: str = ""
    """Its answer in the conversation, shortened."""


class Schedule(SchedulePlan):
    """A schedule as it is now."""

    id: str
    owner: Annotated[str, Field(exclude=True)]
    files: tuple[FileReference, ...] = ()
    """The files that the arguments name; its conversation has them."""
    run_files: tuple[FileReference, ...] = ()
    """The file that begins the run."""
    conversation_id: str
    """Where its runs are turns."""
    state: Literal["active", "paused"] = "active"
    reason: str = ""
    """paused: why, one line."""
    created_at: datetime
    next_at: datetime
    """When it is due next, if it is active."""
    run: str = ""
    """Id of the turn that runs; "" if none does."""
    due_at: datetime | None = None
    """When that was due."""
    extra: Mapping[str, Any] = {}
    """Arguments of that run beside those of the plan."""
    begun_at: datetime | None = None
    """When a process took it."""
    tries: int = 0
    """How often that run had to begin again, as its process ended."""
    last: ScheduledRun | None = None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def upcoming(self) -> tuple[datetime, ...]:
        """The next three times at which it is due, if it is active."""
        if self.next_at == NEVER:
            return ()
        second = self.next_due(self.next_at)
        return (self.next_at, second, self.next_due(second))

    @computed_field  # type: ignore[prop-decorator]
    @property
    def troubled(self) -> bool:
        """Whether it waits for its owner, as a run did not end well."""
        return self.state == "paused" and bool(self.last and self.last.problem)


@cache
def local_zone() -> str:
    """The time zone of this machine as the process began, as IANA names it; UTC where that is not
    known.
    """
    link = Path("/etc/localtime").resolve()
    for name in (os.environ.get("TZ", ""), link.as_posix().partition("/zoneinfo/")[2]):
        with suppress(ValueError, OSError, LookupError):
            return ZoneInfo(name.lstrip(":")).key
    return "UTC"
