"""Adaptations: how the body of a `chat.completions` request differs from the usual for servers that
refuse some of it, and which one a refusal asks for.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from selfeng.models.chat import Message

Body = Mapping[str, Any]
Form = tuple[str, ...]
"""Names of adaptations, in the order in which they are made: of `_CHANGES`, or fields left out."""

_SYSTEM = ("system", "developer")
_CONTINUE = "Continue."
_ID = re.compile(r"[A-Za-z0-9]{9}")
_OLD_CAP, _NEW_CAP = "max_tokens", "max_completion_tokens"
_ASKING = {"tools", "tool_choice", "functions", "function_call", "response_format", "text"}
_KEPT = {"model", "messages", "input", "stream"}
"""Fields that every request needs."""
_PLAINER = re.compile(
    r"\b(?:tools?|functions?|tool_choice|function_call|response_format|text\.format|json_schema|"
    r"json_object|grammar|failed_generation)\b"
)
"""Words of a refusal after which a plainer way of asking is tried."""


def applied(form: Iterable[str], body: Body) -> Body:
    for name in form:
        body = _CHANGES[name](body) if name in _CHANGES else _without(name, body)
    return body


def _without(name: str, body: Body) -> Body:
    return {field: value for field, value in body.items() if field != name}


def _over_messages(change: Callable[[Sequence[Message]], list[Message]]) -> Callable[[Body], Body]:
    def changed(body: Body) -> Body:
        return {**body, "messages": change(body["messages"])} if "messages" in body else body

    return changed


def _developer_as_system(messages: Sequence[Message]) -> list[Message]:
    return [{**m, "role": "system" if m["role"] == "developer" else m["role"]} for m in messages]


def _system_as_user(messages: Sequence[Message]) -> list[Message]:
    """The messages, with each system message as a part of the user's message after it."""
    joined: list[Message] = []
    for message in messages:
        plain = {**message, "role": "user"} if message["role"] in _SYSTEM else message
        follows = bool(joined) and plain["role"] == joined[-1]["role"] == "user"
        joined[-1:] = [_joined(joined[-1], plain)] if follows else [*joined[-1:], plain]
    return joined


def _alternating(messages: Sequence[Message]) -> list[Message]:
    """User and assistant by turns, the user first and last; results of tools follow their call, and
    the assistant follows them.
    """
    turns: list[Message] = []
    for message in messages:
        late = message["role"] in _SYSTEM and any(m["role"] not in _SYSTEM for m in turns)
        turn = {**message, "role": "user"} if late else message
        before = turns[-1]["role"] if turns else ""
        if before == turn["role"] != "tool" and not turns[-1].get("tool_calls"):
            turns[-1] = _joined(turns[-1], turn)
            continue
        if turn["role"] == "user" and before == "tool":
            turns.append({"role": "assistant", "content": "OK."})
        elif turn["role"] == "assistant" and before in ("", "assistant", *_SYSTEM):
            turns.append({"role": "user", "content": _CONTINUE})
        turns.append(turn)
    if turns[-1]["role"] == "assistant":
        turns.append({"role": "user", "content": _CONTINUE})
    return turns


def _joined(first: Message, second: Message) -> Message:
    """Two messages of one role as one."""
    contents = [m["content"] for m in (first, second) if m.get("content")]
    if all(isinstance(content, str) for content in contents):
        return {**first, **second, "content": "\n\n".join(contents)}
    parts = [
        part
        for content in contents
        for part in ([{"type": "text", "text": content}] if isinstance(content, str) else content)
    ]
    return {**first, **second, "content": parts}


def _prefixed(messages: Sequence[Message]) -> list[Message]:
    """A last message of the assistant as the beginning of its reply, as Mistral wants it named."""
    *before, last = messages
    return [*before, {**last, "prefix": True} if last["role"] == "assistant" else last]


def _with_text(messages: Sequence[Message]) -> list[Message]:
    return [{**m, "content": _text(m.get("content"))} for m in messages]


def _text(content: Any) -> Any:
    if isinstance(content, list) and all(part.get("type") == "text" for part in content):
        return "".join(part["text"] for part in content)
    return "" if content is None else content


def _with_short_ids(messages: Sequence[Message]) -> list[Message]:
    """Ids of calls as nine letters and digits."""
    changed: list[Message] = []
    for message in messages:
        new = dict(message)
        if calls := message.get("tool_calls"):
            new["tool_calls"] = [{**call, "id": _short(call["id"])} for call in calls]
        if id := message.get("tool_call_id"):
            new["tool_call_id"] = _short(id)
        changed.append(new)
    return changed


def _short(id: str) -> str:
    return id if _ID.fullmatch(id) else hashlib.sha256(id.encode()).hexdigest()[:9]


def _without_strict(value: Any) -> Any:
    """Tools and reply format without the demand to follow their schemas strictly."""
    if isinstance(value, Mapping):
        return {
            name: inner if name in ("messages", "schema", "parameters") else _without_strict(inner)
            for name, inner in value.items()
            if name != "strict"
        }
    return [_without_strict(inner) for inner in value] if isinstance(value, list) else value


def _renamed(old: str, new: str) -> Callable[[Body], Body]:
    return lambda body: {new if name == old else name: value for name, value in body.items()}


_CHANGES: Mapping[str, Callable[[Body], Body]] = MappingProxyType(
    {
        "developer messages as system messages": _over_messages(_developer_as_system),
        "system messages as a part of the user's": _over_messages(_system_as_user),
        "user and assistant by turns": _over_messages(_alternating),
        "a last message of the assistant as a prefix": _over_messages(_prefixed),
        "messages with plain text": _over_messages(_with_text),
        "short ids of calls": _over_messages(_with_short_ids),
        "no strict schemas": _without_strict,
        "a newer name of the length limit": _renamed(_OLD_CAP, _NEW_CAP),
        "an older name of the length limit": _renamed(_NEW_CAP, _OLD_CAP),
        "no stream": lambda body: _without("stream", _without("stream_options", body)),
    }
)
(
    _DEVELOPER, _NO_SYSTEM, _TURNS, _PREFIX, _TEXT, _IDS, _STRICT, _NEWER, _OLDER, _NO_STREAM,
) = _CHANGES  # fmt: skip
_BY_WORDS = (
    (r"prefix", (_PREFIX, _TURNS)),
    (r"alternat|consecutive|in a row|same role|\border\b|must (?:start|begin|end)", (_TURNS,)),
    (r"last (?:message|role)|first (?:message|role)|role.*\bafter|after.*\brole", (_TURNS,)),
    (r"tool[ _]?call[ _]?id|\bcall_id|length of 9|\bnine\b", (_IDS,)),
    (r"\bstrict\b", (_STRICT,)),
    (r"developer", (_DEVELOPER,)),
    (r"developer|system|\brole", (_NO_SYSTEM, _TURNS)),
    (r"\bcontent\b", (_TEXT,)),
    (r"\bstream(?:ing|ed)?\b", (_NO_STREAM,)),
)  # fmt: skip
"""Patterns of refusals of messages, and the changes that may help then, the gentlest first."""
_OF_CALLS = 5
"""How many of these may also be meant where a refusal speaks of tools."""
_BLIND = (
    "stream_options", _NEWER, _OLD_CAP, _NEW_CAP, _DEVELOPER, _NO_SYSTEM, _TURNS, _TEXT, _IDS,
    _STRICT, _NO_STREAM,
)  # fmt: skip
"""The changes that are tried after a refusal that nothing else explains, the gentlest first."""


def wants_plainer(refusal: str, body: Body) -> bool:
    """Whether the refusal is about functions or the format of the reply, which the body asks for,
    or about a stream of them: another way of asking helps, no adaptation.
    """
    if not any(name in body for name in ("tools", "functions", "response_format")):
        return False
    streams = bool(body.get("stream")) and _mentions(refusal, "stream(?:ing|ed)?")
    return streams or bool(_PLAINER.search(refusal))


def described(form: Form) -> tuple[str, ...]:
    """The form in words."""
    return tuple(name if name in _CHANGES else f"no {name}" for name in form)


def adaptation_for(refusal: str, body: Body, form: Form) -> str | None:
    """The adaptation of the body that a refusal in these words asks for, if it is clear.

    `body`: as it was refused; `form`: what was adapted in it already.
    """
    return next(_adaptations(refusal, body, form), None)


def _adaptations(refusal: str, body: Body, form: Form) -> Iterator[str]:
    plainer = wants_plainer(refusal, body)
    for field in sorted(body.keys() - _KEPT - set(form) - (_ASKING if plainer else set())):
        if not _mentions(refusal, field):
            continue
        renamed = {_OLD_CAP: _NEWER, _NEW_CAP: _OLDER}.get(field)
        if renamed and not {_NEWER, _OLDER} & set(form):
            yield renamed
        yield field
    for words, names in _BY_WORDS[:_OF_CALLS] if plainer else _BY_WORDS:
        if re.search(words, refusal, re.IGNORECASE):
            yield from (name for name in names if _changes(name, body, form))


def _mentions(refusal: str, field: str) -> bool:
    return bool(re.search(rf"(?<![A-Za-z0-9_]){field}(?![A-Za-z0-9_])", refusal))


def untold(body: Body, form: Form) -> tuple[Form, ...]:
    """Forms to try after a refusal that names nothing: each adaptation alone, then more and more
    together.
    """
    single = [name for name in _BLIND if _changes(name, body, form)]
    together = [single[:length] for length in range(2, len(single) + 1)]
    return (*((*form, name) for name in single), *((*form, *names) for names in together))


def _changes(name: str, body: Body, form: Form) -> bool:
    if name == _NO_STREAM and ("tools" in body or "response_format" in body):
        return False  # whoever asks so asks for the whole reply next
    return name not in form and applied((name,), body) != body
