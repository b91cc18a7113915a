"""The turn that a request below /v1 begins, and its answer in pieces."""

import base64
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import flask
from flask import Response

from selfeng.core.events import Record, TurnFailed, branch
from selfeng.core.files import FileReference
from selfeng.core.pictures import PICTURES
from selfeng.core.status import Asked
from selfeng.core.visible import visible
from selfeng.core.words import shortened
from selfeng.doors.turn_story import TurnStory
from web.bridge import Bridge
from web.error_forms import openai_error_body
from web.event_streams import streamed
from web.middleware import owner
from web.openai_requests import SentMessage, files_of, request_in
from web.payloads import LONGEST_TEXT
from web.resources import turn_reports

if TYPE_CHECKING:
    from selfeng.engine import Engine

_FAILED = 422
"""Programs ask again by themselves after a 5xx."""


async def begin_turn(
    engine: "Engine", owner: str, messages: Sequence[SentMessage], previous: str = ""
) -> Asked:
    """Begin the turn that the messages ask for: after the turn `previous`, or the one that follows
    the earlier messages of the user. If there is none, as when the conversation was begun with
    another model, a new one has all that was said.

    Raises: as `Engine.ask`; BadRequest, ResourceNotFound: `owner` has no turn `previous`.
    """
    place = request_in(messages)
    before, request = messages[:place], messages[place]
    after, context = None, before
    if previous:
        (first, *_) = await engine.conversations.records(owner, previous)
        after = Asked(conversation_id=first.conversation_id, turn_id=previous)
    elif requests := [message.text for message in before if message.role == "user"]:
        after = await engine.conversations.turn_after(owner, requests)
        context = [] if after else before
    text = request.text
    room = LONGEST_TEXT - len(text) - 100
    lines = "\n".join(f"{m.role}: {m.text}" for m in context if m.text and not m.is_instruction)
    if lines and room > 0:
        text += f"\n\nThe conversation before this request:\n{shortened(lines, room)}"
    files = files_of([*context, request])
    if after is None:
        return await engine.ask(owner, None, text, files)
    return await engine.ask(owner, after.conversation_id, text, files, after=after.turn_id)


async def said_until(engine: "Engine", owner: str, turn_id: str) -> list[SentMessage]:
    """Requests and answers of a conversation, up to this turn. Raises: ResourceNotFound."""
    (first, *_) = await engine.conversations.records(owner, turn_id)
    records = await engine.conversations.history(owner, first.conversation_id, 0)
    turn_ids = branch(records, turn_id)
    return [
        SentMessage(role=role, content=text)
        for turn in turn_reports(record for record in records if record.turn_id in turn_ids)
        for role, text in (("user", turn.request), ("assistant", turn.answer))
    ]


@dataclass(frozen=True)
class AnswerPiece:
    text: str
    is_step: bool = False
    """Whether it is a step of the agent, not a part of the answer."""


class TurnAnswer:
    """Makes an answer of the records of a turn of the current request's owner; None among them is a
    silence.
    """

    def __init__(self, bridge: Bridge, engine: "Engine", records: Generator[Record | None]) -> None:
        self._bridge, self._engine = bridge, engine
        self._records = records
        self._first = next(records, None)  # what refuses the request comes instead of it
        self.story = TurnStory()
        self.started_at, self.ended_at = 0, 0
        """Seconds since 1970; 0 before."""

    @classmethod
    def begin(
        cls,
        bridge: Bridge,
        engine: "Engine",
        messages: Sequence[SentMessage],
        previous: str = "",
    ) -> "TurnAnswer":
        """The answer to such messages; leaving it stops the turn. Raises: as `begin_turn`."""
        turn = begin_turn(engine, owner(), messages, previous)
        return cls(bridge, engine, streamed(bridge, engine.turn(owner(), turn)))

    @property
    def tokens(self) -> tuple[int, int]:
        """Those of what the model read, and of what it wrote."""
        return self.story.usage.input_tokens, self.story.usage.output_tokens

    @property
    def failure(self) -> dict[str, Any] | None:
        """Why it failed, as the body of an error."""
        if self.story.outcome and not self.story.gave_up:
            return None
        last, more = self.story.last, {}
        if isinstance(last, TurnFailed) and last.cause == "consent":
            more = {"code": last.cause, "values": dict(last.values)}
        return openai_error_body(_FAILED, self.story.whole_text, "", **more)

    def failed(self) -> Response:
        """The response to a failed turn."""
        response = flask.jsonify(self.failure)
        response.status_code = _FAILED
        return response

    def pieces(self) -> Iterator[tuple[AnswerPiece, ...] | None]:
        """The pieces that each record adds; None after a silence."""
        with closing(self._records):
            for record in chain((self._first,), self._records):
                yield tuple(self._pieces_of(record)) if record else None

    def _pieces_of(self, record: Record) -> Iterator[AnswerPiece]:
        step, at = self.story.step, int(record.at.timestamp())
        content = self.story.add(record)
        self.started_at, self.ended_at = self.started_at or at, at
        if self.story.step != step:
            yield AnswerPiece(f"{visible(self.story.step)}\n", is_step=True)
        if self.story.outcome and not self.story.gave_up:
            content += "".join(map(self._linked, self.story.files.values()))
        if content:
            yield AnswerPiece(content)

    def _linked(self, file: FileReference) -> str:
        """Markdown that shows a picture, or leads to another file."""
        conversation = self.story.conversation
        if file.media_type in PICTURES:
            stored = self._bridge.call(
                self._engine.conversations.file(owner(), conversation, file.sha256, file.name)
            )
            data = base64.b64encode(stored.content).decode()
            return f"\n\n![{file.name}](data:{file.media_type};base64,{data})"
        address = partial(flask.url_for, "file", conversation_id=conversation, _external=True)
        return f"\n\n[{file.name}]({address(sha256=file.sha256, name=file.name)})"
