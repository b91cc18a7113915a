"""The configuration: the settings that the engine works with, what people change of them while it
runs, and whether the model's server that they name can be used.
"""

import asyncio
import os
import re
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, aclosing
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError

from selfeng.core.changes import Changes
from selfeng.core.choices import write_choices
from selfeng.core.errors import RequestError
from selfeng.core.model_server import HIDDEN, OPENAI, shown_address, with_hidden_values
from selfeng.core.settings import CHANGEABLE, Settings
from selfeng.core.status import LocalServer, ModelStatus
from selfeng.core.turn import Budget
from selfeng.core.value import Value
from selfeng.llm_client import LLMClient

if TYPE_CHECKING:
    from selfeng.models.abilities import Ability

KEY, SERVER, MODEL = "openai_api_key", "openai_base_url", "openai_model"
_CONNECTION = (KEY, SERVER, MODEL, "openai_timeout", "openai_max_retries")
"""The settings that a client is made from."""
_PAUSE, _PAUSE_IN_TROUBLE = 60.0, 15.0
"""Seconds between probes."""
_LOOKS = 2
"""How often a process looks for local servers by itself: one may start at the same time, or answer
late while this one starts.
"""
_PATIENCE = 10.0
"""Seconds that a server may take to list its models for a person who waits."""
_NUMBERS = ("ge", "gt", "le", "lt")

Connect = Callable[[Settings, Callable[[], None]], LLMClient]
"""Makes a client for the settings, which calls the function with news."""


Look = Callable[[], Awaitable[tuple[LocalServer, ...]]]


async def _finding_nothing() -> tuple[LocalServer, ...]:
    return ()


class Problem(Value):
    """Why a setting can't have a value."""

    kind: str
    """Pydantic's name of the rule, or `credentials`, `address`, `fixed`."""
    message: str
    limit: float | None = None


class SettingsInvalid(RequestError):
    """Settings have values that are not allowed."""

    def __init__(self, problems: Mapping[str, Problem]) -> None:
        message = "; ".join(f"{name}: {problem.message}" for name, problem in problems.items())
        super().__init__(message, "correct the values; nothing was changed", cause="settings")
        self.problems = problems


class Elsewhere(Value):
    """A setting that only a restart changes."""

    name: Literal[
        "sandbox", "run_seconds", "embedder", "database", "data", "tools", "index", "address"
    ]
    variable: str
    value: str


class SettingsView(Value):
    """The settings, as a person sees them: without the key."""

    values: dict[str, Any]
    defaults: dict[str, Any]
    key_set: bool
    fixed: dict[str, Literal["environment", ".env", "key"]]
    """Where those were set that can't be changed; `key`: the server of a key, or of headers, that
    were set so."""
    elsewhere: tuple[Elsewhere, ...]


class Configuration:
    """The settings in use. A change makes a new client for the turns that begin from then on;
    running ones keep theirs. Belongs to one event loop.
    """

    def __init__(self, settings: Settings, connect: Connect, look: Look = _finding_nothing) -> None:
        """`look` finds model servers that run on this machine."""
        self.settings = settings
        """Those of the turns that begin now."""
        self._connect, self._look = connect, look
        self._local_servers: tuple[LocalServer, ...] = ()
        self._looks_left = _LOOKS
        self._clients = AsyncExitStack()
        self._changing, self._probing = asyncio.Lock(), asyncio.Lock()
        self.changed = Changes[[]]()
        """Told after each change, before anything else runs."""
        self.news = Changes[[]]()
        """Told when `status` may have changed."""
        self._next_probe = 0.0
        self.client = self._connected()
        """The client of the turns that begin now, unless their conversation has a model."""

    @property
    def status(self) -> ModelStatus:
        client, offline, fixed = self.client, self.settings.offline, self.settings.fixed
        trouble = client.trouble
        return ModelStatus(
            name=client.model,
            offline=offline,
            server="" if offline else client.server,
            answers=offline or client.answers,
            trouble=trouble.message if trouble else "",
            cause=trouble.cause if trouble else "",
            local_servers=self._local_servers if offline and not {SERVER, MODEL} & fixed else (),
        )

    def client_of(self, model: str) -> LLMClient:
        """The client of another model on the same server; "" names the configured model, and so
        does every name without a server.
        """
        if model in ("", self.client.model) or self.settings.offline:
            return self.client
        return self._connected(model)

    async def aclose(self) -> None:
        await self._clients.aclose()

    async def probe(self) -> None:
        """Find out whether the model's server answers, unless that was found out recently. Without
        one, look for servers on this machine, at the first times.
        """
        if self.settings.offline:
            if self._looks_left and not self._local_servers:
                await self.look()
            return
        if self._probing.locked() or time.monotonic() < self._next_probe:
            return
        async with self._probing:
            client = self.client
            await asyncio.to_thread(client.warm_up)
            await client.probe()
            pause = _PAUSE_IN_TROUBLE if client.trouble else _PAUSE
            self._next_probe = time.monotonic() + pause if client is self.client else 0.0

    async def look(self) -> tuple[LocalServer, ...]:
        """Find model servers that run on this machine; takes a fifth of a second."""
        self._looks_left = max(0, self._looks_left - 1)
        before, self._local_servers = self._local_servers, await self._look()
        if self._local_servers != before:
            self.news.tell()
        return self._local_servers

    def view(self) -> SettingsView:
        """The settings, as far as a person may see them."""
        settings, fields = self.settings, type(self.settings).model_fields
        values = {name: getattr(settings, name) for name in CHANGEABLE if name != KEY}
        environment_names = {name.upper() for name in os.environ}
        places: dict[str, Literal["environment", ".env", "key"]] = {
            name: "environment" if name.upper() in environment_names else ".env"
            for name in settings.fixed
        }
        if SERVER in places and SERVER not in settings.model_fields_set - settings.chosen.keys():
            places[SERVER] = "key"
        address = settings.openai_base_url
        return SettingsView(
            values={**values, SERVER: shown_address(address) if address else None},
            defaults={name: fields[name].default for name in CHANGEABLE if name != KEY},
            key_set=settings.openai_api_key is not None,
            fixed=places,
            elsewhere=_elsewhere(settings),
        )

    async def change(self, changes: Mapping[str, Any]) -> None:
        """Change settings, for all turns that begin from now on and for later starts. None takes a
        choice back. A key is only kept for the server that it was chosen for.

        Raises:
            SettingsInvalid: a value is not allowed, or a setting can't be changed here.
            ConfigurationError: the choices can't be stored.
        """
        async with self._changing:
            changed = self._with(changes)
            stored = {name: _plain(value) for name, value in changed.chosen.items()}
            await asyncio.to_thread(write_choices, changed.data_dir, stored)
            before, self.settings = self.settings, changed
            if any(getattr(before, name) != getattr(changed, name) for name in _CONNECTION):
                self.client, self._next_probe = self._connected(), 0.0
            self.changed.tell()
            self.news.tell()

    async def models(self, changes: Mapping[str, Any]) -> tuple[str, ...]:
        """Names of the models that the server has, with these changes, which are not made.

        Raises: SettingsInvalid, ModelUnavailable.
        """
        settings = self._with(changes)
        if settings.offline:
            return ()
        async with aclosing(self._connect(settings, lambda: None)) as client:
            await asyncio.to_thread(client.warm_up)
            return tuple(sorted(await client.models(_PATIENCE)))

    async def abilities(
        self, changes: Mapping[str, Any], budget: Budget
    ) -> AsyncGenerator["Ability", None]:
        """Find out the abilities of the model's server with these changes, which are not made: up
        to nine short calls.

        Raises: SettingsInvalid, ModelError, BudgetExceeded.
        """
        async with aclosing(self._connect(self._with(changes), lambda: None)) as client:
            await asyncio.to_thread(client.warm_up)
            async with aclosing(client.abilities(budget)) as ability_stream:
                async for ability in ability_stream:
                    yield ability

    def _connected(self, model: str = "") -> LLMClient:
        changes = {MODEL: model} if model else {}
        client = self._connect(self.settings.model_copy(update=changes), self.news.tell)
        self._clients.push_async_callback(client.aclose)
        return client

    def _with(self, changes: Mapping[str, Any]) -> Settings:
        """The settings with these changes. Raises: SettingsInvalid."""
        settings = self.settings
        values: dict[str, Any] = {
            name: (value.strip() or None) if isinstance(value, str) else value
            for name, value in changes.items()
        }
        if isinstance(values.get(SERVER), str) and settings.openai_base_url:
            values[SERVER] = with_hidden_values(values[SERVER], settings.openai_base_url)
        problems = {name: p for name, value in values.items() if (p := self._problem(name, value))}
        choices = {name: _plain(value) for name, value in settings.chosen.items()} | values
        moves = not problems and SERVER in values
        if moves and KEY not in values and _is_elsewhere(values[SERVER], settings.openai_base_url):
            choices[KEY] = None
        try:
            changed = settings.choose({n: v for n, v in choices.items() if v is not None})
        except ValidationError as error:
            problems = {**_problems(error), **problems}
        if problems:
            raise SettingsInvalid(problems)
        return changed

    def _problem(self, name: str, value: Any) -> Problem | None:
        """A problem that no rule of the settings themselves finds; None if there is none."""
        if name in self.settings.fixed:
            return Problem(
                kind="fixed",
                message=f"{name.upper()} is set in the environment or in .env, which wins",
            )
        if name == SERVER and isinstance(value, str):
            return _problem_of_address(value)
        return None


def _plain(value: Any) -> Any:
    return value.get_secret_value() if isinstance(value, SecretStr) else value


def _problem_of_address(address: str) -> Problem | None:
    try:
        parts = urlsplit(address)
        has_host = bool(parts.hostname) and parts.port != 0
    except ValueError:
        has_host = False
    if not has_host or parts.scheme not in ("http", "https"):
        message = "Input should be an address such as http://localhost:11434/v1"
        return Problem(kind="address", message=message)
    if "@" in parts.netloc or parts.fragment or f"={HIDDEN}" in parts.query:
        message = f"Input should have no password, hash or {HIDDEN}; the key has its own field"
        return Problem(kind="credentials", message=message)
    return None


def _problems(error: ValidationError) -> dict[str, Problem]:
    problems = {}
    for detail in error.errors(include_url=False, include_input=False):
        context = detail.get("ctx", {})
        limit = next((context[name] for name in _NUMBERS if name in context), None)
        problems[str(detail["loc"][0])] = Problem(
            kind=detail["type"], message=detail["msg"].removeprefix("Value error, "), limit=limit
        )
    return problems


def _is_elsewhere(new: Any, old: str | None) -> bool:
    """Whether the new address may be another server's; one that is not text is refused anyway."""
    return _origin(new) != _origin(old) if new is None or isinstance(new, str) else True


def _origin(address: str | None) -> tuple[str, str, int | None]:
    parts = urlsplit(address or OPENAI)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return parts.scheme, parts.hostname or "", port


def _elsewhere(settings: Settings) -> tuple[Elsewhere, ...]:
    database = re.sub("//[^/]*@", "//***@", settings.database)
    values = [
        ("sandbox", "SANDBOX", settings.sandbox),
        ("run_seconds", "DOCKER_TIMEOUT", f"{settings.docker_timeout:g}"),
        ("embedder", "EMBEDDER", settings.embedder),
        ("database", "DATABASE_URL", database),
        ("data", "DATA_DIR", str(settings.data_dir)),
        ("tools", "TOOLS_DIR", str(settings.tools_dir)),
        ("index", "CHROMA_PERSIST_DIR", str(settings.chroma_persist_dir)),
        ("address", "FLASK_HOST", f"{settings.flask_host}:{settings.flask_port}"),
    ]
    return tuple(Elsewhere(name=n, variable=v, value=value) for n, v, value in values)
