"""Failures between us and the model's server, as errors of ours that say what to check and never
show the key.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from selfeng.core.bounded_reply import ReplyTooLarge
from selfeng.core.errors import FailureCause, ModelError, ModelRefused, ModelUnavailable
from selfeng.core.model_server import ModelServer

_FILTERED = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
_TOO_LONG = {"context_length_exceeded", "string_above_max_length"}
_NO_QUOTA = {"insufficient_quota", "billing_hard_limit_reached"}
_FORM = re.compile(
    r"tools param|param: tools|tool_choice|response_format|json_schema|jinja|stream_options|"
    r"parse grammar|initialize samplers|\b[Rr]oles?\b|[Cc]hat template|parallel_tool_calls|"
    r"image (?:input|content|url)|image_url|mmproj|multimodal"
)
_CONTEXT = re.compile(
    r"context (?:length|size|window)|(?:exceeds?|overflows?) .{0,30}context|n_ctx|num_ctx|"
    r"prompt is too long|(?:input|prompt) .{0,40}too (?:long|large|many)|"
    r"request too large|too many tokens|"
    r"max(?:imum)?[ _]model[ _]len|(?:input|tokens) .{0,40}(?:must be <=|exceeds? .{0,20}maximum)",
    re.IGNORECASE,
)
CONTEXT_LENGTH = (
    "its context length (num_ctx or OLLAMA_CONTEXT_LENGTH of Ollama, --ctx-size of llama.cpp, "
    "--max-model-len of vLLM, Context Length in LM Studio)"
)
"""The setting that limits prompt and reply together, by the names of the usual servers."""


class NoAnswer(ModelUnavailable):
    """Nothing answers at the server's address, or not in time."""


class AccessRefused(ModelUnavailable):
    """The server refuses the key, or the account behind it may not use the model."""

    cause = "no_access"


class RequestRefused(ModelUnavailable):
    """The server does not accept the request in this form; another form may work."""

    cause = "rejected"

    def __init__(
        self,
        message: str,
        remedy: str = "",
        *,
        said: str = "",
        status: int = 0,
        generated: str = "",
        **more: Any,
    ) -> None:
        """`said`: all words of the refusal; `generated`: what the model had written when the server
        refused it, as Groq shows it.
        """
        super().__init__(message, remedy, **more)
        self.said, self.status, self.generated = said, status, generated

    @property
    def is_blind(self) -> bool:
        """Whether it may be about any part of the request."""
        return self.status in {400, 422, 501} and not self.generated


class TooLong(ModelUnavailable):
    """The prompt does not fit into the model's context; no plainer form would."""

    cause = "too_long"


def not_a_model(server: ModelServer, what: str) -> ModelUnavailable:
    """The error for a server whose answers have another form."""
    return ModelUnavailable(
        f"{server.name} does not answer like an OpenAI-compatible server: {what}",
        "check OPENAI_BASE_URL; it usually ends in /v1",
        cause="no_model_server",
        server=server.name,
    )


def refuses(text: str) -> bool:
    """Whether an error of a server is about the form or the length of the request."""
    return bool(_FORM.search(text) or _CONTEXT.search(text))


def failure(error: Exception, server: ModelServer, *, midway: bool = False) -> ModelError:
    """Our error for an `error` of the SDK; `midway`: part of the reply had arrived."""
    try:
        return _failure(error, server, midway)
    except RecursionError:
        return unreadable(server, "it is nested too deeply")


def unreadable(server: ModelServer, what: str) -> ModelUnavailable:
    """The error for a reply that is too large, or nested too deeply."""
    return ModelUnavailable(
        f"the reply of {server.model} at {server.name} can't be used: {what}",
        "try again, or set another OPENAI_MODEL",
        cause="unusable",
        model=server.model,
    )


def timed_out(server: ModelServer, *, midway: bool) -> NoAnswer:
    return NoAnswer(
        f"{server.name} did not {'continue' if midway else 'answer'} within "
        f"{server.timeout:g} seconds",
        "try again, use a faster model, or raise OPENAI_TIMEOUT",
        cause="slow",
        server=server.name,
        seconds=server.timeout,
    )


def unreachable(server: ModelServer, reason: str) -> NoAnswer:
    return NoAnswer(
        f"{server.name} can't be reached: {server.clean(reason)}",
        "check that the server runs, the network, and OPENAI_BASE_URL",
        server=server.name,
    )


def interrupted(server: ModelServer, reason: str) -> ModelUnavailable:
    """The error for a connection that ended within a reply."""
    return ModelUnavailable(
        f"the reply of {server.name} broke off: {server.clean(reason)}",
        "try again",
        cause="interrupted",
        server=server.name,
    )


def broken_off(server: ModelServer, error: Any = None) -> ModelUnavailable:
    """The error for a server, or a provider behind it, that ends its reply with one."""
    detail = server.clean(explanation(error))
    message = f"{server.name} broke off its reply"
    full_message = f"{message}: {detail}" if detail else message
    return ModelUnavailable(full_message, "try again", cause="interrupted", server=server.name)


def erroneous(server: ModelServer, error: Any) -> ModelUnavailable:
    """The error for an answer that is one, whatever its status."""
    detail = server.clean(explanation(error) or str(error))
    message = f"{server.name} answers with an error: {detail}"
    return ModelUnavailable(message, "try again later", cause="failing", server=server.name)


def _failure(error: Exception, server: ModelServer, midway: bool) -> ModelError:
    reason = str(error.__cause__ or error)
    match error:
        case RecursionError():
            return unreadable(server, "it is nested too deeply")
        case ReplyTooLarge():
            return unreadable(server, str(error))
        case APIStatusError():
            return _of_sdk(error, error.status_code, server)
        case APITimeoutError():
            return timed_out(server, midway=midway)
        case APIConnectionError() if not midway:
            return unreachable(server, reason.strip() or type(error.__cause__).__name__)
        case APIError() if not midway and (status := _status_in(error.body)):
            return _of_sdk(error, status, server)
        case APIError() if _CONTEXT.search(error.message):
            return _too_long(server, server.clean(error.message))
        case APIError() if not isinstance(error, APIConnectionError):
            return broken_off(server, error.message)
        case _:
            return interrupted(server, reason)


def _of_sdk(error: APIError, status: int, server: ModelServer) -> ModelError:
    return status_failure(server, status, error.body, error.message, str(error.code or ""))


def cause(error: Exception, server: ModelServer) -> Exception | None:
    """`error` as the cause of ours, or None where a traceback would show the key."""
    chain: list[str] = []
    link: BaseException | None = error
    while link is not None:
        chain.append(f"{link} {link!r}")
        link = link.__cause__ or link.__context__
    return None if server.tells("".join(chain)) else error


def _status_in(error: object) -> int | None:
    """The status of an error that came as an event."""
    fields = error if isinstance(error, Mapping) else {}
    numbers = [str(fields.get(name)) for name in ("code", "status", "status_code")]
    status = next((int(n) for n in numbers if re.fullmatch("[45][0-9][0-9]", n)), None)
    return status or (400 if fields.get("type") == "invalid_request_error" else None)


def explanation(body: Any) -> str:
    """The words of an error in the forms that servers give it: OpenAI's, FastAPI's list of details,
    and an error of a provider within one of a gateway.
    """
    match body:
        case str():
            return body
        case {"msg": str(text), "loc": list(place)}:
            return f"{'.'.join(str(part) for part in place if part != 'body')}: {text}"
        case list():
            return "; ".join(filter(None, map(explanation, body)))
        case Mapping():
            raw = explanation((body.get("metadata") or {}).get("raw"))
            names = ("message", "detail", "error", "errors", "msg", "title")
            message = next(filter(None, (explanation(body.get(name)) for name in names)), "")
            return f"{message}: {raw}" if raw and raw not in message else message
        case _:
            return ""


def _texts(value: Any) -> Iterator[str]:
    """All texts of an error, without what it repeats of the request."""
    match value:
        case str():
            yield value
        case {"msg": str(text), "loc": list(place)}:
            yield f"{'.'.join(map(str, place))}: {text}"
        case Mapping():
            for name, inner in value.items():
                if name not in ("input", "request", "failed_generation"):
                    yield from _texts(inner)
        case Sequence():
            for inner in value:
                yield from _texts(inner)


def _refused(
    message: str, remedy: str, body: Any, text: str, status: int, **more: Any
) -> RequestRefused:
    generated = body.get("failed_generation") if isinstance(body, Mapping) else None
    return RequestRefused(
        message,
        remedy,
        said=" ".join(_texts(body)) or text,
        status=status,
        generated=generated if isinstance(generated, str) else "",
        **more,
    )


def status_failure(
    server: ModelServer, status: int, body: Any, text: str, code: str = ""
) -> ModelError:
    """Our error for an HTTP status that is one. `body`: the parsed JSON, if it is; `text`: what
    else is known; `code`: the server's name for the error.
    """
    detail = server.clean(explanation(body) or text)
    kind: type[ModelError] = ModelUnavailable
    cause: FailureCause = ""
    values: dict[str, Any] = {"server": server.name, "model": server.model}
    if code in _FILTERED:
        kind, message, remedy = (
            ModelRefused,
            f"the content filter of {server.name} declined the request",
            "word the request differently",
        )
    elif code in _TOO_LONG or (status in {400, 413, 422, 500} and _CONTEXT.search(detail)):
        return _too_long(server, detail)
    elif status in {401, 407}:
        kind = AccessRefused
        message = f"{server.name} refused the API key ({status})"  # what it says may quote the key
        remedy = "check OPENAI_API_KEY, and that it belongs to OPENAI_BASE_URL"
    elif status == 403:
        kind = AccessRefused
        message = f"{server.name} refused access with this API key (403): {detail}"
        remedy = f"check what OPENAI_API_KEY may use, and OPENAI_MODEL={server.model}"
    elif status == 404:
        message = f"{server.name} does not know the model {server.model} (404): {detail}"
        remedy = "set OPENAI_MODEL to a model that the server has, and check OPENAI_BASE_URL"
        cause = "unknown_model"
        if code != "model_not_found":
            return _refused(message, remedy, body, text, status, cause=cause, **values)
    elif status == 429 and code in _NO_QUOTA:
        kind, message, remedy = (
            AccessRefused,
            f"the account behind OPENAI_API_KEY has no quota left at {server.name}",
            "check its plan and billing",
        )
        cause = "no_quota"
    elif status == 429:
        message = f"{server.name} keeps answering 429, too many requests: {detail}"
        remedy, cause = "wait a little, or raise OPENAI_MAX_RETRIES", "overloaded"
    elif status in {400, 405, 422, 501}:
        message = f"{server.name} does not take the request ({status}): {detail}"
        return _refused(message, f"check OPENAI_MODEL={server.model}", body, text, status, **values)
    else:
        answers, cause = "keeps answering" if status >= 500 else "answers", "failing"
        message, remedy = (
            f"{server.name} {answers} {status}: {detail}",
            "try again later; check the server at OPENAI_BASE_URL",
        )
        # llama.cpp refuses tools that it is not set up for with 500.
        if status >= 500 and _FORM.search(" ".join(_texts(body)) or text):
            return _refused(message, remedy, body, text, status, **values)
    return kind(message, remedy, cause=cause, **values)


def _too_long(server: ModelServer, detail: str) -> TooLong:
    return TooLong(
        f"the prompt is longer than {server.model} takes: {detail}",
        f"ask for less, begin a new conversation, raise {CONTEXT_LENGTH}, or set another "
        "OPENAI_MODEL",
        model=server.model,
    )
