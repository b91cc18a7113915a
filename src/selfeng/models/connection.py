"""The connection to one model on one server: single calls, metered, bounded by the turn's budget,
with failures translated.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from functools import cached_property, partial
from typing import Any, TypeVar

from selfeng.core.bounded_reply import LARGEST, ReplyTooLarge
from selfeng.core.daemon_threads import call_by_size
from selfeng.core.errors import ModelRefused, ModelReplyInvalid, ModelUnavailable
from selfeng.core.events import ModelAskedAgain, ModelSilent, ThoughtAloud
from selfeng.core.tracing import chat
from selfeng.core.turn import Budget
from selfeng.models.chat import (
    ChatRequest,
    ModelReply,
    Piece,
    Pieces,
    Provider,
    ReceivedCalls,
    Tokens,
    asked_again,
)
from selfeng.models.model_failures import (
    CONTEXT_LENGTH,
    AccessRefused,
    NoAnswer,
    RequestRefused,
    TooLong,
    broken_off,
    interrupted,
    unreadable,
)
from selfeng.models.pricing import Meter, Price
from selfeng.models.thoughts import Thoughts

log = logging.getLogger(__name__)

ResultT = TypeVar("ResultT")

_PROBE = 5.0
"""Seconds that a server may take to list its models."""
_SILENT = 10.0
"""Seconds without a piece of a reply after which the turn is notified; with a short time-out, a
third of it.
"""
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
        provider: Provider,
        *,
        price: Price,
        attempts: int = 1,
        unopened: bool = True,
        news: Callable[[], None] = lambda: None,
    ) -> None:
        """`attempts`: how often the provider sends a request before it gives up. `unopened`: the
        model may think first, without a tag that opens its thoughts. A streamed reply is then held
        back until it is clear; what the first one shows is remembered. `news` is called when it
        shows whether the server can be used.
        """
        self.provider, self._price, self._attempts = provider, price, attempts
        self.server = provider.server
        self._unopened = unopened and not self.server.openai
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
        self._takes_cap = True

    async def probe(self) -> None:
        """Find out whether the server answers, by its list of models, which costs nothing. The
        results of calls take precedence, unless nothing answers at all.
        """
        try:
            await self.provider.models(_PROBE)
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
        await budget.look()
        with self._metered(request, budget) as meter:
            pieces = await self._opened(request, budget, budget.tokens_left - meter.tokens.input)
            piece, received = await anext(pieces), ReceivedCalls()
            meter.count(piece.text + piece.thought + received.take(piece.calls))
            meter.report(piece.usage)
            await pieces.aclose()
            if piece.error:
                raise piece.error
            self._check_end(piece.finish, piece.refusal)
            heard = list[str]()
            thoughts = Thoughts(heard.append, unopened=True)
            thoughts.hear(piece.thought)
            text = await call_by_size(len(piece.text), thoughts.feed, piece.text)
            text += thoughts.finish()
            if not text.strip() and not received.calls:
                text = thoughts.text  # some servers take the whole reply for a thought
            else:
                self._tell(request, budget)("".join(heard).rstrip())
            if piece.finish == "cap":
                raise budget.out_of_tokens()
            return ModelReply(text=text, calls=received.calls, cut_off=piece.finish == "length")

    async def _gathered(self, request: ChatRequest, budget: Budget) -> ModelReply:
        apart = ReceivedCalls()
        spoken_text = "".join([piece async for piece in self.stream(request, budget, apart)])
        text = spoken_text if spoken_text.strip() or apart.calls else apart.thoughts
        return ModelReply(text=text, calls=apart.calls, cut_off=apart.cut_off)

    async def stream(
        self, request: ChatRequest, budget: Budget, apart: ReceivedCalls | None = None
    ) -> AsyncGenerator[str, None]:
        """The reply's text as it comes; its calls of functions go to `apart`. Raises: the errors of
        `complete`; without `apart`, at the end if the reply was cut off or is empty.
        """
        await budget.look()
        with self._metered(request, budget) as meter:
            pieces = await self._send(request, budget, streamed=True)
            thoughts = Thoughts(self._tell(request, budget), unopened=self._unopened)
            spoken_text, refusal, finish, size = "", "", "", 0
            try:
                while piece := await self._guarded(
                    lambda: anext(pieces, None), budget, request.prompt
                ):
                    finish = piece.finish or finish
                    refusal += piece.refusal
                    called = apart.take(piece.calls) if apart else ""
                    meter.count(arrived := f"{piece.text}{piece.refusal}{piece.thought}{called}")
                    meter.report(piece.usage)
                    if piece.error:
                        raise piece.error
                    size += _size(piece, arrived)
                    if size > LARGEST:
                        raise unreadable(self.server, str(ReplyTooLarge()))
                    if arrived:
                        self._check_running(meter, budget)
                    thoughts.hear_apart(piece.thought)
                    spoken = thoughts.feed(piece.text)
                    spoken_text += spoken
                    if apart and (spoken or called):
                        budget.hear(apart.arguments or spoken_text)
                    if spoken:
                        yield spoken
            finally:
                await pieces.aclose()
            if spoken := thoughts.finish():
                spoken_text += spoken
                yield spoken
            self._check_end(finish, refusal)
            if finish == "length" and not apart:
                raise self.cut_off()
            if not finish:
                raise interrupted(self.server, "it ended without an end mark")
            if spoken_text.strip() and request.plain:  # a grammar would suppress thoughts
                self._unopened = thoughts.were_unopened
            if apart:
                apart.cut_off, apart.thoughts = finish == "length", thoughts.text
            elif not spoken_text.strip():
                if "```" not in thoughts.text:
                    raise self._nothing_said(thoughts.text)
                yield thoughts.text  # some servers take the whole reply for a thought

    async def forward(
        self, body: Mapping[str, Any], budget: Budget, path: str
    ) -> AsyncGenerator[tuple[int, str] | bytes, None]:
        """See `LLMClient.forward`."""
        await budget.look()
        budget.check(paid=not budget.limits_cost or self._paid)
        meter, reply = Meter(ChatRequest(messages=(body,))), b""
        try:
            async with aclosing(self.provider.forward(body, path=path)) as pieces:
                async for piece in pieces:
                    reply += piece if isinstance(piece, bytes) else b""
                    yield piece
        finally:
            if reply:
                meter.take(reply)
                budget.charge(meter.tokens.input, meter.tokens.output, self._cost(meter.tokens))

    def cut_off(self) -> ModelReplyInvalid:
        """The error for a reply that the length limit ended."""
        return ModelReplyInvalid(
            f"the reply of {self.server.model} was cut off by its length limit",
            f"ask for less at once, or raise the server's limit: {CONTEXT_LENGTH}, or max_tokens",
            model=self.server.model,
        )

    def _nothing_said(self, thoughts: str) -> ModelReplyInvalid:
        if thoughts.strip():
            return ModelReplyInvalid(
                f"{self.server.model} only thought aloud and replied nothing",
                "try again, let it think less, or set another OPENAI_MODEL",
                model=self.server.model,
            )
        return ModelReplyInvalid(
            f"the reply of {self.server.model} is empty",
            "try again, or set another OPENAI_MODEL",
            model=self.server.model,
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
        budget.check(paid=not budget.limits_cost or self._paid)
        meter, started, answered = (
            Meter(request, uses_tokens=self.server.uses_tokens),
            time.monotonic(),
            False,
        )
        tokens: Tokens | None = None
        try:
            with chat(self.server, request.prompt) as span:
                try:
                    yield meter
                except RecursionError:
                    raise unreadable(self.server, "it is nested too deeply") from None
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
            tokens.input + tokens.output,
            (self._cost(tokens) or None) if budget.limits_cost else None,
        )

    @cached_property
    def _paid(self) -> bool:
        return bool(self._cost(Tokens(input=1000, output=1000)))

    def _cost(self, tokens: Tokens) -> float | None:
        return self._price(self.server.model, self.server.base_url, tokens)

    async def _opened(self, request: ChatRequest, budget: Budget, tokens_left: int) -> Pieces:
        """A whole reply, which may be capped at the `tokens_left` of the turn."""
        cap = max(1, tokens_left) if tokens_left < _CAPPED_BELOW and self._takes_cap else None
        try:
            return await self._send(request, budget, cap=cap)
        except TooLong:
            if cap is None:
                raise
            pieces = await self._send(request, budget)
            self._takes_cap = False  # as it was the reason
            return pieces

    async def _send(
        self,
        request: ChatRequest,
        budget: Budget,
        *,
        streamed: bool = False,
        cap: int | None = None,
    ) -> Pieces:
        guard = partial(
            self._guarded, budget=budget, prompt=request.prompt, attempts=self._attempts
        )
        token = asked_again.set(
            lambda attempt: budget.tell(ModelAskedAgain(attempt=attempt, prompt=request.prompt))
        )
        try:
            return await self.provider.send(request, guard, streamed=streamed, cap=cap)
        finally:
            asked_again.reset(token)

    async def _guarded(
        self,
        step: Callable[[], Awaitable[ResultT]],
        budget: Budget,
        prompt: str,
        attempts: int = 1,
    ) -> ResultT:
        """Run one step of a call within what is left of the turn's seconds; if it takes long, the
        turn is notified.
        """
        if not (seconds_left := budget.seconds_left):
            raise budget.out_of_seconds()
        timeout = self.server.timeout
        seconds = min(_SILENT, timeout / 3)
        silent = ModelSilent(seconds=seconds, timeout=timeout, attempts=attempts, prompt=prompt)
        watch = asyncio.get_running_loop().call_later(seconds, budget.tell, silent)
        try:
            async with asyncio.timeout(seconds_left):
                return await step()
        except TimeoutError as error:
            raise budget.out_of_seconds() from error
        finally:
            watch.cancel()

    def _check_end(self, finish: str, refusal: str) -> None:
        """Raises: ModelRefused, ModelUnavailable."""
        if refusal:
            raise ModelRefused(
                f"{self.server.model} declined: {self.server.clean(refusal)}",
                "word the request differently",
                model=self.server.model,
            )
        if finish == "content_filter":
            raise ModelRefused(
                f"a content filter cut off the reply of {self.server.model}",
                "word the request differently",
                model=self.server.model,
            )
        if finish == "error":  # how a gateway reports trouble at the provider behind it
            raise broken_off(self.server)


def _size(piece: Piece, arrived: str) -> int:
    """Bytes that a piece counts for."""
    ids = "".join(call.id for call in piece.calls)
    return len(f"{arrived}{ids}".encode(errors="replace")) or _NO_TEXT
