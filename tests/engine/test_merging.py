"""A merge: one tool passes the tests of both and returns what is recorded of both; the other is
retired, and searches find the first in its place.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
import sqlalchemy as sa

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.errors import RequestError, SynthesisFailed
from selfeng.core.events import Executing, ExecutionFinished
from selfeng.core.files import LargeFiles
from selfeng.core.provenance import Merged, Proposal
from selfeng.core.signature import parse_signature
from selfeng.core.tool import Requirement, ToolDraft
from selfeng.library.composition.linked_sandbox import LinkedSandbox, PinnedSources
from selfeng.library.tool_editor import Proposals, ProposingLibrary
from selfeng.sandbox import SecureSandbox
from selfeng.stages.executor import Executor
from selfeng.stages.tool_review import EarlierAnswers, ToolReview
from selfeng.store.conversation_files import ConversationFiles
from selfeng.store.journal import Journal, JournalEntry
from selfeng.store.recorder import Recorder
from selfeng.synthesis.steps import SynthesisPolicy
from selfeng.synthesis.suite.editing import retargeted
from selfeng.synthesis_engine import SynthesisEngine
from tests.doubles import ScriptedModel, kept
from tests.engine.test_first_runs import sandbox
from tests.registry.conftest import Place

__all__ = ["sandbox"]
pytestmark = [pytest.mark.bubblewrap, pytest.mark.asyncio(loop_scope="session")]

TESTS = """from {name} import {name}


def test_{name}_of_words() -> None:
    assert {name}({parameter}="Hello big World") == "hello-big-world"
    assert {name}("A b") == "a-b"


def test_{name}_of_nothing() -> None:
    assert {name}("") == ""
"""


def draft(name: str, parameter: str, description: str, body: str) -> ToolDraft:
    code = f"def {name}({parameter}: str) -> str:\n    return {body}\n"
    return ToolDraft(
        name=name,
        description=description,
        signature=parse_signature(code, name),
        code=code,
        tests=TESTS.format(name=name, parameter=parameter),
    )


SLUG = draft("make_slug", "text", "Make a slug of a title.", '"-".join(text.lower().split())')
LINK = draft("link_name", "title", "Hyphenate words.", 'title.lower().replace(" ", "-")')
USER = ToolDraft(
    name="address",
    description="Build an address.",
    signature=parse_signature("def address(page: str) -> str: ...", "address"),
    code="from link_name import link_name\n\n\ndef address(page: str) -> str:\n"
    '    return "/" + link_name(page)\n',
    tests="",
    requires=(Requirement(name="link_name", version=1),),
)


class Merging(NamedTuple):
    library: CapabilityRegistry
    review: ToolReview
    journal: Journal
    executor: Executor

    def record(self, owner: str, name: str, arguments: str, value: str) -> None:
        """A call of an earlier answer."""
        conversation = self.journal.create_conversation(owner, "pages")
        turn_id = self.journal.begin_turn(conversation, "Make a slug")
        events = (
            Executing(tool=name, arguments=arguments),
            ExecutionFinished(tool=name, execution=kept(value)),
        )
        now = datetime.now(UTC)
        self.journal.append([JournalEntry(conversation, turn_id, now, event) for event in events])


@asynccontextmanager
async def merging(
    sandbox: SecureSandbox, database: sa.Engine, folder: Path, *, ask: bool = False
) -> AsyncIterator[Merging]:
    model, proposals, journal = ScriptedModel(), Proposals(database), Journal(database)
    async with Place(folder, database).open() as library:
        changed = ProposingLibrary(library, proposals) if ask else library
        sources = PinnedSources(library)
        linked = LinkedSandbox(sandbox, library, sources)
        policy = SynthesisPolicy(mutation_score=0)
        synthesis = SynthesisEngine(model, linked, changed, "scripted", policy)  # type: ignore[arg-type]
        executor, recorder = Executor(model, sandbox, library, sources), Recorder(journal)
        earlier_answers = EarlierAnswers(
            library,
            lambda: executor,
            journal=journal,
            files=ConversationFiles(database, LargeFiles(folder / "files")),
            recorder=recorder,
        )
        review = ToolReview(
            library,
            lambda: synthesis,
            proposals=proposals,
            journal=journal,
            recorder=recorder,
            earlier_answers=earlier_answers,
        )
        for tool in (SLUG, LINK):
            await library.add(tool)
        yield Merging(library, review, journal, executor)


async def test_twins_are_merged_and_the_merge_is_undone(
    sandbox: SecureSandbox, database: sa.Engine, tmp_path: Path
) -> None:
    async with merging(sandbox, database, tmp_path) as m:
        await m.library.add(USER)
        m.record("me", "link_name", '{"title": "Big News"}', '"big-news"')
        m.record("you", "make_slug", '{"text": "One"}', '"one"')
        tool = await m.review.merge("me", "make_slug", "link_name")
        assert (tool.version, tool.code) == (2, SLUG.code)
        assert tool.tests.startswith(SLUG.tests.rstrip())
        assert "def test_link_name_of_words" in tool.tests
        assert "make_slug(text='Hello big World')" in tool.tests
        newest, _ = await m.library.versions("make_slug")
        assert newest.provenance.origin == Merged(tool="link_name", version=1)
        retired = await m.library.get("link_name")
        assert (retired.standing, retired.merged_into) == ("retired", "make_slug")
        found = [c.tool.name for c in await m.library.search("hyphenate words")]
        assert found[0] == "make_slug"
        assert "link_name" not in found
        user = await m.library.get("address")
        pages = await m.executor.try_out(user, user.code, {"page": "My page"}, ())
        assert (user.requires, pages.text) == (USER.requires, "/my-page")

        with pytest.raises(RequestError, match="two tools that are not retired"):
            await m.review.merge("me", "make_slug", "link_name")
        assert (await m.review.unmerge("link_name")).standing == "provisional"
        restored = await m.library.get("make_slug")
        assert (restored.version, restored.tests) == (3, SLUG.tests)
        found = [c.tool.name for c in await m.library.search("hyphenate words")]
        assert found[0] == "link_name"
        with pytest.raises(RequestError, match="link_name is merged into no tool"):
            await m.review.unmerge("link_name")


@pytest.mark.parametrize("owner", ["me", "you"])
async def test_a_recorded_call_for_which_they_differ_refuses_a_merge(
    sandbox: SecureSandbox, database: sa.Engine, tmp_path: Path, owner: str
) -> None:
    async with merging(sandbox, database, tmp_path) as m:
        m.record(owner, "link_name", '{"title": "Two  blanks"}', '"two--blanks"')
        with pytest.raises(RequestError) as refused:
            await m.review.merge("me", "make_slug", "link_name")
        shown = (
            'for {"title": "Two  blanks"}: "two--blanks" before, "two-blanks" now'
            if owner == "me"
            else "for another person's call"
        )
        assert refused.value.message == (
            f"link_name can't be merged into make_slug: they differ {shown}"
        )
        assert (await m.library.get("link_name")).standing == "provisional"
        assert (await m.library.get("make_slug")).version == 1


async def test_calls_of_a_former_version_count_as_that_tool_is_now(
    sandbox: SecureSandbox, database: sa.Engine, tmp_path: Path
) -> None:
    async with merging(sandbox, database, tmp_path) as m:
        m.record("me", "link_name", '{"title": "Two  blanks"}', '"two--blanks"')
        mended = LINK.model_copy(
            update={"code": LINK.code.replace("title.lower()", '" ".join(title.lower().split())')}
        )
        await m.library.revise(mended, 1, (await m.library.version("link_name", 1)).provenance)
        assert (await m.review.merge("me", "make_slug", "link_name")).version == 2


async def test_a_test_of_either_refuses_a_merge(
    sandbox: SecureSandbox, database: sa.Engine, tmp_path: Path
) -> None:
    async with merging(sandbox, database, tmp_path) as m:
        strict = (
            LINK.tests + '\n\ndef test_blanks() -> None:\n    assert link_name("a  b") == "a--b"\n'
        )
        tool = await m.library.get("link_name")
        origin = (await m.library.version("link_name", 1)).provenance
        await m.library.revise(LINK.model_copy(update={"tests": strict}), tool.version, origin)
        with pytest.raises(SynthesisFailed, match="test_blanks"):
            await m.review.merge("me", "make_slug", "link_name")
        assert (await m.library.get("link_name")).standing == "provisional"


async def test_where_changes_wait_a_merge_waits_for_acceptance(
    sandbox: SecureSandbox, database: sa.Engine, tmp_path: Path
) -> None:
    async with merging(sandbox, database, tmp_path, ask=True) as m:
        assert isinstance(await m.review.merge("me", "make_slug", "link_name"), Proposal)
        assert (await m.library.get("link_name")).standing == "provisional"
        assert (await m.review.accept("me", "make_slug")).version == 2
        assert (await m.library.get("link_name")).merged_into == "make_slug"


async def test_a_suite_tests_another_tool_whatever_its_names(sandbox: SecureSandbox) -> None:
    suite = "import twice as t\nfrom twice import twice\n\n\ndef test_it():\n    {}\n"
    plain = retargeted(
        suite.format("assert t.twice(n=1) == twice(n=1)"), "twice", "double", {"n": "x"}
    )
    assert plain == (
        "import double as t\nfrom double import double\n\ndef test_it():\n"
        "    assert t.double(x=1) == double(x=1)\n"
    )
    clash = retargeted(suite.format("double = twice(n=1)"), "twice", "double", {"n": "x"})
    assert clash == (
        "import double as t\nfrom double import double as twice\n\ndef test_it():\n"
        "    double = twice(x=1)\n"
    )
