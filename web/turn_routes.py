"""The operations of turns: begin one, follow it, and stop it. Leaving a turn does not stop it."""

import json
from collections.abc import Generator, Iterator
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING

import flask
from flask import Flask, Response

from selfeng.core.errors import RequestError
from selfeng.core.events import LAST_SEQ, Record
from selfeng.core.question import answers_of
from selfeng.core.status import Asked
from web.bridge import Bridge
from web.event_streams import EVENT_STREAM, KEEP_ALIVE, sent, streamed
from web.middleware import owner
from web.operations import operation
from web.payloads import Ask, WrongAnswer, plain
from web.resources import Stopping, TurnReport, turn_reports
from web.uploads import Uploads

if TYPE_CHECKING:
    from selfeng.engine import Engine

_LAST_SEEN = "Last-Event-ID"
_HEADERS = {_LAST_SEEN: "Number of the last record that you have; the stream goes on after it."}


def add_turn_routes(app: Flask, bridge: Bridge, engine: "Engine", uploads: Uploads) -> None:
    """Add the routes. Access is checked before any of them, and the origin before those that change
    something.
    """

    @app.post("/api/v1/turns")
    @operation(status=202, media=[EVENT_STREAM])
    def begin_turn(body: Ask) -> Asked | Response:
        """Begin a turn, in a new conversation if none is named.

        Its id comes at once; with `Accept: text/event-stream` its records come until it has ended.
        """
        started_turn = bridge.call(ask(engine, uploads, owner(), body))
        if wants_stream():
            return _stream(bridge, engine, started_turn.turn_id, 0)
        location = flask.url_for("turn", turn_id=started_turn.turn_id)
        response = flask.jsonify(started_turn.model_dump())
        response.status_code, response.headers["Location"] = 202, location
        return response

    @app.get("/api/v1/turns/<turn_id>")
    @operation(media=[EVENT_STREAM], headers=_HEADERS)
    def turn(turn_id: str) -> TurnReport | Response:
        """Show a turn as far as it has come.

        With `Accept: text/event-stream` its records come until it has ended, each with its number
        as the event's id.
        """
        if wants_stream():
            return _stream(bridge, engine, turn_id, _last_seen())
        (report,) = turn_reports(bridge.call(engine.conversations.records(owner(), turn_id)))
        return report

    @app.post("/api/v1/turns/<turn_id>/wrong")
    @operation(status=202)
    def dispute(turn_id: str, body: WrongAnswer) -> Asked:
        """Begin a turn that corrects the answer of another one.

        The tool that gave the answer gets a version that is right, unless the data refute you.
        """
        return bridge.call(engine.dispute(owner(), turn_id, body.complaint, body.value))

    @app.delete("/api/v1/turns/<turn_id>")
    @operation()
    def stop_turn(turn_id: str) -> Stopping:
        """Stop a turn that runs or waits."""
        bridge.call(engine.conversations.records(owner(), turn_id))  # is there such a turn?
        return Stopping(stopped=bridge.call(engine.stop(owner(), turn_id)))


async def ask(engine: "Engine", uploads: Uploads, owner: str, request: Ask) -> Asked:
    """Begin a turn as a page or program asks for it. Raises: as `Engine.ask`."""
    return await engine.ask(
        owner,
        request.conversation_id,
        request.text,
        uploads.take(owner, request.files),
        answers=answers_of(request.answers),
        again=request.again or "",
        after=request.after,
        model=request.model,
        temporary=request.temporary,
        timezone=request.timezone,
        turn_id=_turn_id(owner, request.request_id),
    )


def _turn_id(owner: str, request_id: str | None) -> str:
    """The id of the turn that a request becomes; no other person's request can become it."""
    return sha256(f"{owner} {request_id}".encode()).hexdigest()[:32] if request_id else ""


def wants_stream() -> bool:
    """Whether the client prefers a stream of events to JSON."""
    best = flask.request.accept_mimetypes.best_match(["application/json", EVENT_STREAM])
    return best == EVENT_STREAM


def _last_seen() -> int:
    """Raises: RequestError."""
    text = flask.request.headers.get(_LAST_SEEN, "0")
    number = int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else LAST_SEQ + 1
    if number > LAST_SEQ:
        raise RequestError(
            f"{_LAST_SEEN} {text[:20]!r} is not the number of a record", "send the id of an event"
        )
    return number


def _stream(bridge: Bridge, engine: "Engine", turn_id: str, after: int) -> Response:
    records = streamed(bridge, engine.conversations.follow(owner(), turn_id, after))
    first = next(records, None)  # what refuses the request comes instead of it
    return sent(_events(first, records))


def _events(first: Record | None, records: Generator[Record | None]) -> Iterator[bytes]:
    with closing(records):
        yield _event(first)
        yield from map(_event, records)


def _event(record: Record | None) -> bytes:
    if record is None:
        return KEEP_ALIVE
    data = json.dumps(plain(record))
    return f"id: {record.seq}\nevent: {record.event.type}\ndata: {data}\n\n".encode()
