"""The socket events: what a page may send, and what it receives."""

import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import flask
from flask_socketio import SocketIO  # type: ignore[import-untyped]

from selfeng.core.errors import AgentError
from selfeng.core.events import FINAL, Record, TurnStarted
from selfeng.core.prompt import FunctionCall
from selfeng.core.status import Asked, EngineStatus
from selfeng.core.visible import one_line
from selfeng.projects.actions import WORKSPACE_ACTIONS
from web.bridge import Bridge
from web.middleware import owner
from web.model_tests import ModelTests
from web.payloads import (
    Act,
    Ask,
    BuildRequest,
    Keep,
    ModelTest,
    Refactor,
    Restore,
    Run,
    Say,
    Stop,
    Subscribe,
    Wrong,
    parse,
    plain,
    problem,
)
from web.turn_routes import ask
from web.uploads import Uploads

if TYPE_CHECKING:
    from selfeng.capability_registry import LibraryChange
    from selfeng.engine import Engine

log = logging.getLogger(f"selfeng.{__name__}")

Reply = dict[str, Any]
_LONGEST_LINE = 200
_MOST_JOINED = 200
"""Conversations whose records a socket receives: those that it asked in or opened last. A page
subscribes again to those that it opened before the last hundred.
"""
_UNSAVED = AgentError(
    "can't write to the database, so this conversation is paused",
    "see the server's log; it continues by itself",
    cause="unsaved",
)


class Sockets:
    """Handlers of `ask`, `keep`, `wrong`, `refactor`, `run`, `stop` and `subscribe`, of `build`,
    `act`, `restore` and `say`, and of `test` and `stop_test`; everything else is refused.

    Each reply is `{"ok": true, ...}` or `{"ok": false, "error": {message, remedy}}`.
    """

    def __init__(
        self,
        socketio: SocketIO,
        bridge: Bridge,
        engine: "Engine",
        uploads: Uploads,
    ) -> None:
        self._socketio = socketio
        self._bridge = bridge
        self._engine = engine
        self._uploads = uploads
        self._handlers = {
            "ask": self._ask,
            "keep": self._keep,
            "wrong": self._wrong,
            "refactor": self._refactor,
            "run": self._run,
            "stop": self._stop,
            "subscribe": self._subscribe,
        }
        self._handlers |= {
            "build": self._build,
            "act": self._act,
            "restore": self._restore,
            "say": self._say,
            "test": self._test,
            "stop_test": self._stop_test,
        }
        for name, handler in self._handlers.items():
            socketio.on_event(name, partial(self._answer, handler))
        socketio.on_event("*", self._refuse_unknown)
        socketio.on_event("disconnect", self._on_disconnect)
        self._tests = ModelTests(engine.configuration, engine.spending)
        self._unsaved: set[str] = set()
        self._joined: dict[str, OrderedDict[str, None]] = {}
        """The conversations of each socket, that which it joined last at the end."""
        bridge.run(self._listen())

    async def _listen(self) -> None:
        post = self._bridge.post
        self._engine.feed.subscribe(lambda records: post(partial(self._deliver, list(records))))
        self._engine.changes.subscribe(
            lambda change: post(partial(self._tell_library_change, change))
        )
        self._engine.conversations.changed.subscribe(
            lambda conversation_id: post(self._tell_conversations_change)
        )
        self._engine.learning.changed.subscribe(lambda: post(self._tell_lessons_change))

    def _ask(self, owner: str, sid: str, *arguments: Any) -> Reply:
        request: Ask = parse(Ask, arguments)
        return self._begin(sid, partial(ask, self._engine, self._uploads, owner, request))

    def _keep(self, owner: str, sid: str, *arguments: Any) -> Reply:
        request: Keep = parse(Keep, arguments)
        return self._begin(sid, partial(self._engine.keep, owner, request.turn_id))

    def _wrong(self, owner: str, sid: str, *arguments: Any) -> Reply:
        request: Wrong = parse(Wrong, arguments)
        return self._begin(sid, partial(self._engine.dispute, owner, **request.model_dump()))

    def _refactor(self, owner: str, sid: str, *arguments: Any) -> Reply:
        request: Refactor = parse(Refactor, arguments)
        return self._begin(sid, partial(self._engine.refactor, owner, request.name))

    def _run(self, owner: str, sid: str, *arguments: Any) -> Reply:
        request: Run = parse(Run, arguments)
        files = self._uploads.take(owner, request.files)
        return self._begin(
            sid,
            partial(
                self._engine.run,
                owner,
                request.conversation_id,
                request.name,
                request.arguments,
                files,
                after=request.after,
                temporary=request.temporary,
            ),
        )

    def _build(self, owner: str, sid: str, *arguments: Any) -> Reply:
        request: BuildRequest = parse(BuildRequest, arguments)
        projects = self._engine.projects
        if request.project_id is None:
            return self._begin(
                sid,
                lambda: projects.begin(owner, {**request.options, "project_name": request.name}),
            )
        return self._begin(sid, partial(projects.go_on, owner, request.project_id, request.options))

    def _act(self, owner: str, sid: str, *arguments: Any) -> Reply:
        request: Act = parse(Act, arguments)
        action = WORKSPACE_ACTIONS.read(
            FunctionCall(name=str(request.action.get("action")), arguments=request.action)
        )
        return self._begin(
            sid, partial(self._engine.projects.act, owner, request.project_id, action)
        )

    def _restore(self, owner: str, sid: str, *arguments: Any) -> Reply:
        request: Restore = parse(Restore, arguments)
        return self._begin(
            sid,
            partial(self._engine.projects.restore, owner, request.project_id, request.backup),
        )

    def _begin(self, sid: str, begin: Callable[[], Awaitable[Asked]]) -> Reply:
        return plain(self._bridge.call(self._begin_and_join(sid, begin)))

    async def _begin_and_join(self, sid: str, begin: Callable[[], Awaitable[Asked]]) -> Asked:
        """On the engine's loop: the actions that deliver records come after this one."""
        turn = await begin()
        self._bridge.post(partial(self._join, sid, turn.conversation_id))
        return turn

    def _say(self, owner: str, sid: str, *arguments: Any) -> Reply:
        request: Say = parse(Say, arguments)
        return {
            "heard": self._bridge.call(
                self._engine.projects.answer(owner, request.turn_id, request.word)
            )
        }

    def _test(self, owner: str, sid: str, *arguments: Any) -> Reply:
        request: ModelTest = parse(ModelTest, arguments)

        def tell(news: dict[str, Any]) -> None:
            message = {"id": request.id, **news}
            self._bridge.post(lambda: self._socketio.emit("tested", message, to=sid))

        self._bridge.call(self._tests.begin(owner, sid, request.changes, tell))
        return {}

    def _stop_test(self, owner: str, sid: str, *arguments: Any) -> Reply:
        self._bridge.call(self._tests.stop(sid))
        return {}

    def _on_disconnect(self, *reason: Any) -> None:
        sid: str = flask.request.sid  # type: ignore[attr-defined]  # Flask-SocketIO adds it
        self._joined.pop(sid, None)
        with suppress(AgentError):  # the server is ending
            self._bridge.call(self._tests.stop(sid))

    def _stop(self, owner: str, sid: str, *arguments: Any) -> Reply:
        request: Stop = parse(Stop, arguments)
        return {"stopped": self._bridge.call(self._engine.stop(owner, request.turn_id))}

    def _subscribe(self, owner: str, sid: str, *arguments: Any) -> Reply:
        """Join first, then read: what happens in between arrives twice, and the page drops known
        records.
        """
        request: Subscribe = parse(Subscribe, arguments)
        conversations = self._engine.conversations
        summary = self._bridge.call(conversations.get(owner, request.conversation_id))
        self._join(sid, request.conversation_id)
        turns = 0 if request.after else request.turns
        records = self._bridge.call(
            conversations.history(owner, request.conversation_id, request.after, turns=turns)
        )
        return {
            "records": [plain(r) for r in records],
            "after": records[0].seq - 1 if records else request.after,
            "model": summary.model,
            "temporary": summary.kind == "temporary",
        }

    def _answer(self, handler: Callable[..., Reply], *arguments: Any) -> Reply:
        sid: str = flask.request.sid  # type: ignore[attr-defined]  # Flask-SocketIO adds it
        try:
            return {"ok": True, **handler(owner(), sid, *arguments)}
        except AgentError as error:
            return _refusal(error)
        except Exception as error:
            log.exception("a socket event failed")
            return _refusal(error)

    def _refuse_unknown(self, name: str, *arguments: Any) -> Reply:
        error = AgentError(
            f"{name[:40]!r} is not an event of this server",
            f"send one of {', '.join(self._handlers)} with one object",
        )
        return _refusal(error)

    def _join(self, sid: str, conversation_id: str) -> None:
        try:
            self._socketio.server.enter_room(sid, _room(conversation_id))
        except (ValueError, KeyError):  # the latter while others of its namespace are there
            log.debug("socket %s has gone", sid)
            return
        joined = self._joined.setdefault(sid, OrderedDict())
        joined[conversation_id] = None
        joined.move_to_end(conversation_id)
        if len(joined) > _MOST_JOINED:
            former, _ = joined.popitem(last=False)
            self._socketio.server.leave_room(sid, _room(former))

    def _deliver(self, records: Sequence[Record]) -> None:
        for conversation_id, run in groupby(records, key=lambda r: r.conversation_id):
            body: dict[str, Any] = {
                "conversation_id": conversation_id,
                "records": [plain(r) for r in run],
            }
            self._socketio.emit("records", body, to=_room(conversation_id))
            self._tell_unsaved(conversation_id, any(r["seq"] == 0 for r in body["records"]))
        if any(isinstance(r.event, (TurnStarted, *FINAL)) for r in records):
            self._tell_conversations_change(newest=True)

    def _tell_unsaved(self, conversation_id: str, unsaved: bool) -> None:
        """Records with the number 0 come again when the journal accepts them; pages wait for that
        and must know why.
        """
        if unsaved and conversation_id not in self._unsaved:
            self._unsaved.add(conversation_id)
            self._socketio.emit("error", problem(_UNSAVED), to=_room(conversation_id))
        elif not unsaved:
            self._unsaved.discard(conversation_id)

    def _tell_library_change(self, change: "LibraryChange") -> None:
        self._socketio.emit("library", plain(change))

    def _tell_conversations_change(self, *, newest: bool = False) -> None:
        """Each page asks for its list again, or for the `newest` ones, among which the change is:
        what is in it depends on the owner.
        """
        self._socketio.emit("conversations", {"newest": newest})

    def _tell_lessons_change(self) -> None:
        self._socketio.emit("lessons", {})

    def watched(self) -> bool:
        """Whether a page is open; callable from any thread."""
        return bool(self._socketio.server.eio.sockets)

    def tell_status(self, status: EngineStatus) -> None:
        """Send a changed status to every page; call it on the server's side."""
        self._socketio.emit("status", plain(status))


def socket_log() -> logging.Logger:
    """Log for the socket libraries: invalid input from a client is one short line, without a
    traceback.
    """
    log = logging.getLogger("selfeng.web.socketio")
    log.setLevel(logging.WARNING)
    if _in_one_line not in log.filters:
        log.addFilter(_in_one_line)
    return log


def _in_one_line(record: logging.LogRecord) -> bool:
    if record.msg == "Cannot send to sid %s":  # a page that has just been closed misses nothing
        return False
    error = record.exc_info[1] if record.exc_info else None
    message = record.getMessage() + (f": {type(error).__name__}: {error}" if error else "")
    record.msg, record.args, record.exc_info = one_line(message)[:_LONGEST_LINE], (), None
    return True


def _refusal(error: Exception) -> Reply:
    return {"ok": False, "error": problem(error)}


def _room(conversation_id: str) -> str:
    """A name that differs from every socket's own room."""
    return f"conversation {conversation_id}"
