"""Settings that people change while the engine runs: for new turns at once, for later starts, and
never at the price of a key.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import aclosing

import pytest

from selfeng.bootstrap import build_engine
from selfeng.core.choices import CHOICES
from selfeng.core.errors import ConfigurationError, ModelUnavailable
from selfeng.core.events import FINAL, Record, TurnFinished
from selfeng.core.settings import Settings, load_settings
from selfeng.core.turn import Budget
from selfeng.engine import Engine
from selfeng.provision.configuration import Configuration, SettingsInvalid
from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.home import Home
from tests.script import Script

SECRET = "sk-not-for-anybody-else-1234567890"


@pytest.fixture
def home(tmp_path, monkeypatch) -> Home:
    for name in Settings.model_fields:
        monkeypatch.delenv(name.upper(), raising=False)
    made = Home(tmp_path / "home")
    for name, value in made.environment().items():
        monkeypatch.setenv(name, value)
    return made


@pytest.fixture
async def engine(home):
    async with aclosing(await build_engine(load_settings(None))) as engine:
        yield engine


@pytest.fixture
def server() -> Iterator[OfflineServer]:
    with OfflineServer(Cookbook(), model="good-model", api_key=SECRET, delay=0) as server:
        yield server


def chosen(server: OfflineServer) -> dict[str, str]:
    return {
        "openai_base_url": server.base_url,
        "openai_api_key": SECRET,
        "openai_model": server.model,
    }


async def last_of(engine: Engine, request: str) -> Record:
    records: list[Record] = []
    end = engine.feed.subscribe(records.extend)
    await engine.ask("me", None, request)
    await engine.settle()
    end()
    return records[-1]


async def test_new_turns_use_the_new_model_and_running_ones_keep_theirs(engine, server):
    entered, gone_on = threading.Event(), threading.Event()

    def slow(request: CompletionRequest) -> Completion:
        entered.set()
        assert gone_on.wait(20)
        return Cookbook().complete(request)

    with OfflineServer(Script(*[slow] * 9), model="slow-model", delay=0) as first:
        key = {"openai_api_key": first.api_key}
        await engine.configuration.change({**chosen(first), **key})
        records: list[Record] = []
        engine.feed.subscribe(records.extend)
        running = await engine.ask("me", None, "Hello!")
        while not entered.is_set():
            await engine.recorder.flush()
        await engine.configuration.change(chosen(server))
        new = await engine.ask("me", None, "Hello!")
        while not any(r.turn_id == new.turn_id and isinstance(r.event, FINAL) for r in records):
            await engine.recorder.flush()
        assert not any(isinstance(r.event, FINAL) for r in records if r.turn_id == running.turn_id)
        gone_on.set()
        await engine.settle()
    ends = {r.turn_id: r.event for r in records if isinstance(r.event, FINAL)}
    assert [type(ends[turn.turn_id]) for turn in (running, new)] == [TurnFinished] * 2


async def test_switching_between_the_offline_model_and_a_server_works_both_ways(engine, server):
    names = []
    for change in (chosen(server), dict.fromkeys(chosen(server)), chosen(server)):
        await engine.configuration.change(change)
        status = (await engine.setup.status()).model
        names.append((status.name, status.offline, status.server))
        assert isinstance((await last_of(engine, "Hello!")).event, TurnFinished)
    online = ("good-model", False, server.base_url)
    assert names == [online, ("offline", True, ""), online]


async def test_limits_apply_to_turns_that_begin_afterwards(engine):
    await engine.configuration.change({"turn_max_calls": 7, "turn_max_cost": 0.5})
    limits = engine.model_parts.current.orchestrator._limits
    assert (limits.calls, limits.cost) == (7, 0.5)
    await engine.configuration.change({"turn_max_calls": None, "turn_max_cost": None})
    limits = engine.model_parts.current.orchestrator._limits
    assert (limits.calls, limits.cost) == (40, None)


async def test_changes_survive_a_restart_in_a_file_that_others_cannot_read(engine, server, home):
    await engine.configuration.change({**chosen(server), "turn_max_calls": 12})
    path = home.folder / "data" / CHOICES
    assert path.stat().st_mode & 0o777 == 0o600
    settings = load_settings(None)
    assert settings.openai_api_key
    assert (
        settings.openai_base_url,
        settings.openai_api_key.get_secret_value(),
        settings.openai_model,
        settings.turn_max_calls,
    ) == (server.base_url, SECRET, "good-model", 12)
    assert settings.fixed == frozenset()


async def test_what_the_environment_sets_wins_and_is_not_changed(home, monkeypatch, tmp_path):
    (home.folder / "data" / CHOICES).write_text('{"turn_max_calls": 5, "openai_model": "chosen"}')
    monkeypatch.setenv("OPENAI_MODEL", "from-the-environment")
    (tmp_path / ".env").write_text("TURN_MAX_SECONDS=60\nTURN_MAX_TOKENS=400000\n")
    settings = load_settings(tmp_path / ".env")
    assert (settings.openai_model, settings.turn_max_calls) == ("from-the-environment", 5)
    async with aclosing(await build_engine(settings)) as engine:
        configuration = engine.configuration
        assert configuration.view().fixed == {
            "openai_model": "environment",
            "turn_max_seconds": ".env",
        }
        with pytest.raises(SettingsInvalid) as caught:
            await configuration.change({"openai_model": "other", "turn_max_calls": 6})
        assert {n: p.kind for n, p in caught.value.problems.items()} == {"openai_model": "fixed"}
        assert configuration.settings.turn_max_calls == 5


async def test_a_key_of_the_environment_fixes_its_server(home, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    (home.folder / "data" / CHOICES).write_text('{"openai_base_url": "http://elsewhere/v1"}')
    async with aclosing(await build_engine(load_settings(None))) as engine:
        assert engine.configuration.client.server == "http://127.0.0.1:9/v1"
        assert engine.configuration.view().fixed == {
            "openai_api_key": "environment",
            "openai_base_url": "environment",
        }
    monkeypatch.delenv("OPENAI_BASE_URL")
    async with aclosing(await build_engine(load_settings(None))) as engine:
        assert engine.configuration.client.server == "https://api.openai.com/v1"
        assert engine.configuration.view().fixed == {
            "openai_api_key": "environment",
            "openai_base_url": "key",
        }
        with pytest.raises(SettingsInvalid):
            await engine.configuration.models({"openai_base_url": "http://127.0.0.1:9/v1"})


async def test_no_other_server_ever_gets_the_key(engine, server):
    script = Script()
    configuration: Configuration = engine.configuration
    await configuration.change(chosen(server))
    with OfflineServer(script, api_key=SECRET) as other:
        elsewhere = {"openai_base_url": other.base_url}
        with pytest.raises(ModelUnavailable, match="refused the API key"):
            await configuration.models(elsewhere)
        await configuration.change(elsewhere)
        assert not configuration.view().key_set
        with pytest.raises(ModelUnavailable, match="refused the API key"):
            await configuration.models({})
    await configuration.change(chosen(server))
    await configuration.change({"openai_base_url": f"{server.base_url}/"})
    assert configuration.view().key_set, "it is the same server"


async def test_the_key_is_shown_nowhere(engine, server, caplog):
    caplog.set_level("DEBUG")
    await engine.configuration.change(chosen(server))
    view = engine.configuration.view()
    assert view.key_set
    assert "openai_api_key" not in {*view.values, *view.defaults}
    told = [view.model_dump_json(), repr(engine.configuration.settings), caplog.text]
    assert not any(SECRET in text for text in told)


@pytest.mark.parametrize(
    ("change", "kinds"),
    [
        ({"turn_max_calls": 0}, {"turn_max_calls": "greater_than_equal"}),
        ({"turn_max_calls": "many"}, {"turn_max_calls": "int_parsing"}),
        ({"turn_max_seconds": float("inf")}, {"turn_max_seconds": "finite_number"}),
        ({"turn_max_cost": 10**30}, {"turn_max_cost": "less_than_equal"}),
        ({"openai_model": "a\0b"}, {"openai_model": "value_error"}),
        ({"openai_api_key": "a\r\nX: b"}, {"openai_api_key": "value_error"}),
        ({"openai_base_url": "ftp://host/v1"}, {"openai_base_url": "address"}),
        ({"openai_base_url": "file:///etc/passwd"}, {"openai_base_url": "address"}),
        ({"openai_base_url": "http://me:secret@host/v1"}, {"openai_base_url": "credentials"}),
        ({"openai_base_url": "http://host/v1?key=***"}, {"openai_base_url": "credentials"}),
        ({"openai_base_url": "http://host:99999/v1"}, {"openai_base_url": "address"}),
        ({"openai_base_url": 7}, {"openai_base_url": "string_type"}),
        ({"sandbox": "docker", "data_dir": "/"}, {"sandbox": "extra_forbidden", "data_dir": "extra_forbidden"}),
        (
            {"synthesis_candidates": 9, "synthesis_max_repairs": -1},
            {"synthesis_candidates": "less_than_equal", "synthesis_max_repairs": "greater_than_equal"},
        ),
    ],
)  # fmt: skip
async def test_values_are_refused_by_field_and_nothing_is_changed(engine, change, kinds):
    with pytest.raises(SettingsInvalid) as caught:
        await engine.configuration.change({"turn_max_tokens": 5, **change})
    assert {name: problem.kind for name, problem in caught.value.problems.items()} == kinds
    assert engine.configuration.settings.chosen == {}


async def test_a_damaged_file_of_choices_is_named(home):
    path = home.folder / "data" / CHOICES
    for content, problem in [
        ("{", f"{path} can't be read: "),
        ("[1]", f"{path} holds no JSON object"),
        ('{"turn_max_calls": 0}', "TURN_MAX_CALLS=0: "),
    ]:
        path.write_text(content)
        with pytest.raises(ConfigurationError) as caught:
            load_settings(None)
        assert caught.value.message.startswith(problem)
        assert "delete" in caught.value.remedy
    path.write_text(json.dumps({"of_another_version": 1}))
    assert load_settings(None).chosen == {}


async def test_a_probe_and_each_call_tell_whether_the_server_can_be_used(engine, server):
    configuration: Configuration = engine.configuration
    told: list[tuple[bool, str]] = []
    configuration.news.subscribe(
        lambda: told.append((configuration.status.answers, configuration.status.cause))
    )
    await configuration.change(chosen(server))
    await configuration.probe()
    await configuration.change({**chosen(server), "openai_api_key": "wrong"})
    await configuration.probe()
    server.stop()
    await configuration.change(chosen(server))
    await configuration.probe()
    assert told == [
        (False, ""),
        (True, ""),
        (False, ""),
        (True, "no_access"),
        (False, ""),
        (False, "unreachable"),
    ]


async def test_a_test_tells_each_ability_of_a_server_that_is_not_chosen_yet(engine, server):
    found = [ability async for ability in engine.configuration.abilities(chosen(server), Budget())]
    assert [(a.purpose, a.way) for a in found] == [
        ("server", "models"),
        ("text", "stream"),
        *(("value", way) for way in ("schema", "required", "named", "words")),
        *(("choice", way) for way in ("required", "auto", "words")),
        ("sight", "pictures"),
    ]
    assert engine.configuration.settings.offline


async def test_a_query_of_the_address_is_kept_and_its_secrets_are_not_shown(engine, server):
    configuration, address = engine.configuration, f"{server.base_url}?api-version=1&code=s3cr3t"
    await configuration.change({**chosen(server), "openai_base_url": address})
    shown = configuration.view().values["openai_base_url"]
    assert shown == f"{server.base_url}?api-version=1&code=***"
    assert (await engine.setup.status()).model.server == shown
    await configuration.change({"openai_base_url": shown.replace("=1", "=2")})
    assert configuration.settings.openai_base_url == address.replace("=1", "=2")
    assert configuration.view().key_set
    with pytest.raises(SettingsInvalid):
        await configuration.change({"openai_base_url": shown.replace("127.0.0.1", "localhost")})
