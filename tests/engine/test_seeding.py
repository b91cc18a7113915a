"""Seeds on their way into a real library; the gate is one that knows what to let through."""

from collections.abc import Awaitable, Callable

import pytest

from selfeng.core.errors import AgentError, SandboxFailed, SynthesisFailed
from selfeng.core.provenance import Provenance
from selfeng.core.tool import ToolDraft
from selfeng.core.verdict import Verdict
from selfeng.library.seeding import Planted, SeedMark, plant
from tests.doubles import passing
from tests.embedding.hashing import hashed_library
from tests.registry.drafts import COUNT, REVERSE, SHOUT

Gate = Callable[[ToolDraft], Awaitable[Verdict]]


@pytest.fixture
async def library(tmp_path):
    async with hashed_library(tmp_path) as library:
        yield library


class Noted:
    """A gate that lets everything through but what it is told to refuse."""

    def __init__(self, *refused: str) -> None:
        self.seen: list[str] = []
        self._refused = refused

    async def __call__(self, draft: ToolDraft) -> Verdict:
        self.seen.append(draft.name)
        if draft.name in self._refused:
            raise SynthesisFailed(f"{draft.name}: 1 of 1 test failed")
        return passing()


class Busy:
    """A gate that fails a few times, then lets everything through."""

    def __init__(self, trouble: AgentError, times: int) -> None:
        self._trouble, self._left = trouble, times

    async def __call__(self, draft: ToolDraft) -> Verdict:
        self._left -= 1
        if self._left >= 0:
            raise self._trouble
        return passing()


async def test_seeds_are_added_once_and_refused_ones_are_named(library):
    said: list[str] = []
    first = await plant([REVERSE, SHOUT], library, Noted("shout_text"), said.append)
    assert first == Planted(added=("reverse_text",), present=(), refused=("shout_text",))
    assert said == [
        "reverse_text: Reverse a text.",
        "shout_text: try 1 of 3 failed, trying again: 1 of 1 test failed",
        "shout_text: try 2 of 3 failed, trying again: 1 of 1 test failed",
        "refused: shout_text: 1 of 1 test failed",
    ]
    gate = Noted()
    assert await plant([REVERSE, SHOUT], library, gate, said.append) == Planted(
        added=("shout_text",), present=("reverse_text",), refused=()
    )
    assert gate.seen == ["shout_text"]
    (version,) = await library.versions("shout_text")
    assert (version.provenance, (await library.get("shout_text")).standing) == (
        Provenance(verdict=passing()),
        "provisional",
    )


@pytest.mark.parametrize(
    "trouble",
    [
        SynthesisFailed("reverse_text: It did not end within 90 s."),
        SandboxFailed("It did not end within 90 s."),
    ],
)
async def test_a_seed_is_examined_again_after_a_timeout(library, trouble):
    said: list[str] = []
    gate = Busy(trouble, times=2)
    planted = await plant([REVERSE], library, gate, said.append)
    assert planted == Planted(added=("reverse_text",), present=(), refused=())
    assert said == [
        "reverse_text: try 1 of 3 failed, trying again: It did not end within 90 s.",
        "reverse_text: try 2 of 3 failed, trying again: It did not end within 90 s.",
        "reverse_text: Reverse a text.",
    ]


async def test_a_sandbox_that_stays_broken_ends_the_seeding_after_three_tries(library):
    said: list[str] = []
    with pytest.raises(SandboxFailed, match="no answer"):
        await plant(
            [REVERSE, SHOUT], library, Busy(SandboxFailed("no answer"), times=3), said.append
        )
    assert (len(said), await library.tools()) == (2, ())


async def test_a_seed_that_another_process_plants_meanwhile_is_present(library):
    async def overtaken(draft: ToolDraft) -> Verdict:
        await library.add(draft)
        return passing()

    said: list[str] = []
    planted = await plant([REVERSE, COUNT], library, overtaken, said.append)
    assert (planted, said) == (
        Planted(added=(), present=("reverse_text", "count_letters"), refused=()),
        [],
    )


async def test_files_of_a_lost_library_that_equal_a_seed_are_taken_through_the_gate(
    library, tmp_path
):
    (tmp_path / "tools" / "reverse_text.py").write_text(REVERSE.code)
    (tmp_path / "tools" / "test_reverse_text.py").write_text(REVERSE.tests)
    gate = Noted()
    assert await plant([REVERSE], library, gate, lambda _: None) == Planted(
        added=("reverse_text",), present=(), refused=()
    )
    assert (gate.seen, [t.name for t in await library.tools()]) == (
        ["reverse_text"],
        ["reverse_text"],
    )


async def test_other_files_in_the_way_of_a_seed_refuse_it_before_the_gate(library, tmp_path):
    file = tmp_path / "tools" / "reverse_text.py"
    file.write_text("mine")
    gate, said = Noted(), []
    assert await plant([REVERSE, SHOUT], library, gate, said.append) == Planted(
        added=("shout_text",), present=(), refused=("reverse_text",)
    )
    assert (
        said[0]
        == f"refused: {file} is in the way: it belongs to no tool of the library; move the file "
        "away, or choose another name"
    )
    assert (gate.seen, file.read_text()) == (["shout_text"], "mine")


def test_the_mark_is_in_the_database(new_database):
    first, second = new_database(), new_database()
    marks = [SeedMark(first), SeedMark(second)]
    assert [mark.present() for mark in marks] == [False, False]
    marks[0].put()
    marks[0].put()
    assert [mark.present() for mark in marks] == [True, False]
