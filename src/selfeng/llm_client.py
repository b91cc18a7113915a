"""The model client: text, typed values and function calls from a chat model behind a
provider's API, by default that of OpenAI-compatible servers.
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from selfeng.core.errors import ModelUnavailable
from selfeng.core.model_server import APIS, OPENAI, ModelServer
from selfeng.core.packages import provided
from selfeng.core.pictures import Sight
from selfeng.core.prompt import FunctionCall, FunctionSchema, Prompt
from selfeng.core.protocols import ReplyT
from selfeng.core.settings import Settings
from selfeng.core.turn import Budget
from selfeng.models.chat import ChatRequest, Memory, Provider, Tokens, messages_of
from selfeng.models.pricing import Price, free, listed_price

if TYPE_CHECKING:
    from selfeng.models.abilities import Ability
    from selfeng.models.connection import ModelConnection

OFFLINE_MODEL = "offline"
"""The name of the model, and of the entry point that provides it."""
GROUP = "selfeng.models"
"""Entry points of installed packages: see `Provider`."""
_NO_KEY = "none"  # local servers want no key, and the SDK wants one


def provider_named(name: str) -> Callable[[ModelServer, int], Provider]:
    """The provider for a value of OPENAI_API, to be called with the server and the number of
    retries. Raises: ConfigurationError: there is none.
    """
    if name in APIS:
        return openai_compatible
    make: Callable[[ModelServer, int], Provider] = provided(GROUP, name, "OPENAI_API", APIS)
    return make


def openai_compatible(server: ModelServer, max_retries: int) -> Provider:
    from selfeng.models.transport import Transport

    return Transport(server, max_retries)


class LLMClient:
    """A `ModelClient` on a provider; remembers which strategies the server refuses.

    The SDK takes as long to import as everything else together, so it is imported for the first
    call.

    429, 5xx and broken connections are retried `max_retries` times with growing pauses. `timeout`
    is in seconds: until a whole reply comes, or between two pieces of a streamed one. Belongs to
    one event loop.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str | None = None,
        base_url: str | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
        api: str = "auto",
        timeout: float = 60.0,
        max_retries: int = 3,
        price: Price = listed_price,
        unopened: bool = True,
        provider: Callable[[ModelServer, int], Provider] = openai_compatible,
        news: Callable[[], None] = lambda: None,
    ) -> None:
        """`headers` are sent with every request; `unopened`: the model may think without a tag
        before its thoughts, so that its first streamed reply is held back; `provider` is made for
        the first call, from the server and `max_retries`; `news` is called when it shows whether
        the server can be used.
        """
        self._server = ModelServer(
            base_url=base_url or OPENAI,
            model=model,
            api_key=api_key or _NO_KEY,
            timeout=timeout,
            headers=headers,
            api=api,
        )
        self._max_retries, self._price = max_retries, price
        self._unopened, self._provider, self._news = unopened, provider, news
        self._structured, self._choice = Memory(), Memory()
        self._sight: Sight | None = None

    @classmethod
    def from_settings(
        cls, settings: Settings, news: Callable[[], None] = lambda: None
    ) -> "LLMClient":
        """The client of the model that the settings name. Raises: ConfigurationError."""
        client = partial(
            cls,
            timeout=settings.openai_timeout,
            max_retries=settings.openai_max_retries,
            news=news,
        )
        if settings.offline:
            provider = provider_named(OFFLINE_MODEL)
            return client(model=OFFLINE_MODEL, price=free, unopened=False, provider=provider)
        key = settings.openai_api_key
        return client(
            model=settings.openai_model,
            api_key=key.get_secret_value() if key else None,
            base_url=settings.openai_base_url,
            headers=settings.headers,
            api=settings.openai_api,
            provider=provider_named(settings.openai_api),
        )

    @property
    def model(self) -> str:
        return self._server.model

    @property
    def server(self) -> str:
        """The base URL, without credentials."""
        return self._server.name

    @property
    def trouble(self) -> ModelUnavailable | None:
        """Why the server gave no reply the last time; None if it did, or was not asked."""
        return self._connection.trouble if "_connection" in vars(self) else None

    @property
    def answers(self) -> bool:
        """Whether the server has answered, and answers still as far as is known."""
        return "_connection" in vars(self) and self._connection.answers

    @cached_property
    def _connection(self) -> "ModelConnection":
        from selfeng.models.connection import ModelConnection

        provider = self._provider(self._server, self._max_retries)
        return ModelConnection(
            provider,
            price=self._price,
            attempts=self._max_retries + 1,
            unopened=self._unopened,
            news=self._news,
        )

    def warm_up(self) -> None:
        """Import what the first call needs. Blocks for about a second: call it in a thread."""
        from selfeng.models import function_choice, reply_form, transport

        _ = function_choice, reply_form, transport
        self._price("", "", Tokens(input=0, output=0))

    async def aclose(self) -> None:
        if "_connection" in vars(self):
            await self._connection.provider.aclose()

    async def models(self, patience: float | None = None) -> tuple[str, ...]:
        """Ids of the models on the server; costs nothing. `patience` is in seconds, without
        retries. Raises: ModelUnavailable.
        """
        return tuple([model.id for model in await self._connection.provider.models(patience)])

    async def probe(self) -> None:
        """Find out whether the server answers; costs nothing. See `answers` and `trouble`."""
        await self._connection.probe()

    async def forward(
        self, body: Mapping[str, Any], budget: Budget, *, path: str = "/chat/completions"
    ) -> AsyncGenerator[tuple[int, str] | bytes, None]:
        """Send a request of another program as it is, but to this model; gives the status and the
        media type of the reply first, then its bytes as they come. `path` is below the base URL:
        `/chat/completions` or `/responses`. Raises: ModelError, BudgetExceeded.
        """
        async with aclosing(self._connection.forward(body, budget, path)) as pieces:
            async for piece in pieces:
                yield piece

    async def abilities(self, budget: Budget) -> AsyncGenerator["Ability", None]:
        """Find out the server's abilities, by up to nine calls. Raises: ModelError."""
        from selfeng.models.abilities import abilities

        async for ability in abilities(self._connection, budget):
            yield ability

    async def sight(self, budget: Budget) -> Sight:
        """Whether the model sees pictures, found out by one call of each client. Raises:
        ModelError, BudgetExceeded.
        """
        if self._sight is None:
            from selfeng.models.abilities import sight

            ability, server = await sight(self._connection, budget), self._connection.server
            network = () if server.near else (server.access("see the pictures"),)
            self._sight = Sight(model=server.model, problem=ability.detail, needs=network)
        return self._sight

    async def stream(self, prompt: Prompt, budget: Budget) -> AsyncGenerator[str, None]:
        """The reply as text, piece by piece; leaving the iteration early closes the connection.

        Raises:
            ModelReplyInvalid: at the end: the reply was cut off by the length limit, or is empty.
            ModelUnavailable, ModelRefused, BudgetExceeded: see `ModelClient`.
        """
        async with aclosing(
            self._connection.stream(
                ChatRequest(messages=messages_of(prompt), prompt=prompt.name), budget
            )
        ) as pieces:
            async for piece in pieces:
                yield piece

    async def structured(self, prompt: Prompt, reply: type[ReplyT], budget: Budget) -> ReplyT:
        """The reply as a value of the given type. Raises: ModelError, BudgetExceeded."""
        from selfeng.models import ladder, reply_form

        return await ladder.ask(
            self._connection, prompt, reply_form.strategies_for(reply), self._structured, budget
        )

    async def choose(
        self, prompt: Prompt, functions: Sequence[FunctionSchema], budget: Budget
    ) -> FunctionCall:
        """The one function that the model calls, always one of `functions`. Raises: ModelError,
        BudgetExceeded.
        """
        from selfeng.models import function_choice, ladder

        return await ladder.ask(
            self._connection,
            prompt,
            function_choice.strategies_for(functions),
            self._choice,
            budget,
        )
