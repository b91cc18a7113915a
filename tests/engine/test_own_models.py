"""A model for each conversation: it stays with it, its turns ask it, and prices follow it; and the
limit of a month, which ends turns of paid models only.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from selfeng.bootstrap import build_engine
from selfeng.core.events import FINAL, Record, TurnFailed, TurnFinished
from selfeng.core.settings import Settings, load_settings
from selfeng.engine import Engine
from selfeng.llm_client import LLMClient
from selfeng.store.conversation_list import ConversationChange
from selfeng_offline.completion import Author, Completion, CompletionRequest
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.home import Home


class Noting:
    """Answers as the cookbook does, and counts the models that were asked for."""

    def __init__(self) -> None:
        self.asked = Counter[str]()

    def complete(self, request: CompletionRequest) -> Completion:
        self.asked[request.body["model"]] += 1
        return Cookbook().complete(request)

    def take(self) -> set[str]:
        names, self.asked = set(self.asked), Counter()
        return names


class _Any(str):
    """The name of whatever model is asked for."""

    __hash__ = str.__hash__

    def __ne__(self, other: object) -> bool:
        return False


class AnyModel(OfflineServer):
    """A server of every model, which lists some."""

    def __init__(self, author: Author, models: Sequence[str] = (), **options: Any) -> None:
        self._listed = models
        super().__init__(author, model=_Any("any"), **options)

    async def _models(self, _request: Request) -> Response:
        data = [
            {"id": name, "object": "model", "created": 0, "owned_by": ""} for name in self._listed
        ]
        return JSONResponse({"object": "list", "data": data})


PRICES = {"paid": 1.0, "usual": 0.0}


def connect(real, settings: Settings, news) -> LLMClient:
    """As the composition root does, with other prices."""
    if settings.offline:
        return real(settings, news)
    return LLMClient(
        model=settings.openai_model,
        api_key=settings.openai_api_key.get_secret_value(),
        base_url=settings.openai_base_url,
        price=lambda model, base_url, tokens: PRICES.get(model),
        unopened=False,
        news=news,
    )


@pytest.fixture
def author() -> Noting:
    return Noting()


@pytest.fixture
def server(author: Noting) -> Iterator[OfflineServer]:
    with AnyModel(author, delay=0) as server:
        yield server


@pytest.fixture
async def agent(tmp_path, monkeypatch, server):
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    for name, value in Home(tmp_path / "home").environment(LESSONS_LEARN="false").items():
        monkeypatch.setenv(name, value)
    connected = partial(connect, LLMClient.from_settings)
    monkeypatch.setattr(LLMClient, "from_settings", connected)
    async with aclosing(await build_engine(load_settings(None))) as agent:
        chosen = {"openai_base_url": server.base_url, "openai_api_key": server.api_key}
        await agent.configuration.change({**chosen, "openai_model": "usual"})
        yield agent


async def end_of(agent: Engine, conversation: str | None, text: str, **options) -> Record:
    records: list[Record] = []
    end = agent.feed.subscribe(records.extend)
    asked = await agent.ask("me", conversation, text, **options)
    await agent.settle()
    end()
    return next(r for r in records if r.turn_id == asked.turn_id and isinstance(r.event, FINAL))


async def test_a_conversation_keeps_its_model_until_it_gets_another(agent, author):
    first = await end_of(agent, None, "Hello!", model="other")
    mine = first.conversation_id
    assert author.take() == {"other"}
    assert (await agent.conversations.get("me", mine)).model == "other"
    await end_of(agent, mine, "Thanks!")
    assert author.take() == {"other"}
    await agent.conversations.change("me", mine, ConversationChange(model=""))
    await end_of(agent, mine, "Hello!")
    await end_of(agent, None, "Hello!")
    assert author.take() == {"usual"}
    await end_of(agent, mine, "Hello!", model="third")
    assert author.take() == {"third"}
    assert (await agent.conversations.get("me", mine)).model == "third"


async def test_without_a_server_every_model_is_the_offline_one(agent, author):
    await agent.configuration.change({"openai_base_url": None, "openai_api_key": None})
    assert isinstance((await end_of(agent, None, "Hello!", model="x")).event, TurnFinished)
    assert author.take() == set()


async def test_a_months_limit_ends_turns_of_paid_models_only(agent, author):
    await agent.configuration.change({"month_max_cost": 1.5})
    paid = await end_of(agent, None, "Hello!", model="paid")
    assert (paid.event.usage.calls, paid.event.usage.cost) == (1, 1.0)
    mine = paid.conversation_id
    assert (await agent.conversations.get("me", mine)).cost == 1.0
    for more in (0, 1):  # the call that exceeds it is paid, and ends its turn
        refused = (await end_of(agent, mine, "Hello!")).event
        assert isinstance(refused, TurnFailed)
        assert (refused.kind, refused.cause, refused.usage.calls) == ("budget", "month", 1 - more)
    assert refused.message == "the requests of this month cost $2.00 of $1.50"
    assert refused.remedy.startswith("raise MONTH_MAX_COST")
    assert isinstance((await end_of(agent, mine, "Hello!", model="usual")).event, TurnFinished)
    report = agent.spending.report("me")
    assert (report.limit, report.spent) == (1.5, 2.0)
    assert [(month.turns, month.cost) for month in report.months] == [(3, 2.0)]
    await agent.configuration.change({"month_max_cost": None})
    assert isinstance((await end_of(agent, mine, "Hi!", model="paid")).event, TurnFinished)
