"""Calls of one session, which share a process and a folder."""

import asyncio
from collections.abc import Mapping

import pytest

from selfeng.core.files import File
from selfeng.core.owner import owned_by
from selfeng.core.verdict import Killed, Returned, SandboxJob
from selfeng.sandbox import SecureSandbox

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.fixture(autouse=True)
def patient(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions wait for a busy machine."""
    if "second" not in request.node.name:
        monkeypatch.setattr("selfeng.sandbox._SESSION", 5.0)


MARK = """
import builtins, pathlib
def tool(write=False):
    builtins.calls = getattr(builtins, "calls", 0) + 1
    if write:
        pathlib.Path("new.txt").write_text("new")
    return [builtins.calls, sorted(path.name for path in pathlib.Path().iterdir())]
"""


async def call(
    sandbox: SecureSandbox,
    session: str,
    files: tuple[File, ...] = (),
    library: Mapping[str, str] | None = None,
    **arguments: object,
) -> object:
    job = SandboxJob("tool", MARK, session=session, library=library or {})
    outcome = await sandbox.execute(job, arguments, files)
    assert isinstance(outcome, Returned), outcome
    return outcome.data


async def test_the_next_call_of_a_session_has_the_process_and_the_folder(
    sandbox: SecureSandbox,
) -> None:
    files = (File(name="a.txt", content=b"a"),)
    assert await call(sandbox, "folder", files) == '[1,["a.txt"]]'
    assert await call(sandbox, "folder", files) == '[2,["a.txt"]]'


async def test_a_session_has_two_calls(sandbox: SecureSandbox) -> None:
    assert [await call(sandbox, "two") for _ in range(3)] == ["[1,[]]", "[2,[]]", "[1,[]]"]


async def test_a_folder_that_the_call_changed_ends_the_session(sandbox: SecureSandbox) -> None:
    assert await call(sandbox, "changed", write=True) == '[1,["new.txt"]]'
    assert await call(sandbox, "changed") == "[1,[]]"


async def test_other_sessions_and_other_owners_have_processes_of_their_own(
    sandbox: SecureSandbox,
) -> None:
    assert await call(sandbox, "others") == "[1,[]]"
    assert await call(sandbox, "") == "[1,[]]"
    assert await call(sandbox, "t") == "[1,[]]"
    with owned_by("someone else"):
        assert await call(sandbox, "others") == "[1,[]]"
    assert await call(sandbox, "others") == "[2,[]]"


async def test_a_session_ends_after_a_second(sandbox: SecureSandbox) -> None:
    assert await call(sandbox, "late") == "[1,[]]"
    await asyncio.sleep(1.1)
    assert await call(sandbox, "late") == "[1,[]]"


async def test_a_call_that_was_killed_ends_the_session(sandbox: SecureSandbox) -> None:
    job = SandboxJob("tool", "import os\ndef tool(): os._exit(3)", session="killed")
    assert isinstance(await sandbox.execute(job, {}), Killed)
    assert await call(sandbox, "killed") == "[1,[]]"


async def test_nothing_of_a_session_is_left_for_the_next_call(sandbox: SecureSandbox) -> None:
    await call(sandbox, "nothing")
    await call(sandbox, "nothing", write=True)
    await sandbox.settle()
    assert await call(sandbox, "next") == "[1,[]]"
