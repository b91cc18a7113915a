"""A build's work other than running code: consent, stopping, continuing, backups, mistakes of the
model. No container is needed for that.
"""

import asyncio
import os
from collections.abc import Sequence
from typing import Any

import pytest

from selfeng.core.errors import RequestError
from selfeng.core.package_lock import PackageLock
from selfeng.projects.actions import WORKSPACE_ACTIONS
from selfeng.projects.consent import Decision
from selfeng.projects.examining import Examination, FileReport
from selfeng.projects.project_context import LastStep, gather
from selfeng.projects.state import ProjectStore, backups
from selfeng_offline.completion import Completion
from tests.projects.conftest import DONE, Bench, call
from tests.projects.still_sandbox import StillSandbox, locked

WRITE = call("create_file", name="main.py", body="print(42)\n", reasoning="begin")
READ = call("read_run", what="activity")


class Answers:
    """Consent that was given in advance."""

    pausing = False

    def __init__(self, *decisions: Decision, package: bool = False) -> None:
        self._decisions, self._package = list(decisions), package
        self.packages: list[str] = []

    async def to_act(self, act: Any) -> Decision:
        return self._decisions.pop(0)

    async def to_package(self, package: str, reasoning: str) -> bool:
        self.packages.append(package)
        return self._package


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> StillSandbox:
    monkeypatch.setattr("selfeng.projects.loop.lock_packages", locked)
    return StillSandbox()


@pytest.fixture
def bench(tmp_path, still) -> Bench:
    return Bench(tmp_path, still)


async def test_step_mode_pauses_before_each_action(bench: Bench):
    last = await bench.build(WRITE, READ, READ, DONE, step=True, consent=Answers("act", "act_on"))
    assert last.type == "project_finished"
    assert bench.types().count("paused") == 2
    stopped = await bench.build(
        call("delete_file", name="main.py"), step=True, consent=Answers("stop")
    )
    assert (stopped.type, stopped.reason, list(bench.files)) == (
        "project_stopped",
        "The build was stopped.",
        ["main.py"],
    )


async def test_a_build_that_is_stopped_ends_what_it_runs_and_can_be_gone_on_with(
    bench: Bench, still: StillSandbox
):
    still.hang = True
    building = asyncio.create_task(bench.build(WRITE, DONE))
    await still.hanging.wait()
    kept = ProjectStore(bench.folder).load("demo")
    assert (kept.status, [activity.action for activity in kept.activity]) == (
        "building",
        ["create_file"],
    )  # as a kill would leave it
    with pytest.raises(RequestError, match="the project 'demo' is already being built"):
        await Bench(bench.folder, still).build(READ)
    building.cancel()
    with pytest.raises(asyncio.CancelledError):
        await building
    assert (still.cancelled, bench.types()[-1], ProjectStore(bench.folder).load("demo").status) == (
        True,
        "stopped",
        "stopped",
    )
    still.hang = False
    last = await bench.build(DONE, goal="")
    assert (last.type, bench.events[0].resumed, bench.events[0].goal) == (
        "project_finished",
        True,
        "print 42",
    )
    assert "1. create_file main.py: main.py is created." in bench.prompts()[0]


async def test_a_broken_sandbox_is_no_failure_of_the_project(bench: Bench, still: StillSandbox):
    still.broken = True
    last = await bench.build(WRITE)
    assert (last.type, last.kind, last.message, last.steps) == (
        "project_failed",
        "sandbox",
        "the engine broke",
        1,
    )


async def test_nothing_is_examined_again_where_nothing_has_changed(
    bench: Bench, still: StillSandbox
):
    await bench.build(WRITE, READ, READ, DONE)
    assert (still.runs, bench.types().count("reasoned")) == (1, 2)


async def test_a_call_that_can_not_be_used_goes_back_to_the_model(bench: Bench):
    outside = call("create_file", name="../main.py", body="")
    last = await bench.build(
        outside, call("remove_lines", name="main.py", first=1, last=1), WRITE, DONE
    )
    assert (last.type, last.steps) == ("project_finished", 3)
    _, second, third, _ = bench.prompts()
    assert "name='../main.py': '../main.py' can't be a path in the workspace" in second
    assert "It was not done: there is no file main.py" in third


async def test_a_model_that_makes_no_sense_ends_the_build(bench: Bench):
    last = await bench.build(*[Completion(content="I would rather not.")] * 40)
    assert (last.type, last.kind) == ("project_failed", "model")


async def test_a_zip_of_the_project_is_kept_before_each_action_and_restoring_is_exact(bench: Bench):
    bench.lay_out({"pkg/data.txt": "x", "run.py": "1\n"})
    os.chmod(bench.folder / "demo" / "run.py", 0o755)
    before = bench.files
    await bench.build(
        WRITE,
        call("delete_file", name="pkg/data.txt"),
        call("write_file", name="run.py", body="2\n"),
        DONE,
    )
    store = ProjectStore(bench.folder)
    kept = backups(store.backups("demo"))
    assert [path.name for path in kept] == ["000001.zip", "000002.zip", "000003.zip"]
    assert [event.backup for event in bench.events if event.type == "project_changed"] == list(
        map(str, kept)
    )
    assert bench.files == {"main.py": "print(42)\n", "run.py": "2\n"}
    restored = store.restore("demo", 1)
    assert (restored.number, restored.kept.name) == (1, "000004.zip")
    assert bench.files == before
    assert (bench.folder / "demo" / "run.py").stat().st_mode & 0o777 == 0o700
    assert sorted(path.name for path in (bench.folder / "demo").iterdir()) == ["pkg", "run.py"]


async def test_packages_come_from_the_allowed_ones_after_approval(
    bench: Bench, still: StillSandbox
):
    bench.lay_out({"main.py": "import humanize\n"})
    ask, other = call("add_package", package="humanize"), call("add_package", package="flask")
    refused = await bench.build(
        ask,
        other,
        READ,
        max_steps=3,
        packages=("humanize==4.9.0",),
        consent=Answers(),
    )
    assert (refused.type, still.locks) == ("project_failed", [])
    assert "line 1 imports humanize" in bench.prompts()[0]
    assert "add_package asks for it" in bench.prompts()[0]
    assert "the person did not approve of humanize==4.9.0" in bench.prompts()[1]
    assert "'flask' is not among those that may be added" in bench.prompts()[2]
    consent = Answers(package=True)
    granted = await bench.build(ask, DONE, packages=("humanize==4.9.0",), consent=consent)
    (lock,) = still.locks
    assert (granted.type, lock.requirements, consent.packages) == (
        "project_finished",
        ("humanize==4.9.0",),
        ["humanize==4.9.0"],
    )
    assert await bench.build(DONE)
    assert still.locks == [lock]
    assert still.used[-1] == lock


async def test_packages_that_no_version_fits_are_an_error_of_the_action(
    bench: Bench, still: StillSandbox, monkeypatch: pytest.MonkeyPatch
):
    def fail(requirements: Sequence[str]) -> PackageLock:
        raise RequestError("the packages humanize==9 can't be installed:\nno version fits")

    monkeypatch.setattr("selfeng.projects.loop.lock_packages", fail)
    bench.lay_out({"main.py": "print(42)\n"})
    ask = call("add_package", package="humanize")
    consent = Answers(package=True)
    last = await bench.build(ask, DONE, packages=("humanize==9",), consent=consent)
    assert (last.type, still.locks) == ("project_finished", [])
    assert "no version fits" in bench.prompts()[1]


async def test_a_new_project_needs_a_goal(bench: Bench):
    with pytest.raises(RequestError, match="the project 'demo' has no goal"):
        await bench.build(goal=" ")


def test_the_context_has_the_documented_keys(bench: Bench):
    bench.lay_out({"main.py": "print(42)\n", "tests/test_main.py": "x", "data.bin": "\0"})
    workspace = ProjectStore(bench.folder).workspace("demo")
    examination = Examination(
        files=(
            FileReport(path="main.py"),
            FileReport(path="tests/test_main.py", validation_error="bad"),
        )
    )
    context = gather(
        name="demo", goal="g", folder=workspace.folder, before=LastStep(epoch=1), files=workspace.files(), examination=examination,
        actions=WORKSPACE_ACTIONS.functions(),
    ).model_dump()  # fmt: skip
    assert list(context) == [
        *(
            "epoch",
            "name",
            "goal",
            "project_dir",
            "project_path",
            "reasoning",
            "file_count",
            "filetree",
            "filetree_formatted",
        ),
        *(
            "python_files",
            "main_success",
            "main_error",
            "backup",
            "available_actions",
            "available_action_names",
            "action_name",
        ),
        *("project_code", "project_code_formatted"),
    ]
    assert context["filetree_formatted"] == "data.bin\nmain.py\ntests/\n  test_main.py"
    assert context["project_code"][1] == {
        **{
            "rel_path": "tests/test_main.py",
            "file_path": str(workspace.folder / "tests/test_main.py"),
            "content": "x",
        },
        **{
            "validation_success": False,
            "validation_error": "bad",
            "test_success": None,
            "test_error": None,
            "test_output": None,
        },
    }
    assert (
        context["project_code_formatted"]
        == '=== "main.py"\n   1 | print(42)\n\n=== "tests/test_main.py"\n   1 | x'
    )
