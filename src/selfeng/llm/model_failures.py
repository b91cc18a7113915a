"""Failures between us and the model's server, as errors of ours that say what to check and never
show the key.
"""

import re
from collections.abc import Mapping

from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from selfeng.core.errors import ModelError, ModelRefused, ModelUnavailable
from selfeng.core.model_server import ModelServer

_FILTERED = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
_TOO_LONG = {"context_length_exceeded", "string_above_max_length"}
_NO_QUOTA = {"insufficient_quota", "billing_hard_limit_reached"}
_FORM = re.compile(
    r"tools param|param: tools|tool_choice|response_format|json_schema|jinja|stream_options|"
    r"parse grammar|initialize samplers"
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
"""What limits prompt and reply together, by the names of the usual servers."""


class NoAnswer(ModelUnavailable):
    """Nothing answers at the server's address, or not in time."""


class AccessRefused(ModelUnavailable):
    """The server refuses the key, or the account behind it may not use the model."""

    cause = "no_access"


class RequestRefused(ModelUnavailable):
    """The server does not accept the request in this form; a plainer form may work."""

    cause = "rejected"


class TooLong(ModelUnavailable):
    """The prompt does not fit into the model's context; no plainer form would."""

    cause = "too_long"


def refuses(said: str) -> bool:
    """Whether an error of a server is about the form or the length of the request."""
    return bool(_FORM.search(said) or _CONTEXT.search(said))


def failure(error: Exception, server: ModelServer, *, midway: bool = False) -> ModelError:
    """Our error for an `error` of the SDK; `midway`: part of the reply had arrived."""
    match error:
        case APIStatusError():
            return _status_failure(error, server)
        case APITimeoutError():
            return NoAnswer(
                f"{server.name} did not {'continue' if midway else 'answer'} within "
                f"{server.timeout:g} seconds",
                "try again, use a faster model, or raise OPENAI_TIMEOUT",
            )
        case APIConnectionError() if not midway:
            reason = server.clean(str(error.__cause__ or error)) or type(error.__cause__).__name__
            return NoAnswer(
                f"{server.name} can't be reached: {reason}",
                "check that the server runs, the network, and OPENAI_BASE_URL",
            )
        case APIError() if _CONTEXT.search(error.message):
            return _too_long(server, server.clean(error.message))
        case APIError() if not isinstance(error, APIConnectionError):
            return ModelUnavailable(
                f"{server.name} broke off its reply: {server.clean(error.message)}", "try again"
            )
        case _:
            return ModelUnavailable(
                f"the reply of {server.name} broke off: "
                f"{server.clean(str(error.__cause__ or error))}",
                "try again",
            )


def cause(error: Exception, server: ModelServer) -> Exception | None:
    """`error` as the cause of ours, or None where a traceback would show the key."""
    chain: list[str] = []
    link: BaseException | None = error
    while link is not None:
        chain.append(f"{link} {link!r}")
        link = link.__cause__ or link.__context__
    return None if server.tells("".join(chain)) else error


def _status_failure(error: APIStatusError, server: ModelServer) -> ModelError:
    told = error.body.get("message") if isinstance(error.body, Mapping) else error.body
    said, status, code = (
        server.clean(str(told or error.message)),
        error.status_code,
        error.code or "",
    )
    kind: type[ModelError] = ModelUnavailable
    if code in _FILTERED:
        kind, message, remedy = (
            ModelRefused,
            f"the content filter of {server.name} declined the request",
            "word the request differently",
        )
    elif code in _TOO_LONG or (status in {400, 413, 422, 500} and _CONTEXT.search(said)):
        return _too_long(server, said)
    elif status in {401, 407}:
        kind = AccessRefused
        message = f"{server.name} refused the API key ({status})"  # what it says may quote the key
        remedy = "check OPENAI_API_KEY, and that it belongs to OPENAI_BASE_URL"
    elif status == 403:
        kind = AccessRefused
        message = f"{server.name} refused access with this API key (403): {said}"
        remedy = f"check what OPENAI_API_KEY may use, and OPENAI_MODEL={server.model}"
    elif status == 404:
        kind = ModelUnavailable if code == "model_not_found" else RequestRefused
        message = f"{server.name} does not know the model {server.model} (404): {said}"
        remedy = "set OPENAI_MODEL to a model that the server has, and check OPENAI_BASE_URL"
    elif status == 429 and code in _NO_QUOTA:
        kind, message, remedy = (
            AccessRefused,
            f"the account behind OPENAI_API_KEY has no quota left at {server.name}",
            "check its plan and billing",
        )
    elif status == 429:
        message = f"{server.name} keeps answering 429, too many requests: {said}"
        remedy = "wait a little, or raise OPENAI_MAX_RETRIES"
    elif status in {400, 422, 501}:
        kind, message = (
            RequestRefused,
            f"{server.name} does not take the request ({status}): {said}",
        )
        remedy = f"check OPENAI_MODEL={server.model}"
    else:
        # llama.cpp refuses tools that it is not set up for with 500.
        kind = RequestRefused if status >= 500 and _FORM.search(error.message) else ModelUnavailable
        answers = "keeps answering" if status >= 500 else "answers"
        message, remedy = (
            f"{server.name} {answers} {status}: {said}",
            "try again later; check the server at OPENAI_BASE_URL",
        )
    return kind(message, remedy)


def _too_long(server: ModelServer, said: str) -> TooLong:
    return TooLong(
        f"the prompt is longer than {server.model} takes: {said}",
        f"ask for less, begin a new conversation, raise {CONTEXT_LENGTH}, or set another "
        "OPENAI_MODEL",
    )
