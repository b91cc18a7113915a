"""Responses of the agent, in OpenAI's form of that name: requests for them, and what is sent of
them, whole and as events. It is made of the SDK's own types.
"""

import json
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Annotated, Any, Literal, get_args

from openai.types import responses as sdk
from pydantic import BaseModel, BeforeValidator, Field

from selfeng.core.events import TurnFailed, TurnFinished, TurnStopped
from web.error_forms import OpenAIError
from web.event_streams import KEEP_ALIVE
from web.openai_requests import (
    AGENT,
    SentMessage,
    SentValue,
    as_text,
    check_count,
    demands_call,
    is_for_model,
)
from web.openai_turn import AnswerPiece, TurnAnswer

PREFIX = "resp_"
"""Begins the id of a response; the id of its turn follows."""
Status = Literal["in_progress", "completed", "incomplete", "failed", "cancelled"]


def _message(item: Any) -> Any:
    """An item of the input in the form of a message."""
    if not isinstance(item, dict) or item.get("role"):
        return item
    if str(item.get("type")).endswith("_output"):
        return {"role": "tool", "content": as_text(item.get("output"))}
    return {"role": "assistant"}  # a call, thoughts, or the id of an item


def _items(value: Any) -> Any:
    return [{"role": "user", "content": value}] if isinstance(value, str) else value


class ResponseRequest(SentValue):
    """A request for a response."""

    model: str
    input: Annotated[
        tuple[Annotated[SentMessage, BeforeValidator(_message)], ...],
        BeforeValidator(_items),
        Field(min_length=1),
    ]
    instructions: Any = None
    previous_response_id: str | None = None
    conversation: Any = None
    metadata: dict[str, str] | None = None
    stream: bool | None = None
    background: bool | None = None
    n: int | None = None
    tools: Any = None
    tool_choice: Any = None
    text: Any = None

    def check(self) -> None:
        """Raises: OpenAIError: the agent can't do it."""
        check_count(self.n)
        if self.conversation is not None:
            raise OpenAIError(
                400,
                "`conversation` is not supported; continue with previous_response_id",
                code="unsupported_parameter",
                param="conversation",
            )

    @property
    def is_for_model(self) -> bool:
        return is_for_model(
            self.input,
            streamed=bool(self.stream),
            demands=demands_call(self.tools, self.tool_choice),
            form=self.text.get("format") if isinstance(self.text, dict) else None,
        )

    @property
    def ignored(self) -> tuple[str, ...]:
        """Names of its fields that the agent has no use for."""
        return ("tools",) if self.tools else ()

    @property
    def echoed(self) -> dict[str, Any]:
        """The fields that its response repeats."""
        return {
            "instructions": self.instructions,
            "metadata": self.metadata or {},
            "previous_response_id": self.previous_response_id,
            "background": bool(self.background),
        }


@dataclass(frozen=True)
class _Kind:
    """A kind of item in the output: its name in ids, the place of its only part, and its events."""

    name: str
    place: str
    part_added: type[BaseModel]
    delta: type[BaseModel]
    text_done: type[BaseModel]
    part_done: type[BaseModel]


_STEPS = _Kind(
    "rs",
    "summary_index",
    sdk.ResponseReasoningSummaryPartAddedEvent,
    sdk.ResponseReasoningSummaryTextDeltaEvent,
    sdk.ResponseReasoningSummaryTextDoneEvent,
    sdk.ResponseReasoningSummaryPartDoneEvent,
)
_WORDS = _Kind(
    "msg",
    "content_index",
    sdk.ResponseContentPartAddedEvent,
    sdk.ResponseTextDeltaEvent,
    sdk.ResponseTextDoneEvent,
    sdk.ResponseContentPartDoneEvent,
)


@dataclass
class _OutputItem:
    """The steps of the agent up to a part of the answer, or that part."""

    kind: _Kind
    id: str
    text: str = ""

    @property
    def part(self) -> dict[str, Any]:
        if self.kind is _STEPS:
            return {"type": "summary_text", "text": self.text}
        return {"type": "output_text", "text": self.text, "annotations": [], "logprobs": []}

    def sent(self, status: Status) -> dict[str, Any]:
        parts = [self.part] if self.text else []
        if self.kind is _STEPS:
            form = {"type": "reasoning", "summary": parts}
        else:
            form = {"type": "message", "role": "assistant", "content": parts}
        return {"id": self.id, "status": status, **form}


class AgentResponse:
    """The response that an answer of the agent is."""

    def __init__(self, answer: TurnAnswer, echoed: Mapping[str, Any] | None = None) -> None:
        """`echoed` are fields of the request that it repeats."""
        self._answer, self._echoed = answer, echoed or {"metadata": {}}
        self._output: list[_OutputItem] = []
        self._number = count()

    def as_json(self) -> dict[str, Any]:
        """The response as far as the answer goes, which is read."""
        for pieces in self._answer.pieces():
            for piece in pieces or ():
                deque(self._added(piece), maxlen=0)
        return self._response(self._status).model_dump(mode="json", exclude_unset=True)

    def events(self) -> Iterator[bytes]:
        """The response as server-sent events; leaving them leaves the answer."""
        has_started = False
        for pieces in self._answer.pieces():
            if pieces is None:
                yield KEEP_ALIVE
                continue
            if not has_started:
                has_started, response = True, self._response("in_progress")
                yield self._event(sdk.ResponseCreatedEvent, response=response)
                yield self._event(sdk.ResponseInProgressEvent, response=response)
            for piece in pieces:
                yield from self._added(piece)
        status = self._status
        yield from self._closed("completed" if status == "completed" else "incomplete")
        match status:
            case "completed":
                kind: type[BaseModel] = sdk.ResponseCompletedEvent
            case "incomplete":
                kind = sdk.ResponseIncompleteEvent
            case "in_progress" | "failed" | "cancelled":
                kind, status = sdk.ResponseFailedEvent, "failed"
        yield self._event(kind, response=self._response(status))

    @property
    def _status(self) -> Status:
        match self._answer.story.last:
            case None:
                return "in_progress"
            case TurnFinished():
                return "completed"
            case TurnFailed(kind="budget"):
                return "incomplete"
            case TurnFailed():
                return "failed"
            case TurnStopped():
                return "cancelled"

    def _added(self, piece: AnswerPiece) -> Iterator[bytes]:
        """The events of a piece of the answer."""
        kind = _STEPS if piece.is_step else _WORDS
        if not self._output or self._output[-1].kind is not kind:
            yield from self._closed("completed")
            place = len(self._output)
            item = _OutputItem(kind, f"{kind.name}_{self._answer.story.turn}_{place}")
            self._output.append(item)
            yield self._event(
                sdk.ResponseOutputItemAddedEvent,
                output_index=place,
                item=item.sent("in_progress"),
            )
            yield self._part_event(kind.part_added, part=item.part)
        self._output[-1].text += piece.text
        more: dict[str, Any] = {} if piece.is_step else {"logprobs": []}
        yield self._part_event(kind.delta, delta=piece.text, **more)

    def _closed(self, status: Status) -> Iterator[bytes]:
        """The last events of the last item, if any."""
        if not self._output:
            return
        item = self._output[-1]
        more: dict[str, Any] = {} if item.kind is _STEPS else {"logprobs": []}
        yield self._part_event(item.kind.text_done, text=item.text, **more)
        yield self._part_event(item.kind.part_done, part=item.part)
        yield self._event(
            sdk.ResponseOutputItemDoneEvent,
            output_index=len(self._output) - 1,
            item=item.sent(status),
        )

    def _part_event(self, kind: type[BaseModel], **fields: Any) -> bytes:
        """An event of the last item's only part."""
        item, place = self._output[-1], len(self._output) - 1
        return self._event(
            kind, item_id=item.id, output_index=place, **{item.kind.place: 0}, **fields
        )

    def _event(self, kind: type[BaseModel], **fields: Any) -> bytes:
        (name,) = get_args(kind.model_fields["type"].annotation)
        event = kind(type=name, sequence_number=next(self._number), **fields)
        data = event.model_dump(mode="json", exclude_unset=True)
        return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()

    def _error(self) -> dict[str, Any]:
        last, error = self._answer.story.last, {"code": "server_error"}
        if isinstance(last, TurnFailed) and last.cause == "consent":
            error |= {"type": last.cause, "param": str(last.values.get("command", ""))}
        return {**error, "message": self._answer.story.whole_text}

    def _response(self, status: Status) -> sdk.Response:
        story, (input_tokens, output_tokens) = self._answer.story, self._answer.tokens
        last: Status = status if status in ("in_progress", "completed") else "incomplete"
        states: list[Status] = ["completed"] * len(self._output)
        failed = story.last is not None and story.gave_up
        form: dict[str, Any] = {
            "id": f"{PREFIX}{story.turn}",
            "object": "response",
            "created_at": self._answer.started_at,
            "completed_at": self._answer.ended_at if status == "completed" else None,
            "status": status,
            "model": AGENT,
            "output": [
                item.sent(state)
                for item, state in zip(self._output, [*states[1:], last], strict=False)
            ],
            "error": self._error() if failed else None,
            "incomplete_details": {"reason": "max_output_tokens"}
            if status == "incomplete"
            else None,
            "usage": {
                "input_tokens": input_tokens,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": output_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": input_tokens + output_tokens,
            }
            if story.last
            else None,
            "text": {"format": {"type": "text"}},
            "tools": [],
            "tool_choice": "auto",
            "parallel_tool_calls": True,
            "store": True,
        }
        return sdk.Response(**form, **self._echoed)
