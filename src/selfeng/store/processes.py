"""The processes that share a database and run turns: which of them are gone.

A process on the same machine is asked after in its kernel. On PostgreSQL, which machines share,
each also counts beats in a row of its own, and who looks counts its looks: no clock is compared,
which may be set back, and a process that was frozen itself has not looked meanwhile.
"""

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from selfeng.core.process import is_running, this_process
from selfeng.core.status import WorkerStatus
from selfeng.store.database import writing
from selfeng.store.schema import processes, properties

log = logging.getLogger(__name__)

_MOST_STILL = 10
"""Looks after which a process whose beats don't change is gone."""


class Processes:
    """Thread-safe, and cheap until `begin`."""

    def __init__(self, engine: sa.Engine, pause: float = 1.0, *, room: int = 0) -> None:
        """`pause`: the seconds between beats; `room`: the turns that this process runs at once."""
        self._engine, self._pause = engine, pause
        self._still: dict[str, tuple[int, int]] = {}
        """By process: its beats, and how many looks they have not changed for."""
        self._presumed_dead: frozenset[str] = frozenset()
        """Those that this one took for gone, until they are heard again."""
        self._workers: dict[str, WorkerStatus] = {}
        self._room, self.unready = room, ""
        """The data that the other processes read: its room, and why it takes no turns yet; "" if it
        does.
        """
        self._end = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self, given_up: Callable[[], object]) -> None:
        """Beat from now on, in a thread. `given_up` is called there when another process took this
        one for gone.
        """
        if self._engine.dialect.name == "postgresql":
            self.beat()
            work = threading.Thread(target=self._run, args=(given_up,), name="beats", daemon=True)
            work.start()
            self._thread = work

    def claim(self, task: str, pause: timedelta) -> bool:
        """Whether a task is due, which one of the processes does once in every pause; if so, it is
        this one's.
        """
        now, its = datetime.now(UTC), properties.c.name == task
        with writing(self._engine) as connection:
            last = connection.scalar(sa.select(properties.c.value).where(its))
            is_due = not (last and now - pause < datetime.fromisoformat(last) <= now)
            if is_due:
                connection.execute(properties.delete().where(its))
                connection.execute(properties.insert().values(name=task, value=now.isoformat()))
        return is_due

    def beat(self) -> bool:
        """Beat once, and look at the others. False if another process took this one for gone."""
        status = {"room": self._room, "unready": self.unready}
        insertion = insert(processes).values(name=this_process(), beats=1, **status)
        with writing(self._engine, exclusive=False) as connection:
            beats = connection.scalar(
                insertion.on_conflict_do_update(
                    index_elements=["name"], set_={"beats": processes.c.beats + 1, **status}
                ).returning(processes.c.beats)
            )
            rows = connection.execute(sa.select(processes)).all()
        beats_by_process = {row.name: row.beats for row in rows}
        self._workers = {
            row.name: WorkerStatus(machine=row.name.partition(":")[0], unready=row.unready)
            for row in rows
            if row.room
        }
        self._still = {
            name: (count, before[1] + 1)
            if (before := self._still.get(name, (0, 0)))[0] == count
            else (count, 0)
            for name, count in beats_by_process.items()
        }
        self._presumed_dead -= beats_by_process.keys()
        return bool(beats != 1)

    @property
    def workers(self) -> tuple[WorkerStatus, ...]:
        """Those that take turns, as they were at the last beat."""
        return tuple(w for name, w in self._workers.items() if not self.is_gone(name))

    def blocked(self) -> str:
        """Why no process takes a turn out of the queue, as far as this one knows; "" if one may."""
        workers = self.workers
        if self._room or any(not worker.unready for worker in workers):
            return ""
        if not workers:
            return "no worker runs: start `selfeng worker` with the same DATABASE_URL"
        return "; ".join(f"the worker on {w.machine} is not ready: {w.unready}" for w in workers)

    def is_gone(self, process: str | None) -> bool | None:
        """None if that can't be known here."""
        running = is_running(process) if process else False
        if running is False or process is None or process in self._presumed_dead:
            return True
        if (observation := self._still.get(process)) is None:
            return None if running is None else False
        return observation[1] >= _MOST_STILL

    def give_up(self, connection: sa.Connection, dead: set[str]) -> None:
        """Those whose turns were taken over; one that wakes learns of it by its next beat."""
        self._presumed_dead |= dead
        connection.execute(processes.delete().where(processes.c.name.in_(dead)))

    def close(self) -> None:
        """This process runs turns no longer. Blocking."""
        if self._thread is None:
            return
        self._end.set()
        self._thread.join()
        with writing(self._engine, exclusive=False) as connection:
            connection.execute(processes.delete().where(processes.c.name == this_process()))

    def _run(self, given_up: Callable[[], object]) -> None:
        while not self._end.wait(self._pause):
            try:
                if not self.beat():
                    given_up()
            except Exception as error:  # noqa: BLE001 - the database is away, for the others too
                log.warning("this process could not say that it runs: %s", error)
