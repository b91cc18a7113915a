"""The workflows that keep the steps of turns, on dbos.

A workflow is one linear thread of work. It does nothing itself: it serves the steps that the work
asks for, in their order. dbos runs workflows on loops of other threads; the work itself stays on
the engine's loop, so that whatever it uses belongs to one loop, however it came to run.
"""

import asyncio
import hashlib
import pickle
import threading
import time
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

import sqlalchemy as sa

from selfeng.core.errors import Diverged, TakenOver
from selfeng.core.settings import Settings
from selfeng.durable.outcomes import StepOutcome

if TYPE_CHECKING:
    from dbos import DBOS, StepReservation, WorkflowStatus

_NAME = "selfeng"
_POLL_SECONDS = 0.5
"""Between two looks for workflows that this process should resume; each takes milliseconds,
whether there are any or not.
"""
_PAUSE = 10.0
"""Seconds after which it is tried again to start dbos."""
_SOURCES = Path(__file__).parents[1]
_STEPS = "steps.db"
"""File in DATA_DIR that keeps the steps of running turns."""


class AskedStep:
    """A step that was asked for, between the loop of its work and that of its workflow."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.reply: Future[bytes | None] = Future()
        self.outcome: Future[bytes] = Future()
        self.stored: Future[None] = Future()

    async def earlier_outcome(self) -> bytes | None:
        """The outcome of an earlier run of the step; None if there is none. Raises: Diverged."""
        return await asyncio.wrap_future(self.reply)

    async def record(self, outcome: bytes) -> None:
        """Returns when it is stored. Raises: TakenOver, or what keeps it from being stored."""
        self.outcome.set_result(outcome)
        await asyncio.wrap_future(self.stored)

    async def answer(self, reservation: "StepReservation") -> None:
        """Serve the step, in the workflow."""
        from dbos import error as errors

        async def do() -> bytes:
            try:
                self.reply.set_result(None)
            except InvalidStateError:  # who asked is gone; an error would be recorded
                raise asyncio.CancelledError from None
            return await asyncio.wrap_future(self.outcome)

        try:
            stored_outcome = await reservation.run_async({"name": self.name}, do)
        except errors.DBOSUnexpectedStepError as error:
            self._fail(Diverged(str(error)))
        except (errors.DBOSWorkflowConflictIDError, errors.DBOSWorkflowCancelledError) as error:
            self._fail(TakenOver(str(error)))
        except Exception as error:  # noqa: BLE001 - the work handles it
            self._fail(error)
        else:
            with suppress(InvalidStateError):
                if self.reply.done():
                    self.stored.set_result(None)
                else:
                    self.reply.set_result(stored_outcome)

    def _fail(self, error: Exception) -> None:
        with suppress(InvalidStateError):
            (self.stored if self.reply.done() else self.reply).set_exception(error)


class Port:
    """The steps that a work asks its workflow for, in order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: list[AskedStep | Literal["closed", "left"]] = []
        self._wake: Callable[[], object] = lambda: None
        self.closed: Future[None] = Future()

    def ask(self, name: str) -> AskedStep:
        step = AskedStep(name)
        self._put(step)
        return step

    def close(self) -> None:
        self._put("closed")

    def leave(self) -> None:
        """Let another process resume the workflow."""
        self._put("left")

    async def serve(self) -> None:
        """The workflow: serve the steps until it is closed."""
        from dbos import DBOS

        loop, news, tasks = asyncio.get_running_loop(), asyncio.Event(), set[asyncio.Task[None]]()
        with self._lock:
            self._wake = lambda: loop.call_soon_threadsafe(news.set)
        while True:
            news.clear()
            with self._lock:
                batch, self._waiting = self._waiting, []
            for item in batch:
                if not isinstance(item, AskedStep):
                    for task in tasks:  # of steps that an error kept from coming to anything
                        task.cancel()
                    self.closed.set_result(None)
                    if item == "left":
                        raise asyncio.CancelledError  # which is no end to dbos
                    return
                task = asyncio.create_task(item.answer(DBOS.reserve_step()))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            await news.wait()

    def _put(self, item: AskedStep | Literal["closed", "left"]) -> None:
        with self._lock:
            self._waiting.append(item)
            self._wake()


_ports: dict[str, Port] = {}
"""By the id of a workflow: dbos is global to a process, too."""


def _names(work_id: str) -> list[str]:
    return [n for n in _ports if n == work_id or n.startswith(f"{work_id}/")]


async def _closed(name: str, close: Callable[[Port], None]) -> None:
    port = _ports[name]
    close(port)
    try:
        await asyncio.wrap_future(port.closed)
    finally:
        _ports.pop(name, None)  # not before: its workflow may be about to look for it


async def _work(work_id: str, pickled_steps: bytes) -> None:
    if work_id in _ports:
        await _ports[work_id].serve()


def steps_url(settings: Settings) -> str:
    """The database of the steps, which every process that may resume a turn finds."""
    if settings.database.startswith("postgresql"):
        return settings.database
    file = settings.data_dir / _STEPS
    file.touch(0o600)
    return f"sqlite:///{file}"


def sources_digest() -> str:
    """The version of the program: other sources may take other steps."""
    digest = hashlib.sha256()
    for path in sorted(_SOURCES.rglob("*")):
        if path.suffix in (".py", ".md", ".j2") and path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _open(url: str) -> sa.Engine | None:
    """The database as dbos wants it, where it is SQLite: it writes a step in 1.5 ms then, and in
    20 as dbos opens it itself. After the end of a process, nothing is lost.
    """
    if sa.make_url(url).get_backend_name() != "sqlite":
        return None
    engine = sa.create_engine(url)

    @sa.event.listens_for(engine, "connect")
    def speak(connection: Any, _: object) -> None:
        connection.isolation_level = "IMMEDIATE"
        for pragma in (
            "journal_mode=WAL",
            "synchronous=NORMAL",
            "busy_timeout=30000",
            "foreign_keys=ON",
            "secure_delete=ON",  # steps hold the words of people
        ):
            connection.execute(f"PRAGMA {pragma}")

    return engine


def _orphans(
    stored: Iterable["WorkflowStatus"], recent: Iterable["WorkflowStatus"], running: Collection[str]
) -> list[str]:
    """The stored workflows of works that do not run, without the recent ones and those of this
    process.
    """
    kept_ids = {workflow.workflow_id for workflow in recent} | _ports.keys()
    names = (workflow.workflow_id for workflow in stored)
    return [n for n in names if n not in kept_ids and n.partition("/")[0] not in running]


async def _cancel_the_rest() -> None:
    """End what runs on this loop; a workflow that is cancelled so can be resumed."""
    other_tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in other_tasks:
        task.cancel()
    await asyncio.gather(*other_tasks, return_exceptions=True)


class Workflows:
    """The workflows of one process. Belongs to the engine's loop; begins with the first use."""

    def __init__(
        self,
        url: str,
        version: str,
        running: Callable[[], Collection[str]],
        *,
        kept_seconds: float = 86_400.0,
    ) -> None:
        """Steps are kept in the database of that URL; those of another `version` of the program
        are not repeated. `running` names the turns that have not ended; the steps of others are
        deleted, of failed ones after `kept_seconds`. It is called in a thread.
        """
        self._url, self._version, self._running = url, version, running
        self._kept_seconds = kept_seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._engine: sa.Engine | None = None
        self._starting = asyncio.Lock()
        self._failed = -_PAUSE
        self._workflow: Any = None
        self._handles: dict[str, Any] = {}
        self._beginning: dict[str, asyncio.Task[None]] = {}
        """Of workflows, by their ids; they begin also if who asked for them is stopped."""
        self._executor = uuid4().hex
        """Names this process, and the queue from which only it resumes workflows."""

    async def open(self, work_id: str, pickled_steps: bytes) -> Port:
        """The port of a workflow, which begins unless it is there already. `pickled_steps` is
        handed out by `resume`.
        """
        if work_id not in _ports:
            dbos = await self._started()
            _ports[work_id] = Port()
            self._beginning[work_id] = asyncio.create_task(
                self._begin(dbos, work_id, pickled_steps)
            )
        if work_id in self._beginning:
            await asyncio.shield(self._beginning[work_id])
        return _ports[work_id]

    async def _begin(self, dbos: "type[DBOS]", work_id: str, pickled_steps: bytes) -> None:
        async def start() -> Any:
            from dbos import SetWorkflowID

            with SetWorkflowID(work_id):
                return await dbos.start_workflow_async(self._workflow, work_id, pickled_steps)

        try:
            self._handles[work_id] = await self._on_loop(start())
        except BaseException:
            _ports.pop(work_id, None)
            raise
        finally:
            del self._beginning[work_id]

    async def resume(self, work_id: str) -> list[Any] | None:
        """Resume the workflows of a work and its parts; returns their input, None if there are none
        that this version of the program can resume.
        """
        dbos = await self._started()
        workflows = await self._on_loop(dbos.list_workflows_async(workflow_id_prefix=work_id))
        pickled_steps = next(
            (w.input["args"][1] for w in workflows if w.workflow_id == work_id), None
        )
        if pickled_steps is None or any(w.app_version != self._version for w in workflows):
            await self._delete([w.workflow_id for w in workflows])
            return None
        names = [w.workflow_id for w in workflows]
        for executor in {w.executor_id for w in workflows}:
            await self._on_loop(dbos.delete_queue_async(executor))
        _ports.update({name: Port() for name in names})
        handles = await self._on_loop(dbos.resume_workflows_async(names, queue_name=self._executor))
        self._handles.update(zip(names, handles, strict=True))
        return list(pickle.loads(pickled_steps))  # noqa: S301 - written by this program, in its own database

    async def leave(self, work_id: str) -> None:
        """Another process resumes the workflows of a work and its parts."""
        for name in await self._names_once_begun(work_id):
            await _closed(name, Port.leave)
            del self._handles[name]

    async def kept_steps(self, work_id: str) -> list[tuple[str, StepOutcome]]:
        """The steps of a work that has ended, and of its parts, in their order, with their names;
        none if another version of the program took them.
        """
        dbos, steps = await self._started(), list[tuple[str, StepOutcome]]()
        workflows = await self._on_loop(dbos.list_workflows_async(workflow_id_prefix=work_id))
        for workflow in workflows:
            if workflow.app_version == self._version and workflow.status == "SUCCESS":
                steps += pickle.loads(workflow.input["args"][1])  # noqa: S301 - written by this program
                infos = await self._on_loop(dbos.list_workflow_steps_async(workflow.workflow_id))
                steps += [
                    (info["function_name"], StepOutcome.loaded(info["output"]))
                    for info in infos
                    if isinstance(info["output"], bytes)
                ]
        return steps

    async def end(self, work_id: str, *, keep: bool = False) -> None:
        """End the workflows of a work and its parts, and delete their steps, or `keep` them for a
        day.
        """
        names = await self._names_once_begun(work_id)
        for name in names:
            await _closed(name, Port.close)
            await self._on_loop(self._handles.pop(name).get_result())  # dbos has noted its end
        if not keep:
            await self._delete(names)

    async def forget(self, work_ids: Collection[str]) -> None:
        """Delete the steps of works that have ended, and of their parts."""
        dbos = await self._started()
        workflows = await self._on_loop(
            dbos.list_workflows_async(load_input=False, load_output=False)
        )
        names = (workflow.workflow_id for workflow in workflows)
        await self._delete([name for name in names if name.partition("/")[0] in work_ids])
        if self._engine:
            with self._engine.connect() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    async def aclose(self) -> None:
        async with self._starting:  # who asked for the start may have been stopped
            if self._loop is None or self._thread is None:
                return
        from dbos import DBOS

        _ports.clear()
        await self._on_loop(DBOS.delete_queue_async(self._executor))
        await self._on_loop(_cancel_the_rest())
        await asyncio.to_thread(self._end)
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()
        self._loop = None

    async def _names_once_begun(self, work_id: str) -> list[str]:
        """The workflows of a work and its parts, when none of them is about to begin."""
        if beginning := [self._beginning[n] for n in _names(work_id) if n in self._beginning]:
            await asyncio.wait(beginning)
        return _names(work_id)

    async def _delete(self, names: list[str]) -> None:
        if names:
            await self._on_loop((await self._started()).delete_workflows_async(names))

    async def _started(self) -> "type[DBOS]":
        if self._loop is None:
            await asyncio.shield(asyncio.create_task(self._start_once()))
        from dbos import DBOS

        return DBOS

    async def _start_once(self) -> None:
        async with self._starting:
            if self._loop is None:
                if time.monotonic() < self._failed + _PAUSE:
                    raise ConnectionError("dbos could not start a moment ago")
                try:
                    self._loop = await asyncio.to_thread(self._start)
                except BaseException:
                    self._failed = time.monotonic()
                    raise

    def _start(self) -> asyncio.AbstractEventLoop:
        self._engine = _open(self._url)
        try:
            self._launch()
        except BaseException:
            self._end()
            raise
        loop = asyncio.new_event_loop()  # dbos replaces the executor of the loop that it is used on
        self._thread = threading.Thread(target=loop.run_forever, name="workflows", daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._purge(), loop)
        return loop

    async def _purge(self) -> None:
        """Delete the steps of turns that do not run when their time is over."""
        from dbos import DBOS

        while True:
            await asyncio.sleep(self._kept_seconds / 24)
            list_all = partial(DBOS.list_workflows_async, load_input=False, load_output=False)
            stored = await list_all(end_time=self._oldest())
            recent = await list_all(status="SUCCESS", completed_after=self._oldest())
            running = await asyncio.to_thread(self._running)
            await DBOS.delete_workflows_async(_orphans(stored, recent, running))

    def _oldest(self) -> str:
        return (datetime.now(UTC) - timedelta(seconds=self._kept_seconds)).isoformat()

    def _launch(self) -> None:
        from dbos import DBOS

        DBOS(
            config={
                "name": _NAME,
                "system_database_url": self._url,
                "system_database_engine": self._engine,
                "use_listen_notify": False,  # nothing here waits for events of dbos
                "application_version": self._version,
                "executor_id": self._executor,  # of its own: none recovers what another began
                "log_level": "ERROR",
                "console_log_level": "ERROR",
            }
        )
        self._workflow = DBOS.workflow(name="work")(_work)
        DBOS.listen_queues([self._executor])
        DBOS.launch()
        DBOS.register_queue(self._executor, polling_interval_sec=_POLL_SECONDS)
        list_all = partial(DBOS.list_workflows, load_input=False, load_output=False)
        stored = list_all()
        recent = list_all(status="SUCCESS", completed_after=self._oldest())
        if orphan_ids := _orphans(stored, recent, self._running()):
            DBOS.delete_workflows(orphan_ids)

    def _end(self) -> None:
        from dbos import DBOS

        DBOS.destroy()
        if self._engine:
            self._engine.dispose()

    async def _on_loop(self, work: Any) -> Any:
        assert self._loop is not None
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))
