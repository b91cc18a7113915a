"""The engine as the web sees it: conversations have owners, turns can be stopped at any moment,
history goes along.
"""

import logging
import re
from contextlib import aclosing

import pytest

from selfeng.bootstrap import build_engine
from selfeng.core.errors import ConfigurationError, RequestError, SandboxError
from selfeng.core.events import FINAL, Record
from selfeng.core.files import File
from selfeng.core.settings import Settings
from selfeng.core.spec import SpecificationReply
from selfeng.core.turn import Request
from selfeng.engine import LONGEST_REQUEST, Engine
from selfeng.store.conversation_list import ConversationChange
from selfeng_offline.completion import Completion
from selfeng_offline.server import OfflineServer
from tests.home import Home
from tests.sandbox.backends import BubblewrapBehind, prepared
from tests.script import Script


@pytest.fixture
async def engine(tmp_path, monkeypatch):
    for name, value in Home(tmp_path / "home").environment().items():
        monkeypatch.setenv(name, value)
    async with aclosing(await build_engine(Settings(_env_file=None))) as engine:
        yield engine


async def ended(engine: Engine, turn_id: str, records: list[Record]) -> Record:
    """The last record of a turn."""
    while True:
        for record in records:
            if record.turn_id == turn_id and isinstance(record.event, FINAL):
                return record
        await engine.recorder.flush()


async def test_a_turn_is_stopped_even_before_its_first_step(engine):
    records: list[Record] = []
    engine.feed.subscribe(records.extend)
    asked = await engine.ask("me", None, "Reverse 'abc'")
    assert await engine.stop("me", asked.turn_id)
    last = await ended(engine, asked.turn_id, records)
    assert (last.event.type, last.event.reason) == ("turn_stopped", "Stopped on request.")
    assert await engine.conversations.history("me", asked.conversation_id) == tuple(records)


async def test_the_stages_and_model_calls_of_a_turn_are_logged_without_its_words(engine, caplog):
    caplog.set_level(logging.INFO, "selfeng")
    records: list[Record] = []
    engine.feed.subscribe(records.extend)
    asked = await engine.ask("me", None, "Compose a symphony about my neighbour")
    await ended(engine, asked.turn_id, records)
    ours = [r.getMessage() for r in caplog.records if r.name.startswith("selfeng")]
    logged = [re.sub(r"[\d.]+", "N", message) for message in ours]
    assert [line.partition(" seconds")[0] for line in logged if "waiting" not in line] == [
        "turn_started",
        "stage_entered node=gather",
        "stage_entered node=search symbol=new",
        "searching",
        "no_tool_found",
        "stage_entered node=specify symbol=nothing fits",
        "synthesis_step step=specify attempt=N state=started",
        "model call specification: offline replied, N tokens in, N out, N s",
        "synthesis_step step=specify attempt=N state=finished decision=impossible",
        "stage_entered node=respond symbol=declined",
        "turn_finished outcome=declined usage=calls=N input_tokens=N output_tokens=N cost=N",
    ]


async def test_a_deleted_conversation_stops_its_turns_and_comes_back_with_them(engine):
    records: list[Record] = []
    told: list[str] = []
    engine.feed.subscribe(records.extend)
    engine.conversations.changed.subscribe(told.append)
    asked = await engine.ask("me", None, "Reverse 'abc'")
    for deleted in (True, False):
        change = ConversationChange(deleted=deleted)
        with pytest.raises(RequestError):
            await engine.conversations.change("somebody", asked.conversation_id, change)
        await engine.conversations.change("me", asked.conversation_id, change)
        assert len(await engine.conversations.list("me")) == (0 if deleted else 1)
    last = await ended(engine, asked.turn_id, records)
    assert last.event.reason == "The conversation was deleted."
    found = await engine.conversations.get("me", asked.conversation_id)
    kept = await engine.conversations.history("me", asked.conversation_id)
    assert (found.title, kept) == ("Reverse 'abc'", tuple(records))
    assert told == [asked.conversation_id] * 2


async def test_nobody_stops_or_reads_what_is_not_theirs(engine):
    asked = await engine.ask("me", None, "hello")
    assert not await engine.stop("somebody", asked.turn_id)
    with pytest.raises(RequestError):
        await engine.conversations.history("somebody", asked.conversation_id)
    with pytest.raises(RequestError):
        await engine.ask("somebody", asked.conversation_id, "hello")
    assert await engine.conversations.list("somebody") == ()


@pytest.mark.parametrize("request_text", ["", " \n ", "x" * (LONGEST_REQUEST + 1)])
async def test_requests_that_cannot_be_used_are_refused(engine, request_text):
    with pytest.raises(RequestError):
        await engine.ask("me", None, request_text)
    assert await engine.conversations.list("me") == ()


async def test_a_greeting_is_answered_and_kept_for_the_next_turn(engine):
    records: list[Record] = []
    engine.feed.subscribe(records.extend)
    asked = await engine.ask("me", None, "Hello!")
    last = await ended(engine, asked.turn_id, records)
    assert last.event.type == "turn_finished"
    again = await engine.ask("me", asked.conversation_id, "Thanks!")
    assert again.conversation_id == asked.conversation_id
    await ended(engine, again.turn_id, records)
    assert [r.seq for r in records] == list(range(1, len(records) + 1))
    for owner, turn_id, problem in [
        ("me", asked.turn_id, "the turn had no plan"),
        ("me", "nothing", "unknown turn 'nothing'"),
        ("somebody", asked.turn_id, f"unknown turn '{asked.turn_id}'"),
    ]:
        with pytest.raises(RequestError) as refused:
            await engine.keep(owner, turn_id)
        assert refused.value.message == problem


async def test_files_stay_with_their_conversation_and_its_owner(engine):
    records: list[Record] = []
    engine.feed.subscribe(records.extend)
    old, new = (File(name="data.csv", content=content) for content in (b"old", b"new"))
    asked = await engine.ask("me", None, "Hello!", [old, File(name="other.csv", content=b"other")])
    await ended(engine, asked.turn_id, records)
    again = await engine.ask("me", asked.conversation_id, "Thanks!", [new])
    await ended(engine, again.turn_id, records)
    started = [
        r.event
        for r in await engine.conversations.history("me", asked.conversation_id)
        if r.event.type == "turn_started"
    ]
    assert [[f.name for f in event.files] for event in started] == [
        ["data.csv", "other.csv"],
        ["data.csv"],
    ]
    for file in (old, new):
        assert (
            await engine.conversations.file(
                "me", asked.conversation_id, file.reference().sha256, file.name
            )
            == file
        )
    other = File(name="other.csv", content=b"")
    given = Request("Hello!", files=(other,), conversation_id=asked.conversation_id)
    earlier = engine.requests.with_past(given).earlier
    assert earlier.references == (new.reference(),)
    assert await earlier.read(earlier.references[0]) == new
    with pytest.raises(RequestError):
        await engine.conversations.file(
            "somebody", asked.conversation_id, new.reference().sha256, "data.csv"
        )
    with pytest.raises(RequestError):
        await engine.conversations.file("me", asked.conversation_id, "0" * 64, "data.csv")
    elsewhere = await engine.ask("me", None, "Hello!")
    with pytest.raises(RequestError):
        await engine.conversations.file(
            "me", elsewhere.conversation_id, new.reference().sha256, "data.csv"
        )


async def test_files_beyond_the_limits_are_refused(engine):
    with pytest.raises(RequestError) as caught:
        await engine.ask("me", None, "Hello!", [File(name=str(n), content=b"") for n in range(11)])
    assert caught.value.message == "there are 11 files; 10 are allowed"
    assert (
        caught.value.remedy
        == "FILES_MAX_COUNT and FILES_MAX_MB allow 10 files of 500 MB together, 100 MB each"
    )
    assert await engine.conversations.list("me") == ()


async def test_the_status_names_model_sandbox_and_library(engine):
    status = await engine.setup.status()
    assert (status.model.name, status.model.offline) == ("offline", True)
    assert status.library.tools == 0
    assert status.sandbox.backend == "docker"


@pytest.mark.parametrize(
    ("program", "variable"),
    [
        (("web/app.py",), "TOOLS_DIR"),
        (("-m", "selfeng", "serve"), "TOOLS_DIR"),
        (("-m", "selfeng", "tools"), "DATA_DIR"),
        (("-m", "selfeng", "setup", "embedder"), "DATA_DIR"),
    ],
)
def test_programs_name_a_folder_that_cannot_be_used(tmp_path, program, variable):
    ended = Home(tmp_path / "home").run(*program, **{variable: "/etc/passwd"})
    assert (ended.returncode, ended.stdout) == (1, "")
    lines = ended.stderr.removeprefix("error: ").replace("What to do: ", "").splitlines()
    assert lines == [
        f"{variable}='/etc/passwd' can't be used: is not a folder",
        f"set {variable} to a writable folder",
    ]


async def test_a_database_that_cannot_be_opened_is_named_with_its_variable(tmp_path, monkeypatch):
    home = Home(tmp_path / "home")
    for name, value in home.environment(DATABASE_URL="sqlite:////proc/x/y.db").items():
        monkeypatch.setenv(name, value)
    with pytest.raises(
        ConfigurationError, match=r"^DATABASE_URL: sqlite:////proc/x/y\.db can't be opened: "
    ):
        await build_engine(Settings(_env_file=None))
    monkeypatch.delenv("DATABASE_URL")
    (home.folder / "data" / "agent.db").write_text("something else" * 100)
    with pytest.raises(
        ConfigurationError,
        match=r"^DATA_DIR: sqlite:///.*/agent\.db can't be opened: file is not a database",
    ):
        await build_engine(Settings(_env_file=None))


async def test_a_library_is_seeded_once_for_each_database(tmp_path, monkeypatch):
    for name, value in (
        Home(tmp_path / "home").environment(DOCKER_HOST=f"unix://{tmp_path}/none.sock").items()
    ):
        monkeypatch.setenv(name, value)
    begun: list[str] = []
    for url in ("a", "a", "b"):
        monkeypatch.setenv("DATABASE_URL", f"sqlite:///{tmp_path}/{url}.db")
        async with aclosing(await build_engine(Settings(_env_file=None))) as engine:
            try:
                await engine.setup.seed_once(lambda done, total, url=url: begun.append(url))
            except SandboxError:  # there is none, so the seeds wait for one
                engine.setup._seeded.put()
    assert begun == ["a", "b"]


async def test_a_project_is_no_conversation_to_ask_in_and_ends_with_the_server(engine):
    records: list[Record] = []
    engine.feed.subscribe(records.extend)
    asked = await engine.projects.begin(
        "me", {"project_name": "demo", "goal": "Count words in a command line tool"}
    )
    assert await engine.conversations.list("me") == ()
    with pytest.raises(RequestError, match="belongs to a project"):
        await engine.ask("me", asked.conversation_id, "hello")
    while not any(r.event.type == "project_started" for r in records):
        await engine.recorder.flush()
    await engine.aclose()
    assert [r.event.type for r in records if r.turn_id == asked.turn_id][-2:] == [
        "project_stopped",
        "turn_stopped",
    ]


@pytest.mark.bubblewrap
async def test_an_engine_ends_while_the_job_of_a_turn_stands_still(tmp_path, monkeypatch):
    for name, value in Home(tmp_path / "home", bubblewrap=True).environment().items():
        monkeypatch.setenv(name, value)
    machine, records = prepared(BubblewrapBehind()), []
    engine = await build_engine(Settings(_env_file=None))
    engine.feed.subscribe(records.extend)
    asked = await engine.ask("me", None, "Reverse 'abc'")
    while not engine.sandbox._verifiers._working:
        await engine.recorder.flush()
    containers = machine.containers(engine.sandbox.id)
    for container in containers:
        machine.hold_up(container)
    await engine.aclose()
    last = records[-1]
    assert (last.turn_id, last.event.type, last.event.reason) == (
        asked.turn_id,
        "turn_stopped",
        "The server ended.",
    )
    assert containers
    assert machine.containers(engine.sandbox.id) == set()


async def talk_about_a_file(tmp_path, monkeypatch, server: OfflineServer) -> None:
    home = Home(tmp_path / "home", bubblewrap=True)
    more = {
        "OPENAI_API_KEY": server.api_key,
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_MODEL": "offline",
    }
    for name, value in home.environment(**more).items():
        monkeypatch.setenv(name, value)
    records: list[Record] = []
    async with aclosing(await build_engine(Settings(_env_file=None))) as engine:
        engine.feed.subscribe(records.extend)
        sales = File(name="sales.csv", content="Tag;Erlös\n1;1,5\n2;n/a\n3;4,5\n".encode("cp1252"))
        asked = await engine.ask("me", None, "hello", [sales])
        await ended(engine, asked.turn_id, records)
        later = await engine.ask("me", asked.conversation_id, "and now?")
        await ended(engine, later.turn_id, records)


@pytest.mark.bubblewrap
async def test_a_model_sees_the_profiles_of_new_and_earlier_files(tmp_path, monkeypatch):
    said = SpecificationReply(outcome="answer", message="Hi.", specification=None)
    script = Script(titled={"write the specification": Completion(content=said.model_dump_json())})
    with OfflineServer(script, delay=0) as server:
        await talk_about_a_file(tmp_path, monkeypatch, server)
    prompts = [r.messages[-1]["content"] for r in script.requests if r.prompt == "specification"]
    assert len(prompts) == 2
    for prompt in prompts:
        assert '"encoding":"cp1252"' in prompt
        assert '"decimal":","' in prompt
        assert '"odd":["line 3: n/a"]' in prompt
    assert '"from":"earlier in the conversation"' in prompts[1]


async def test_an_acknowledged_request_is_in_the_journal(engine):
    asked = await engine.ask("me", None, "Hello!", [File(name="data.csv", content=b"1")])
    (first, *_) = engine.journal.history(asked.conversation_id)
    assert (first.seq, first.event.type, first.event.request) == (1, "turn_started", "Hello!")
    kept = engine.files.read(asked.conversation_id, first.event.files[0].sha256, "data.csv")
    assert kept.content == b"1"
    assert await engine.stop("me", asked.turn_id)
