"""The connection to one model on one server: single calls, metered, bounded by the turn's budget,
with failures translated.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from openai import OpenAIError
from openai.types.chat import ChatCompletion

from selfeng.core.bounded_reply import LARGEST, ReplyTooLarge
from selfeng.core.errors import ModelError, ModelRefused, ModelReplyInvalid, ModelUnavailable
from selfeng.core.events import ThoughtAloud
from selfeng.core.model_server import ModelServer
from selfeng.core.tracing import chat
from selfeng.core.turn import Budget
from selfeng.models.chat import ChatRequest, ModelReply
from selfeng.models.chunks import Chunks, OneChunk
from selfeng.models.model_failures import (
    CONTEXT_LENGTH,
    AccessRefused,
    NoAnswer,
    RequestRefused,
    TooLong,
    cause,
    explanation,
    failure,
)
from selfeng.models.pricing import Meter, Price, Tokens
from selfeng.models.received import (
    StreamedCalls,
    calls_of,
    context_length_in,
    text_of,
    thoughts_of,
)
from selfeng.models.thoughts import Thoughts
from selfeng.models.transport import Guard, ServerReply, Transport

log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")

_STREAMING: Mapping[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}
_CAPS = {"max_tokens", "max_completion_tokens"}
_PROBE = 5.0
"""Seconds that a server may take to list its models."""
_NO_TEXT = 128
"""Bytes that a chunk without text counts for."""
_CAPPED_BELOW = 4096
"""Tokens. A turn may have more left, but hardly any reply is that long, and models with a smaller
window would refuse the number.
"""


class ModelConnection:
    """Sends requests to one model; every call is checked against the budget first and charged to it
    afterwards.
    """

    def __init__(
        self,
        server: ModelServer,
        *,
        max_retries: int,
        price: Price,
        unopened: bool = True,
        news: Callable[[], None] = lambda: None,
    ) -> None:
        """`unopened`: the model may think first, without a tag that opens its thoughts. A streamed
        reply is then held back until it is clear; what the first one shows is remembered. `news` is
        called when it shows whether the server can be used.
        """
        self.server, self._price = server, price
        self._unopened = unopened and not server.openai
        """Whether streams may begin with thoughts that no tag opens."""
        self._calls = 0
        self.trouble: ModelUnavailable | None = None
        """Why the server gave no reply the last time; None if it did, or was not asked."""
        self.answers = False
        """Whether the server has answered at all, and answers still as far as is known."""
        self._served, self._news = False, news
        self._streams_calls = True
        self.reports_usage = False
        """Whether the last reply came with the server's own count of tokens."""
        self._cap = "max_completion_tokens" if server.openai else "max_tokens"
        """The field that limits the length of a reply. OpenAI's newer models refuse its older name,
        which may be all that other servers know.
        """
        self._takes_cap = True
        self._transport = Transport(server, max_retries=max_retries)

    @property
    def habits(self) -> tuple[str, ...]:
        """How requests to this server differ from the usual, for people."""
        return self._transport.habits

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def models(self, patience: float | None = None) -> tuple[str, ...]:
        """Ids of the models on the server; `patience` is in seconds, without retries. Raises:
        ModelUnavailable.
        """
        return tuple([model.id for model in await self._transport.models(patience)])

    async def probe(self) -> None:
        """Find out whether the server answers, by its list of models, which costs nothing. What a
        call has shown counts more, unless nothing answers at all.
        """
        try:
            await self._transport.models(_PROBE)
        except NoAnswer as error:
            self._hear(error)
        except AccessRefused as error:  # some keys may not list models
            if not self._served:
                self._hear(error)
        except ModelUnavailable:  # some servers have no list, and answer all the same
            self._hear_answer()
        else:
            self._hear_answer()

    def _hear(self, trouble: ModelUnavailable | None) -> None:
        before = self.answers, str(self.trouble)
        self.trouble, self.answers = trouble, not isinstance(trouble, NoAnswer)
        if (self.answers, str(self.trouble)) != before:
            self._news()

    def _hear_answer(self) -> None:
        self._hear(None if isinstance(self.trouble, NoAnswer) else self.trouble)

    async def context_length(self) -> int | None:
        """Tokens of prompt and reply together, if the server tells them. Raises:
        ModelUnavailable.
        """
        listed = await self._transport.models()
        candidates = [model for model in listed if model.id == self.server.model] or listed[:1]
        return next(iter([context_length_in(model.model_extra) for model in candidates]), None)

    def forward(
        self, body: Mapping[str, Any], *, path: str
    ) -> AsyncGenerator[tuple[int, str] | bytes, None]:
        """See `LLMClient.forward`."""
        return self._transport.forward(body, path=path)

    async def complete(self, request: ChatRequest, budget: Budget) -> ModelReply:
        """One reply, complete or cut off.

        Raises:
            RequestRefused: the server does not take the request in this form.
            ModelReplyInvalid: the reply holds no message.
            ModelUnavailable, ModelRefused, BudgetExceeded: see `ModelClient`.
        """
        try:
            return await self._replied(request, budget)
        except RequestRefused as refusal:
            if not refusal.generated:
                raise
            return ModelReply(text=refusal.generated)

    async def _replied(self, request: ChatRequest, budget: Budget) -> ModelReply:
        if request.streamed and self._streams_calls:
            try:
                return await self._gathered(request, budget)
            except RequestRefused as refusal:
                if refusal.generated:
                    raise
                unstreamed_request = request.model_copy(update={"streamed": False})
                reply = await self.complete(unstreamed_request, budget)
                self._streams_calls = False
                return reply
        with self._metered(request, budget) as meter:
            response, capped = await self._completed(
                request, budget, budget.tokens_left - meter.tokens.input
            )
            if not response.choices or not response.choices[0].message:
                meter.report(response.usage)
                raise self._without_choices(response)
            choice, content = response.choices[0], text_of(response.choices[0].message.content)
            cut_off = choice.finish_reason == "length"
            calls, aloud = calls_of(choice.message), thoughts_of(choice.message)
            meter.count(content + aloud + "".join(str(call.arguments) for call in calls))
            meter.report(response.usage)
            error = (choice.model_extra or {}).get("error")
            self._check_end(choice.finish_reason, text_of(choice.message.refusal), error)
            heard = list[str]()
            thoughts = Thoughts(heard.append, unopened=True)
            thoughts.hear(aloud)
            text = await asyncio.to_thread(thoughts.feed, content) + thoughts.finish()
            if not text.strip() and not calls:
                text = thoughts.text  # some servers take the whole reply for a thought
            else:
                self._tell(request, budget)("".join(heard).rstrip())
            reply = ModelReply(text=text, calls=calls, cut_off=cut_off)
            if capped and cut_off:
                raise budget.out_of_tokens()
            return reply

    async def _gathered(self, request: ChatRequest, budget: Budget) -> ModelReply:
        """The whole reply, from its pieces."""
        apart = StreamedCalls()
        spoken_text = "".join([piece async for piece in self.stream(request, budget, apart)])
        text = spoken_text if spoken_text.strip() or apart.calls else apart.thoughts
        return ModelReply(text=text, calls=apart.calls, cut_off=apart.cut_off)

    async def stream(
        self, request: ChatRequest, budget: Budget, apart: StreamedCalls | None = None
    ) -> AsyncGenerator[str, None]:
        """The reply's text as it comes; its calls of functions go to `apart`. Raises: the errors of
        `complete`; without `apart`, at the end if the reply was cut off or is empty.
        """
        with self._metered(request, budget) as meter:
            chunks = await self._open(request, budget)
            thoughts = Thoughts(self._tell(request, budget), unopened=self._unopened)
            spoken_text, refusal, finish, size = "", "", None, 0
            try:
                while (
                    chunk := await self._guarded(
                        lambda: anext(chunks, None), budget, midway=meter.started
                    )
                ) is not None:
                    choice = chunk.choices[0] if chunk.choices else None
                    delta = choice.delta if choice else None
                    finish = (choice.finish_reason if choice else None) or finish
                    declined, piece = (
                        (text_of(delta.refusal), text_of(delta.content)) if delta else ("", "")
                    )
                    refusal += declined
                    aloud = thoughts_of(delta)
                    called = apart.take(delta) if apart and delta else ""
                    meter.count(arrived := piece + declined + aloud + called)
                    meter.report(chunk.usage)
                    ids = "".join(call.id or "" for call in (delta and delta.tool_calls) or ())
                    size += len(f"{arrived}{ids}".encode(errors="replace")) or _NO_TEXT
                    if size > LARGEST:
                        raise self._translated(ReplyTooLarge())
                    if arrived:
                        self._check_running(meter, budget)
                    thoughts.hear_apart(aloud)
                    if spoken := thoughts.feed(piece):
                        spoken_text += spoken
                        yield spoken
            finally:
                await chunks.close()
            if spoken := thoughts.finish():
                spoken_text += spoken
                yield spoken
            self._check_end(finish, refusal)
            if finish == "length" and not apart:
                raise self.cut_off()
            if not finish and not chunks.announced:
                raise ModelUnavailable(
                    f"the reply of {self.server.name} broke off: it ended without an end mark",
                    "try again",
                )
            if spoken_text.strip() and not request.options:  # a grammar would suppress thoughts
                self._unopened = thoughts.were_unopened
            if apart:
                apart.cut_off, apart.thoughts = finish == "length", thoughts.text
            elif not spoken_text.strip():
                if "```" not in thoughts.text:
                    raise self._nothing_said(thoughts.text)
                yield thoughts.text  # some servers take the whole reply for a thought

    def cut_off(self) -> ModelReplyInvalid:
        """The error for a reply that the length limit ended."""
        return ModelReplyInvalid(
            f"the reply of {self.server.model} was cut off by its length limit",
            f"ask for less at once, or raise the server's limit: {CONTEXT_LENGTH}, or max_tokens",
        )

    def _nothing_said(self, thoughts: str) -> ModelReplyInvalid:
        if thoughts.strip():
            return ModelReplyInvalid(
                f"{self.server.model} only thought aloud and replied nothing",
                "try again, let it think less, or set another OPENAI_MODEL",
            )
        return ModelReplyInvalid(
            f"the reply of {self.server.model} is empty", "try again, or set another OPENAI_MODEL"
        )

    def _tell(self, request: ChatRequest, budget: Budget) -> Callable[[str], None]:
        """Tells the turn what the model thinks aloud in one call."""
        self._calls += 1
        thought = ThoughtAloud(text="", call=self._calls, prompt=request.prompt)

        def tell(text: str) -> None:
            if text:
                budget.tell(thought.model_copy(update={"text": text}))

        return tell

    @contextmanager
    def _metered(self, request: ChatRequest, budget: Budget) -> Iterator[Meter]:
        """Check the budget; then charge the call, however it ends, by what is known of it."""
        budget.check()
        meter, started, answered = Meter(request), time.monotonic(), False
        tokens: Tokens | None = None
        try:
            with chat(self.server, request.prompt) as span:
                try:
                    yield meter
                except RecursionError as error:
                    raise self._translated(error) from None
                finally:
                    span.set_attribute("gen_ai.usage.input_tokens", meter.tokens.input)
                    span.set_attribute("gen_ai.usage.output_tokens", meter.tokens.output)
        except RequestRefused as refusal:
            if refusal.generated:
                meter.count(refusal.generated)
                tokens = meter.tokens
            raise  # else no model received it: nothing to charge
        except ModelUnavailable as error:
            self._hear(error)
            tokens = meter.tokens if meter.started else Tokens(input=0, output=0)
            raise
        except BaseException:
            tokens = meter.tokens
            raise
        else:
            self._served = answered = True
            self._hear(None)
            tokens = meter.tokens
        finally:
            log.info(
                "model call %s: %s %s, %d tokens in, %d out, %.1f s",
                request.prompt,
                self.server.model,
                "replied" if answered else "failed",
                meter.tokens.input,
                meter.tokens.output,
                time.monotonic() - started,
            )
            self.reports_usage = meter.reported
            if tokens is not None:
                budget.charge(tokens.input, tokens.output, self._cost(tokens))

    def _check_running(self, meter: Meter, budget: Budget) -> None:
        """Raises: BudgetExceeded: this call, as far as it got, exceeds the budget."""
        tokens = meter.tokens
        budget.check_running(
            tokens.input + tokens.output, None if budget.limits.cost is None else self._cost(tokens)
        )

    def _cost(self, tokens: Tokens) -> float | None:
        return self._price(self.server.model, self.server.base_url, tokens)

    async def _sent(
        self, request: ChatRequest, budget: Budget, options: Mapping[str, Any]
    ) -> ServerReply:
        body = {
            "model": self.server.model,
            "messages": list(request.messages),
            **request.options,
            **options,
        }
        guard: Guard = partial(self._guarded, budget=budget)
        return await self._transport.send(body, request.prompt, guard)

    async def _completed(
        self, request: ChatRequest, budget: Budget, tokens_left: int
    ) -> tuple[ChatCompletion, bool]:
        """The whole response, and whether it was capped at the `tokens_left` of the turn."""
        cap = (
            {self._cap: max(1, tokens_left)}
            if tokens_left < _CAPPED_BELOW and self._takes_cap
            else {}
        )
        try:
            reply = await self._sent(request, budget, cap)
        except TooLong:
            if not cap:
                raise
            reply = await self._sent(request, budget, {})
            self._takes_cap = False  # as it was the reason
        content = reply.content
        assert not isinstance(content, Chunks)
        return content, bool(_CAPS & reply.request.keys())

    async def _open(self, request: ChatRequest, budget: Budget) -> Chunks | OneChunk:
        """The chunks of the reply; one, where the server does not stream."""
        content = (await self._sent(request, budget, _STREAMING)).content
        return content if isinstance(content, Chunks) else OneChunk(content)

    async def _guarded(
        self, step: Callable[[], Awaitable[ResultT]], budget: Budget, *, midway: bool = False
    ) -> ResultT:
        """Run one step of a call within what is left of the turn's seconds, with failures
        translated.
        """
        try:
            if not (seconds_left := budget.seconds_left):
                raise budget.out_of_seconds()
            async with asyncio.timeout(seconds_left) as limit:
                return await step()
        except TimeoutError as error:
            raise (
                budget.out_of_seconds()
                if limit.expired()
                else self._translated(error, midway=midway)
            ) from error
        except (OpenAIError, ValueError) as error:  # ValueError: the stream's data is not JSON
            raise self._translated(error, midway=midway) from cause(error, self.server)

    def _translated(self, error: Exception, *, midway: bool = False) -> ModelError:
        return failure(error, self.server, midway=midway)

    def _check_end(self, finish: str | None, refusal: str, error: Any = None) -> None:
        """Raises: ModelRefused, ModelUnavailable."""
        if refusal:
            raise ModelRefused(
                f"{self.server.model} declined: {self.server.clean(refusal)}",
                "word the request differently",
            )
        if finish == "content_filter":
            raise ModelRefused(
                f"a content filter cut off the reply of {self.server.model}",
                "word the request differently",
            )
        if finish == "error":  # how a gateway reports trouble at the provider behind it
            detail = self.server.clean(explanation(error))
            message = f"{self.server.name} broke off its reply"
            raise ModelUnavailable(f"{message}: {detail}" if detail else message, "try again")

    def _without_choices(self, response: ChatCompletion) -> ModelError:
        """Some gateways answer 200 with an error of the provider behind them."""
        if not (error := (response.model_extra or {}).get("error")):
            return ModelReplyInvalid(
                f"the reply of {self.server.model} holds no message",
                "try again, or set another OPENAI_MODEL",
            )
        detail = explanation(error) or str(error)
        return ModelUnavailable(
            f"{self.server.name} answers with an error: {self.server.clean(detail)}",
            "try again later",
        )
