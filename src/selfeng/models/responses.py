"""The Responses API in terms of `chat.completions`: requests one way, replies and events the other.

https://platform.openai.com/docs/api-reference/responses
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = Mapping[str, Any]

_LEAST_CAP = 16
"""Tokens. A lower limit is refused."""
_THOUGHTS = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")


def request_of(chat: Json) -> dict[str, Any]:
    """The request for a reply that the server does not store."""
    request: dict[str, Any] = {"store": False}
    for name, value in chat.items():
        match name:
            case "messages":
                request["input"] = [item for message in value for item in _items(message)]
            case "tools":
                request["tools"] = [_flat(tool) for tool in value]
            case "tool_choice":
                request["tool_choice"] = value if isinstance(value, str) else _flat(value)
            case "response_format":
                request["text"] = {"format": _flat(value)}
            case "max_tokens" | "max_completion_tokens":
                request["max_output_tokens"] = max(_LEAST_CAP, value)
            case "stream_options":
                pass  # usage always comes
            case _:
                request[name] = value
    return request


def _flat(nested: Json) -> dict[str, Any]:
    """A tool, a choice or a format, whose fields are not in an object of their own here. Tools are
    strict unless they say otherwise.
    """
    kind = nested["type"]
    flat = {"type": kind, **nested.get(kind, {})}
    return {**flat, "strict": flat.get("strict", False)} if "parameters" in flat else flat


def _items(message: Json) -> Iterator[dict[str, Any]]:
    role, content = message["role"], message.get("content")
    if role == "tool":
        call = message["tool_call_id"]
        yield {"type": "function_call_output", "call_id": call, "output": content or ""}
        return
    if content or not message.get("tool_calls"):
        parts = content if isinstance(content, str) else [*map(_part, content or ())]
        yield {"role": role, "content": parts or ""}
    yield from (
        {"type": "function_call", "call_id": call["id"], **call["function"]}
        for call in message.get("tool_calls") or ()
    )


def _part(part: Json) -> dict[str, Any]:
    if part["type"] == "image_url":
        return {"type": "input_image", "image_url": part["image_url"]["url"]}
    return {**part, "type": "input_text"} if part["type"] == "text" else {**part}


def completion_of(response: Json) -> dict[str, Any]:
    """A whole response as a completion; one that failed has no choices, but an `error`."""
    if response.get("error"):
        return {"error": response["error"]}
    output = [item for item in response.get("output") or () if isinstance(item, Mapping)]
    message: dict[str, Any] = {"role": "assistant"}
    for name, text in (
        ("content", _texts(output, "text")),
        ("refusal", _texts(output, "refusal")),
        ("reasoning_content", "\n\n".join(_thoughts(output))),
    ):
        message[name] = text or None
    if calls := [_call(item) for item in output if item.get("type") == "function_call"]:
        message["tool_calls"] = calls
    finish = _finish(response, bool(calls))
    return {
        **{name: response[name] for name in ("id", "model") if name in response},
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": _usage(response.get("usage")),
    }


def _texts(output: Sequence[Json], name: str) -> str:
    parts = [part for item in output if item.get("type") == "message" for part in item["content"]]
    return "".join(part.get(name) or "" for part in parts)


def _thoughts(output: Sequence[Json]) -> Iterator[str]:
    for item in output:
        if item.get("type") == "reasoning":
            yield from (
                part.get("text") or ""
                for part in (*(item.get("summary") or ()), *(item.get("content") or ()))
            )


def _call(item: Json) -> dict[str, Any]:
    function = {"name": item.get("name"), "arguments": item.get("arguments")}
    return {"id": item.get("call_id"), "type": "function", "function": function}


def _finish(response: Json, called: bool) -> str | None:
    if (status := response.get("status", "completed")) == "incomplete":
        reason = (response.get("incomplete_details") or {}).get("reason")
        return "content_filter" if reason == "content_filter" else "length"
    if status in ("failed", "cancelled"):
        return "error"
    return "tool_calls" if called else "stop"


def _usage(usage: Json | None) -> dict[str, Any] | None:
    if not usage:
        return None
    prompt_tokens, completion_tokens = usage.get("input_tokens"), usage.get("output_tokens")
    cached = (usage.get("input_tokens_details") or {}).get("cached_tokens")
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": usage.get("total_tokens"),
        "prompt_tokens_details": {"cached_tokens": cached},
    }


class ResponseEvents:
    """The events of one streamed response, as the chunks of a completion."""

    def __init__(self) -> None:
        self._came: set[str] = set()
        """Kinds of what has come in pieces."""

    def chunk(self, event: Json) -> dict[str, Any] | None:
        """The chunk for an event; None if there is nothing in it. A failure is a chunk with an
        `error`.
        """
        kind, piece = event.get("type"), event.get("delta")
        match kind:
            case "response.output_text.delta":
                return self._delta("content", piece)
            case "response.refusal.delta":
                return self._delta("refusal", piece)
            case "response.reasoning_summary_part.added" if event.get("summary_index"):
                return self._delta("reasoning_content", "\n\n")
            case str() if kind in _THOUGHTS:
                return self._delta("reasoning_content", piece)
            case "response.output_item.added" if _is_call(event):
                return self._called(event, _call({**event["item"], "arguments": ""}))
            case "response.function_call_arguments.delta":
                self._came.add(f"arguments {event.get('output_index')}")
                return self._called(event, {"function": {"arguments": piece}})
            case "response.output_item.done" if _is_call(event):
                return self._ended_call(event)
            case "response.completed" | "response.incomplete" | "response.failed":
                return self._last(event.get("response") or {})
            case "error":
                return {"error": {name: event.get(name) for name in ("code", "message", "param")}}
        return None

    def _delta(self, name: str, piece: Any) -> dict[str, Any]:
        self._came.add(name)
        return {"choices": [{"index": 0, "delta": {name: piece}}]}

    def _called(self, event: Json, call: Json) -> dict[str, Any]:
        self._came.add("tool_calls")
        index = event.get("output_index")
        self._came.add(f"call {index}")
        return {"choices": [{"index": 0, "delta": {"tool_calls": [{**call, "index": index}]}}]}

    def _ended_call(self, event: Json) -> dict[str, Any] | None:
        """The rest of a call, which did not come in pieces; None if all of it did."""
        index, call = event.get("output_index"), _call(event["item"])
        if f"arguments {index}" in self._came:
            return None
        is_announced = f"call {index}" in self._came
        return self._called(
            event,
            {"function": {"arguments": call["function"]["arguments"]}} if is_announced else call,
        )

    def _last(self, response: Json) -> dict[str, Any]:
        """The end, with the usage, and with what has not come in pieces."""
        completion = completion_of(response)
        if "error" in completion:
            return completion
        choice = completion["choices"][0]
        delta = {
            name: text
            for name, text in choice["message"].items()
            if text and name not in self._came
        }
        if "tool_calls" in self._came and choice["finish_reason"] == "stop":
            choice["finish_reason"] = "tool_calls"
        return {
            "choices": [{"index": 0, "delta": delta, "finish_reason": choice["finish_reason"]}],
            "usage": completion["usage"],
        }


def _is_call(event: Json) -> bool:
    item = event.get("item")
    return isinstance(item, Mapping) and item.get("type") == "function_call"
