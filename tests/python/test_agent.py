"""The agent in Python programs: its own folder, turns, tools and clear ends."""

import asyncio
import dataclasses
import datetime
import subprocess
import sys
import threading
from contextlib import aclosing

import pytest

from selfeng import Agent, AsyncAgent, File, RequestFailed, ToolFailed
from selfeng.bootstrap import build_engine
from selfeng.core.errors import (
    ConfigurationError,
    NotConsented,
    RequestError,
    ResourceNotFound,
    ToolNotFound,
)
from selfeng.core.events import Outcome
from selfeng.core.http import NetworkAccess
from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.core.verdict import CallLimits, Raised, Returned
from tests.home import Home

COUNT = '''def count_days(start: str, days: int, names: list[str]) -> dict:
    """Count days."""
    import datetime
    from pathlib import Path

    if days < 0:
        raise ValueError("days is negative")
    Path("made.txt").write_text(",".join(names))
    end = datetime.date.fromisoformat(start) + datetime.timedelta(days)
    return {"end": end.isoformat(), "days": days}
'''


@pytest.fixture
def home(tmp_path, monkeypatch):
    """The folders of the app, in the environment."""
    home = Home(tmp_path / "app", bubblewrap=True)
    for name, value in home.environment().items():
        monkeypatch.setenv(name, value)
    return home


@pytest.fixture
def agent(home, tmp_path):
    with Agent(tmp_path / "own") as agent:
        yield agent


async def add(agent: Agent | AsyncAgent, code: str, **needs: object) -> None:
    """Add a tool to the agent's library, without the gate."""
    name = code.partition("def ")[2].partition("(")[0]
    draft = ToolDraft(
        name=name,
        description=name,
        signature=parse_signature(code, name),
        code=code,
        tests="# none",
        **needs,
    )
    async with aclosing(await build_engine(agent.settings)) as engine:
        await engine.library.add(draft)


def test_each_folder_has_its_own_data_and_the_app_none_of_it(home, tmp_path):
    with Agent(tmp_path / "a") as one, Agent(str(tmp_path / "b")) as other:
        asked = one.ask("Hello!")
        assert (asked.text[:6], asked.outcome, str(asked)[:6]) == ("Hello!", "answered", "Hello!")
        assert [c.id for c in one.conversations()] == [asked.conversation]
        assert other.conversations() == ()
    made = {path.name for path in (tmp_path / "a").iterdir()} - {".chroma_db.lock"}
    assert made == {"data", "tools", "chroma_db"}
    assert not (home.folder / "data" / "agent.db").exists()
    assert not (tmp_path / "a" / "data" / "embedder").exists()
    with Agent() as apps:
        assert apps.settings.data_dir == home.folder / "data"


def test_a_conversation_goes_on_by_its_id_or_a_name_of_the_program(agent):
    first = agent.ask("Hello!", conversation="greetings")
    assert agent.ask("Thank you!", conversation=first.conversation).text == "You're welcome!"
    assert [c.title for c in agent.conversations("thank")] == ["greetings"]
    history = agent.history(first.conversation)
    requests = [r.event.request for r in history if r.event.type == "turn_started"]
    assert requests == ["Hello!", "Thank you!"]


@pytest.mark.bubblewrap
def test_events_come_as_they_happen_and_leaving_stops_the_turn(agent, tmp_path):
    records = list(agent.stream("Hello!"))
    kinds = [record.event.type for record in records]
    assert (kinds[0], kinds[-1]) == ("turn_started", "turn_finished")
    assert len({record.conversation_id for record in records}) == 1
    left = agent.stream("Reverse the string 'abc'")  # builds a tool, which takes seconds
    started = next(left)
    left.close()
    agent.close()  # stores what is still on its way
    with Agent(tmp_path / "own") as again:
        last = again.history(started.conversation_id)[-1]
    assert (last.turn_id, last.event.type) == (started.turn_id, "turn_stopped")
    assert last.event.reason != "The server ended."


async def test_a_running_loop_is_no_obstacle_and_one_folder_serves_several(agent, tmp_path):
    asked = agent.ask("Hello!")  # as a notebook does
    async with AsyncAgent(tmp_path / "own") as other:
        replies = await asyncio.gather(*(other.ask("Thank you!") for _ in range(2)))
        assert {reply.text for reply in replies} == {"You're welcome!"}
        async for record in other.stream("Hello!", conversation=asked.conversation):
            last = record
        assert (last.event.type, last.conversation_id) == ("turn_finished", asked.conversation)
        assert len(agent.conversations()) == len(await other.conversations()) == 3


@dataclasses.dataclass
class Counted:
    end: datetime.date
    days: int


@pytest.mark.bubblewrap
async def test_a_tool_is_called_with_typed_values_and_files(agent):
    await add(agent, COUNT)
    given = {"start": datetime.date(2024, 2, 28), "days": 2, "names": ("a", "b")}
    assert agent.call("count_days", given) == {"end": "2024-03-01", "days": 2}
    counted = agent.call("count_days", given, returns=Counted)
    assert counted == Counted(datetime.date(2024, 3, 1), 2)
    match agent.execute("count_days", given):
        case Returned(files=(made,)):
            assert made == File(name="made.txt", content=b"a,b")
    code = "from count_days import count_days\ndef program(**given): pass\n"
    with pytest.raises(RequestError, match=r"takes positional-only, \* or \*\* parameters"):
        agent.run_program(code)
    code = code.replace(
        "**given): pass", "days: int):\n    return count_days('2024-02-28', days, ['a'])"
    )
    match agent.run_program(code, {"days": 1}):
        case Returned(data=data, files=(made,)):
            assert (data, made.content) == ('{"end":"2024-02-29","days":1}', b"a")
    with pytest.raises(RequestError, match=r"count_days returned .* which is no int"):
        agent.call("count_days", given, returns=int)
    with pytest.raises(ToolFailed, match="count_days raised ValueError: days is neg") as failed:
        agent.call("count_days", given | {"days": -1})
    assert isinstance(failed.value.execution, Raised)
    with pytest.raises(RequestError, match="count_days needs start"):
        agent.call("count_days", {"days": 1, "names": []})
    with pytest.raises(RequestError, match="have no form in JSON"):
        agent.call("count_days", {"start": object()})
    with pytest.raises(ToolNotFound):
        agent.call("nothing")
    (tool,) = agent.tools()
    assert agent.tool("count_days").draft() == tool.draft()  # uses are counted in the background
    assert tool.signature.input_schema()["required"] == ["start", "days", "names"]
    assert [found.tool.name for found in agent.search("count days")] == ["count_days"]


async def test_a_program_allows_lists_and_revokes_what_a_tool_needs(agent):
    access = NetworkAccess(host="api.example.org")
    await add(agent, COUNT, network=(access,), limits=CallLimits(seconds=600))
    given = {"start": "2024-02-28", "days": 2, "names": []}
    with pytest.raises(NotConsented, match="count_days needs your consent") as refusal:
        agent.call("count_days", given)
    assert refusal.value.needs == (access, CallLimits(seconds=600))
    assert agent.allow("count_days", "api.example.org") == (access,)
    with pytest.raises(ResourceNotFound, match="does not need 'humanize'"):
        agent.allow("count_days", "humanize")
    assert [grant.need for grant in agent.grants("count_days")] == [access]
    assert agent.allow("count_days") == (access, CallLimits(seconds=600))
    assert agent.call("count_days", given) == {"end": "2024-03-01", "days": 2}
    assert (agent.revoke("count_days"), agent.grants()) == (2, ())


@pytest.mark.bubblewrap
def test_a_tool_is_built_from_a_description_and_asks_for_what_is_missing(agent):
    built = agent.build("Reverse a string")
    assert (built.name, built.uses, agent.build("Reverse a string")) == ("reverse_string", 0, built)
    asked = agent.ask("Reverse a string")
    assert (asked.outcome, [question.id for question in asked.questions]) == ("asked", ["text"])
    reply = agent.ask(conversation=asked.conversation, answers={"text": "abc"})
    assert (reply.value, reply.tool, reply.new_tools) == ("cba", "reverse_string", ())
    turns = [agent.history(c.id) for c in agent.conversations()]
    stages = [[r.event.node for r in t if r.event.type == "stage_entered"] for t in turns]
    assert stages[-1][:2] == ["gather", "specify"]
    assert stages[-1][-3:] == ["register", "prepare", "respond"]
    with pytest.raises(RequestFailed) as refused:
        agent.build("Compose a symphony about the sea")
    assert refused.value.reply.outcome is Outcome.DECLINED
    with pytest.raises(RequestError, match="the request is blank"):
        agent.build(" ")


@pytest.mark.bubblewrap
@pytest.mark.everywhere
def test_files_go_in_by_path_or_content_and_come_out(agent, tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text("day,price\n1,2\n2,5\n")
    for file in (path, str(path), File(name="sales.csv", content=path.read_bytes())):
        reply = agent.ask("Sum the column price of sales.csv", files=[file])
        assert reply.value == 7
    with pytest.raises(RequestError, match=r"nothing\.csv does not exist"):
        agent.ask("Sum the column price of nothing.csv", files=[tmp_path / "nothing.csv"])
    drawn = agent.ask("Plot price against day", files=[path])
    (picture,) = drawn.save(tmp_path / "out")
    assert picture.read_bytes()[:4] == b"\x89PNG"


def test_a_failure_says_what_gave_up(home, tmp_path):
    address = "http://127.0.0.1:9/v1"
    with (
        Agent(tmp_path / "own", base_url=address, openai_max_retries=0) as agent,
        pytest.raises(RequestFailed) as failed,
    ):
        agent.ask("Hello!")
    reply = failed.value.reply
    assert (reply.outcome, reply.kind, reply.cause) == ("failed", "model", "unreachable")
    assert failed.value.remedy == reply.remedy != ""


def test_settings_are_arguments_and_bad_ones_are_named(home, tmp_path):
    agent = AsyncAgent(tmp_path, model="m", api_key="k", turn_max_calls=7)
    given = agent.settings
    assert (given.openai_model, given.turn_max_calls, given.offline) == ("m", 7, False)
    with pytest.raises(ConfigurationError, match="there is no setting 'turn_max_cals'") as unknown:
        Agent(tmp_path, turn_max_cals=7)
    assert unknown.value.remedy == "did you mean turn_max_calls?"
    with pytest.raises(ConfigurationError, match="TURN_MAX_CALLS=0: Input should be greater"):
        Agent(tmp_path, turn_max_calls=0)


def test_a_closed_agent_and_a_call_on_its_own_thread_say_so(agent):
    errors = []

    async def inside() -> None:
        try:
            agent.conversations()
        except RequestError as error:
            errors.append(error.message)

    agent._thread.run(inside())
    agent.close()
    agent.close()
    with pytest.raises(RequestError, match="this is closed"):
        agent.tools()
    assert errors == ["this is called on the engine's own thread, such as by a callback of a turn"]
    assert not any(thread.name == "agent" for thread in threading.enumerate())


def test_a_program_that_closes_nothing_ends_in_order(home):
    code = "from selfeng import Agent\nagent = Agent()\nprint(agent.ask('Thank you!'))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "You're welcome!\n", "")
