"""The wire format of `chat.completions`: replies as JSON bodies and as the chunks of a stream, and
errors.
"""

import json
import math
import re
import time
import uuid
from collections.abc import Iterator
from typing import Any

from selfeng_offline.completion import Completion, CompletionRequest, Flawed, WireCall

_WORDS = re.compile(r"\s*\S+|\s+\Z")
_ARGUMENT_PIECE = 16
"""Characters of a function's arguments in one chunk."""


class Rejection(Exception):
    """The request is answered with an HTTP error in OpenAI's form; raised by the server, or by an
    author.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        type: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.headers = status, headers or {}
        self.body = {"error": {"message": message, "type": type, "param": param, "code": code}}


class Writer:
    """Converts one completion to the wire format."""

    def __init__(self, request: CompletionRequest, completion: Completion) -> None:
        self._request = request
        self.flaws = completion if isinstance(completion, Flawed) else Flawed(**dict(completion))
        self._id = f"chatcmpl-{uuid.uuid4().hex}"
        self._created = int(time.time())
        self._calls = self.flaws.calls or _single_call(completion)

    def body(self) -> dict[str, Any]:
        """The whole reply."""
        flaws = self.flaws
        calls = (
            {
                "tool_calls": [
                    _wire_call(n, call, call.arguments) for n, call in enumerate(self._calls)
                ]
            }
            if self._calls
            else {}
        )
        message = {
            "role": "assistant",
            "content": flaws.content or None,
            "refusal": flaws.refusal or None,
            **calls,
        }
        if not calls and not flaws.refusal:
            message["content"] = flaws.content
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._finish()}
        usage = {"usage": self._usage()} if flaws.usage else {}
        return {**self._head("chat.completion"), "choices": [choice], **usage}

    def chunks(self) -> Iterator[str]:
        """The reply as data of server-sent events, without the end mark."""
        flaws = self.flaws
        if flaws.empty_chunk:
            yield self._chunk([])
        first = {"role": "assistant", "content": ""}
        if flaws.role:
            yield self._delta(first)
        yield from (self._delta({"refusal": piece}) for piece in _WORDS.findall(flaws.refusal))
        yield from (self._delta({"content": piece}) for piece in _WORDS.findall(flaws.content))
        for number, call in enumerate(self._calls):
            yield self._delta({"tool_calls": [{"index": number, **_wire_call(number, call, "")}]})
            text = str(call.arguments or "")
            for start in range(0, len(text), _ARGUMENT_PIECE):
                piece = text[start : start + _ARGUMENT_PIECE]
                yield self._delta(
                    {"tool_calls": [{"index": number, "function": {"arguments": piece}}]}
                )
        yield self._delta({}, self._finish())
        if flaws.usage and self._wants_usage:
            yield json.dumps(
                {**self._head("chat.completion.chunk"), "choices": [], "usage": self._usage()}
            )

    @property
    def _wants_usage(self) -> bool:
        options = self._request.body.get("stream_options")
        return isinstance(options, dict) and bool(options.get("include_usage"))

    def _delta(self, delta: dict[str, Any], finish: str | None = None) -> str:
        return self._chunk(
            [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}]
        )

    def _chunk(self, choices: list[dict[str, Any]]) -> str:
        usage = {"usage": None} if self._wants_usage else {}
        return json.dumps({**self._head("chat.completion.chunk"), "choices": choices, **usage})

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": self._id,
            "object": kind,
            "created": self._created,
            "model": self._request.model,
        }

    def _finish(self) -> str | None:
        finish = self.flaws.finish_reason
        return "tool_calls" if self._calls and finish == "stop" else finish or None

    def _usage(self) -> dict[str, int]:
        prompt_tokens = _tokens(json.dumps(list(self._request.messages), default=str))
        completion_tokens = _tokens(
            self.flaws.content + "".join(f"{call.name}{call.arguments}" for call in self._calls)
        )
        return {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        }


def _single_call(completion: Completion) -> tuple[WireCall, ...]:
    if completion.function is None:
        return ()
    return (
        WireCall(
            name=completion.function,
            arguments=json.dumps(completion.arguments or {}, ensure_ascii=False),
        ),
    )


def _wire_call(number: int, call: WireCall, arguments: Any) -> dict[str, Any]:
    return {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _tokens(text: str) -> int:
    """About four characters make a token."""
    return math.ceil(len(text) / 4)
