"""kill -9 at a door of a turn, and a start: the turn goes on at the step that was running."""

import json
import os
import signal
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from selfeng.core.plan import PlannedStep
from selfeng.core.spec import SpecificationReply
from selfeng.lessons.learning import LearntLesson, LessonsReply
from selfeng.store.schema import agent_messages, agents
from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.server import OfflineServer
from tests.databases import Postgres
from tests.home import Home

pytestmark = [pytest.mark.bubblewrap]

BUILD = "Reverse the string 'hello world'"
PLAN = "Reverse 'hello world' and count the vowels in 'education'"
SCRIPT = "Write a script squares.py that prints the first 2 squares and run it"
LESSON = LessonsReply(
    lessons=(LearntLesson(agent="coder", trigger="a boat", advice="Ask the wind.", known=None),)
)
PARTS = (
    PlannedStep(id="first", request=BUILD, needs=()),
    PlannedStep(id="other", request="Count the vowels in 'education'", needs=()),
)


class Moody:
    """Writes what the cookbook has, never twice with the same words, and counts who asks."""

    def __init__(self) -> None:
        self._cookbook = Cookbook()
        self.asked: Counter[str] = Counter()

    def complete(self, request: CompletionRequest) -> Completion:
        self.asked[request.prompt] += 1
        said = str(request.messages[-1]["content"])
        if request.prompt == "specification" and PLAN in said:
            steps = SpecificationReply(outcome="steps", message="", specification=None, steps=PARTS)
            return Completion(content=steps.model_dump_json())
        if request.prompt == "lessons":
            return Completion(content=LESSON.model_dump_json())
        reply, number = self._cookbook.complete(request), self.asked.total()
        content = reply.content.replace("```python\n", f"```python\n# {number}\n")
        if request.prompt == "specification" and SCRIPT in said:
            given_to_proxy = json.loads(content) | {"agent": "proxy"}
            content = json.dumps(given_to_proxy)
        given = reply.arguments
        if given and "content" in given:
            given = {**given, "content": f"# {number}\n{given['content']}"}
        return reply.model_copy(update={"content": content, "arguments": given})


class Lives:
    """The lives of one home, and what they paid."""

    def __init__(self, home: Home, model: OfflineServer, author: Moody) -> None:
        self._home, self._author = home, author
        self._environment = {
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": model.api_key,
            "OPENAI_MODEL": model.model,
        }

    @property
    def paid(self) -> Counter[str]:
        return self._author.asked

    def dies(self, request: str, at: str, when: str, **more: str) -> None:
        died = self._run(request, DIES_AT=at, DIES=when, **more)
        assert died.returncode == -signal.SIGKILL, died.stderr

    def dies_before_a_step(self, request: str, at: str) -> None:
        """Dies before the turn has begun to last."""
        self.dies(request, at, "first")

    def lives(self, request: str = "", **more: str) -> list[dict[str, Any]]:
        """The events that it printed."""
        lived = self._run(request, **more)
        assert (lived.returncode, complaints(lived.stderr)) == (0, []), lived.stderr
        return [json.loads(line) for line in lived.stdout.splitlines()]

    def share(self, url: str) -> None:
        """The lives from now on have that database."""
        self._environment["DATABASE_URL"] = url

    @property
    def projects(self) -> Path:
        return self._home.folder / "data" / "projects"

    @property
    def delegated(self) -> Path:
        return self._home.folder / "data" / "delegated"

    def threads(self) -> dict[tuple[str, str], list[str]]:
        """The messages in the threads of agents, by sender and agent."""
        stored = f"sqlite:///{self._home.folder / 'data' / 'agent.db'}"
        engine = sa.create_engine(self._environment.get("DATABASE_URL", stored))
        said = defaultdict[tuple[str, str], list[str]](list)
        both = agents.join(agent_messages, agent_messages.c.agent_id == agents.c.id)
        query = sa.select(agents.c.sender, agents.c.agent, agent_messages.c.role)
        with engine.connect() as connection:
            ordered = query.select_from(both).order_by(agent_messages.c.position)
            for row in connection.execute(ordered):
                said[row.sender, row.agent].append(row.role)
        engine.dispose()
        return dict(said)

    @contextmanager
    def begins(self, request: str = "", **more: str) -> Iterator[subprocess.Popen[str]]:
        """A life beside others."""
        environment = {**self._environment, **more}
        life = self._home.start("-m", "tests.durable.life", request, **environment)
        try:
            yield life
        finally:
            life.kill()
            life.communicate()

    def _run(self, request: str, **more: str) -> Any:
        environment = {**self._environment, **more}
        return self._home.run("-m", "tests.durable.life", request, **environment)


@pytest.fixture
def lives(tmp_path: Path) -> Iterator[Lives]:
    author = Moody()
    with OfflineServer(author, delay=0) as model:
        home = Home(tmp_path / "home", bubblewrap=True)
        (home.folder / "data" / "embedder").unlink()  # words find enough here
        yield Lives(home, model, author)


def complaints(said: str) -> list[str]:
    return [line for line in said.splitlines() if "Traceback" in line or " ERROR " in line]


def streams(event: dict[str, Any]) -> bool:
    return event.get("state") == "streaming"


def tools(told: list[dict[str, Any]]) -> dict[str, int]:
    found: dict[str, int] = told[-1]["tools"]
    return found


CALLS = {"specification": 1, "tests": 1, "implementation": 3, "answer": 1}
MORE = pytest.mark.everywhere
POINTS = [
    ("model.structured", "done", "specification"),
    ("model.stream", "asked", ""),
    ("sandbox.verify ", "asked", ""),
    ("sandbox.verify ", "recorded", ""),
    ("sandbox.verify_versions", "done", ""),
    ("library.add", "done", ""),
    ("library.add", "recorded", ""),
    ("sandbox.execute", "recorded", ""),
    ("library.record_use", "done", ""),
]


def on_both(points: Sequence[tuple[Any, ...]], always: set[str], *named: int) -> list[Any]:
    """Each point on both databases, called by the parts of it that are `named`; all but those that
    are `always` run are marked.
    """
    cases = []
    for kept in ("sqlite", "postgres"):
        for point in points:
            name = "-".join((kept, *(str(point[n]).strip() for n in named)))
            marks = [pytest.mark.postgres] if kept == "postgres" else []
            marks += [MORE] if name not in always else []
            cases.append(pytest.param(kept, point, marks=marks, id=name))
    return cases


@pytest.mark.parametrize(("kept", "point"), on_both(POINTS, {"sqlite-library.add-done"}, 0, 1))
def test_a_killed_build_goes_on_and_pays_nothing_twice(
    lives: Lives, request: pytest.FixtureRequest, kept: str, point: tuple[str, str, str]
) -> None:
    at, when, in_flight = point
    if kept == "postgres":
        lives.share(request.getfixturevalue("postgres").new())
    lives.dies(BUILD, at, when)
    told = lives.lives()
    events = [line["event"] for line in told if "event" in line]
    assert [e["again"] for e in events if e["type"] == "turn_resumed"] == [False]
    assert events[-1]["type"] == "turn_finished", events[-1]
    assert [line["seq"] for line in told if "seq" in line] == list(range(1, len(events) + 1))
    assert tools(told) == {"reverse_string": 1}
    assert lives.paid == Counter(CALLS) + Counter([in_flight] if in_flight else [])
    assert events[-1]["usage"]["calls"] == sum(CALLS.values())
    assert stages(events) == stages_of_a_build()
    for step in ("specify", "test", "implement", "verify", "strengthen", "register"):
        states = [e["state"] for e in events if e.get("step") == step and not streams(e)]
        assert states == ["started", "finished"], step
    assert written(events, "test") == written(events, "test", artifact=True)


def stages(events: list[dict[str, Any]]) -> list[str]:
    return [e["node"] for e in events if e["type"] == "stage_entered"]


def stages_of_a_build() -> list[str]:
    first = [
        "gather",
        "search",
        "specify",
        "test",
        "implement",
        "compare",
        "verify",
        "strengthen",
        "register",
    ]
    return [*first, "prepare", "execute", "respond"]


def written(events: list[dict[str, Any]], step: str, *, artifact: bool = False) -> str:
    """The page's text of a streamed suite in the end, or its artifact."""
    text = ""
    for event in events:
        if event.get("step") == step and streams(event):
            text = text[: event["offset"]] + event["text"]
        if event.get("step") == step and artifact and event.get("artifact"):
            return str(event["artifact"]).strip()
    return text.partition("```python\n")[2].rpartition("```")[0].strip()


@pytest.mark.extended
def test_a_branch_has_one_step(lives: Lives) -> None:
    told = lives.lives(BUILD)
    taken = [(line["work"], line["task"]) for line in told if line.get("new")]
    (root, _), *_ = Counter(task for _, task in taken).most_common(1)
    twice = {task: n for (_, task), n in Counter(taken).items() if n > 1 and task != root}
    assert twice == {}


SCRIPT_CALLS = {"specification": 1, "proxy": 2, "coder": 3}
SCRIPT_POINTS = [
    ("threads.open", 0, "recorded", ""),
    ("model.choose", 0, "done", "proxy"),
    ("model.choose", 1, "asked", ""),
    ("model.choose", 2, "done", "coder"),
    ("model.choose", 2, "recorded", ""),
    ("sandbox.execute", 0, "done", ""),
    ("sandbox.execute", 0, "recorded", ""),
    ("threads.append", 0, "done", ""),
    ("threads.append", 0, "recorded", ""),
    ("threads.append", 1, "done", ""),
]
SCRIPT_ALWAYS = {"postgres-threads.append-0-done"}


@pytest.mark.parametrize(("kept", "point"), on_both(SCRIPT_POINTS, SCRIPT_ALWAYS, 0, 1, 2))
def test_killed_agents_go_on_and_pay_nothing_twice(
    lives: Lives, request: pytest.FixtureRequest, kept: str, point: tuple[str, int, str, str]
) -> None:
    at, survives, when, in_flight = point
    if kept == "postgres":
        lives.share(request.getfixturevalue("postgres").new())
    lives.dies(SCRIPT, at, when, SURVIVES=str(survives))
    told = lives.lives()
    events = [line["event"] for line in whole(told)]
    assert [e["again"] for e in events if e["type"] == "turn_resumed"] == [False]
    assert events[-1]["type"] == "turn_finished", events[-1]
    assert "1 1\n2 4" in events[-1]["answer"]
    assert [line["seq"] for line in whole(told)] == list(range(1, len(events) + 1))
    assert lives.paid == Counter(SCRIPT_CALLS) + Counter([in_flight] if in_flight else [])
    assert events[-1]["usage"]["calls"] == sum(SCRIPT_CALLS.values())
    states = [(e["id"], e["state"]) for e in events if e["type"] == "delegation"]
    assert states == [("1", "started"), ("2", "started"), ("2", "finished"), ("1", "finished")]
    assert [e["state"] for e in events if e["type"] == "code_run"] == ["started", "finished"]
    assert len([e for e in events if e["type"] == "files_made"]) == 1
    assert lives.threads() == {
        ("proxy", "coder"): ["system", "user", *["assistant", "user"] * 2, "assistant"],
        ("user", "proxy"): ["system", "user", "assistant", "user", "assistant"],
    }


@pytest.mark.extended
@pytest.mark.parametrize(
    ("at", "when"),
    [
        ("library.add", "done"),
        pytest.param("model.stream", "recorded", marks=MORE),
        pytest.param("sandbox.execute", "asked", marks=MORE),
    ],
)
def test_a_killed_plan_goes_on_in_each_of_its_parts(lives: Lives, at: str, when: str) -> None:
    lives.dies(PLAN, at, when)
    told = lives.lives()
    events = [line["event"] for line in told if "event" in line]
    assert [e["again"] for e in events if e["type"] == "turn_resumed"] == [False]
    assert events[-1]["type"] == "turn_finished", events[-1]
    assert [line["seq"] for line in told if "seq" in line] == list(range(1, len(events) + 1))
    assert tools(told) == {"count_vowels": 1, "reverse_string": 1}
    for part in ("first", "other"):
        mine = [e for e in events if e.get("plan_step") == part]
        assert stages(mine) == stages_of_a_build()[1:-1] or stages(mine), part
        ended = [e["state"] for e in events if e["type"] == "plan_step" and e["step"] == part]
        assert ended == ["started", "finished"], part
    # At most what was in flight beside the step at which the process died.
    assert lives.paid.total() - events[-1]["usage"]["calls"] <= 3


@pytest.mark.parametrize(
    ("kept", "when", "in_flight"),
    [
        pytest.param("sqlite", "asked", 0, marks=MORE),
        pytest.param("sqlite", "done", 1, marks=MORE),
        pytest.param("sqlite", "recorded", 0, marks=MORE),
        pytest.param("postgres", "asked", 0, marks=pytest.mark.postgres),
    ],
)
@pytest.mark.extended
def test_a_turn_that_has_ended_is_learnt_from_after_a_kill(
    lives: Lives, request: pytest.FixtureRequest, kept: str, when: str, in_flight: int
) -> None:
    if kept == "postgres":
        lives.share(request.getfixturevalue("postgres").new())
    lives.dies("Write a script that sails a boat", "learning", when, AGENT="coder", LEARNS="1")
    for _ in range(2):
        told = lives.lives(LEARNS="1")
        assert [line["lessons"] for line in told if "lessons" in line] == [[["Ask the wind.", 1]]]
    assert lives.paid == Counter({"coder": 1, "lessons": 1 + in_flight})


GOAL = "A command line tool that counts the words of a file"
PROJECT_POINTS = [
    ("project.begin", 0, "done", 0),
    ("project.examine", 1, "done", 0),
    ("project.choose", 1, "done", 1),
    ("project.choose", 2, "recorded", 0),
    ("project.back_up", 1, "done", 0),
    ("project.act", 1, "done", 0),
    ("project.act", 2, "recorded", 0),
    ("project.save", 3, "done", 0),
]


@pytest.mark.parametrize(
    ("kept", "point"), on_both(PROJECT_POINTS, {"sqlite-project.act-done"}, 0, 2)
)
def test_a_killed_build_of_a_project_goes_on_and_pays_nothing_twice(
    lives: Lives, request: pytest.FixtureRequest, kept: str, point: tuple[str, int, str, int]
) -> None:
    at, survives, when, in_flight = point
    if kept == "postgres":
        lives.share(request.getfixturevalue("postgres").new())
    lives.dies(GOAL, at, when, SURVIVES=str(survives), PROJECT="words")
    told = lives.lives()
    events = [line["event"] for line in whole(told)]
    assert [e["again"] for e in events if e["type"] == "turn_resumed"] == [False]
    assert events[-1]["type"] == "turn_finished", events[-1]
    assert [line["seq"] for line in whole(told)] == list(range(1, len(events) + 1))
    assert lives.paid == Counter({"project_step": events[-1]["usage"]["calls"] + in_flight})
    built(events, lives.projects)


@pytest.mark.parametrize(
    "point",
    [
        ("project.choose", 1, "done", 1),
        pytest.param(("project.act", 1, "done", 0), marks=MORE),
        pytest.param(("project.packed", 0, "done", 0), marks=MORE),
        pytest.param(("threads.append", 0, "done", 0), marks=MORE),
    ],
    ids=lambda point: f"{point[0]}-{point[2]}",
)
@pytest.mark.extended
def test_agents_that_build_a_project_go_on_and_pay_nothing_twice(
    lives: Lives, point: tuple[str, int, str, int]
) -> None:
    at, survives, when, in_flight = point
    lives.dies(
        "Build a command line tool that counts the words of a file",
        at,
        when,
        SURVIVES=str(survives),
    )
    told = lives.lives()
    events = [line["event"] for line in whole(told)]
    assert [e["again"] for e in events if e["type"] == "turn_resumed"] == [False]
    assert events[-1]["type"] == "turn_finished", events[-1]
    assert [line["seq"] for line in whole(told)] == list(range(1, len(events) + 1))
    assert lives.paid.total() == events[-1]["usage"]["calls"] + in_flight
    assert len([e for e in events if e["type"] == "files_made"]) == 1
    built(events, lives.delegated)


def built(events: list[dict[str, Any]], folder: Path) -> None:
    """The project was built once, as if nothing had happened."""
    told = [e for e in events if e["type"].startswith("project_")]
    once = ("project_started", "project_finished")
    assert [e["type"] for e in told if e["type"] in once] == list(once)
    acted = [e["epoch"] for e in told if e["type"] == "project_act_chosen"]
    assert acted == list(range(1, len(acted) + 1))
    changed = {e["path"]: e["diff"] for e in told if e["type"] == "project_changed"}
    (state,) = folder.rglob("state.json")
    activity = json.loads(state.read_text())["activity"]
    assert [one["epoch"] for one in activity] == acted[:-1]  # all but to finish
    assert all(one["ok"] for one in activity), activity
    files = state.parents[2] / state.parent.name
    assert {path.name for path in files.rglob("*.*")} >= {Path(path).name for path in changed}
    backups = sorted((state.parent / "backups").glob("*.zip"))
    assert [int(path.stem) for path in backups][: len(activity)] == acted[:-1]


@pytest.mark.extended
def test_a_turn_that_has_not_begun_to_build_begins_again(lives: Lives) -> None:
    told = lives.lives(BUILD)
    assert tools(told) == {"reverse_string": 1}
    lives.dies_before_a_step("Reverse the string 'abc'", "sandbox.execute")
    events = [line["event"] for line in lives.lives() if "event" in line]
    assert [e["again"] for e in events if e["type"] == "turn_resumed"] == [True]
    assert (events[-1]["type"], events[-1]["tool"]) == ("turn_finished", "reverse_string")


@MORE
def test_a_turn_goes_on_while_the_machine_is_set_up(lives: Lives) -> None:
    lives.dies(BUILD, "library.add", "asked", SETS_UP="1")
    told = lives.lives(SETS_UP="1")
    events = [line["event"] for line in told if "event" in line]
    assert [e["again"] for e in events if e["type"] == "turn_resumed"] == [False]
    assert (events[-1]["type"], events[-1]["tool"]) == ("turn_finished", "reverse_string")
    assert lives.paid.total() == events[-1]["usage"]["calls"]


@pytest.mark.postgres
@pytest.mark.parametrize(
    "by", [pytest.param(signal.SIGKILL, marks=MORE), pytest.param(signal.SIGSTOP)]
)
def test_another_process_goes_on_with_the_turn_of_one_that_is_gone(
    lives: Lives, postgres: Postgres, by: signal.Signals
) -> None:
    lives.share(postgres.new())
    with lives.begins(WAITS="1") as other:
        assert other.stdout
        assert json.loads(other.stdout.readline()) == {"ready": True}
        with lives.begins(BUILD, DIES_AT="library.add", DIES="done", DIES_BY=by.name) as gone:
            os.waitid(os.P_PID, gone.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            if by is signal.SIGKILL:
                gone.wait()
            printed = finished(other)
            if by is signal.SIGSTOP:  # it wakes, and leaves the turn alone
                gone.send_signal(signal.SIGCONT)
                assert whole(finished(gone)) == whole(printed)
    events = [line["event"] for line in whole(printed)]
    assert [e["again"] for e in events if e["type"] == "turn_resumed"] == [False]
    assert events[-1]["type"] == "turn_finished"
    assert tools(printed) == {"reverse_string": 1}
    assert lives.paid == Counter(CALLS)


@pytest.mark.extended
@pytest.mark.postgres
def test_a_turn_goes_on_after_its_database_was_restarted(lives: Lives) -> None:
    own = Postgres()
    try:
        lives.share(own.new())
        with lives.begins(BUILD, DIES_AT="library.add", DIES="done", DIES_BY="SIGSTOP") as life:
            os.waitid(os.P_PID, life.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            own.stop()
            own.start()
            life.send_signal(signal.SIGCONT)
            printed, complained = life.communicate(timeout=100)
    finally:
        own.remove()
    assert life.returncode == 0, complained
    told = [json.loads(line) for line in printed.splitlines()]
    events = [line["event"] for line in whole(told)]
    assert events[-1]["type"] == "turn_finished", (events[-1], complained)
    assert [line["seq"] for line in whole(told)] == list(range(1, len(events) + 1))
    assert tools(told) == {"reverse_string": 1}
    assert lives.paid == Counter(CALLS)
    assert complaints(complained) == [], complained


@pytest.mark.extended
@MORE
def test_a_clock_that_is_set_back_before_the_start_is_no_matter(lives: Lives) -> None:
    lives.dies(BUILD, "library.add", "done")
    told = lives.lives(SET_BACK="start")
    events = [line["event"] for line in told if "event" in line]
    assert [e["again"] for e in events if e["type"] == "turn_resumed"] == [False]
    assert events[-1]["type"] == "turn_finished", events[-1]
    assert [line["seq"] for line in whole(told)] == list(range(1, len(events) + 1))
    assert hours_back(told) == [1]
    assert tools(told) == {"reverse_string": 1}
    assert lives.paid == Counter(CALLS)


@pytest.mark.extended
@pytest.mark.postgres
def test_a_clock_that_is_set_back_under_a_turn_is_no_matter(
    lives: Lives, postgres: Postgres
) -> None:
    lives.share(postgres.new())
    stopped = {"DIES_AT": "library.add", "DIES": "done", "DIES_BY": "SIGSTOP", "SET_BACK": "wake"}
    with lives.begins(WAITS="1") as other:
        assert other.stdout
        assert json.loads(other.stdout.readline()) == {"ready": True}
        with lives.begins(BUILD, **stopped) as life:
            os.waitid(os.P_PID, life.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
            life.send_signal(signal.SIGCONT)
            told = finished(life)
    assert hours_back(told) == [1]
    events = [line["event"] for line in whole(told)]
    assert "turn_resumed" not in [e["type"] for e in events]
    assert events[-1]["type"] == "turn_finished", events[-1]
    assert [line["seq"] for line in whole(told)] == list(range(1, len(events) + 1))
    assert tools(told) == {"reverse_string": 1}
    assert lives.paid == Counter(CALLS)


def hours_back(told: list[dict[str, Any]]) -> list[int]:
    """By how much the clock went back between two events that follow each other."""
    times = [datetime.fromisoformat(line["at"]) for line in whole(told)]
    steps = [round((a - b).total_seconds() / 3600) for a, b in pairwise(times)]
    return [hours for hours in steps if hours]


def finished(life: subprocess.Popen[str]) -> list[dict[str, Any]]:
    """The events that it printed until its end."""
    printed, complained = life.communicate(timeout=100)
    assert (life.returncode, complaints(complained)) == (0, []), complained
    return [json.loads(line) for line in printed.splitlines()]


def whole(told: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The records that it read in the journal."""
    return [line for line in told if "seq" in line]
