"""Updates from the indexes of other libraries: what is new waits for its person, or is refused with
a sentence.
"""

import hashlib
import shutil
import subprocess
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import cast

import pytest
import sqlalchemy as sa

from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.errors import NetworkRefused, RequestError, ResourceNotFound
from selfeng.core.http import Exchange, HttpRequest, HttpResponse, Network, NetworkAccess
from selfeng.core.provenance import Proposal, Provenance
from selfeng.core.tool import Tool, ToolDraft
from selfeng.library.exchange.signing import SigningKeys
from selfeng.library.exchange.tool_bundle import IndexedTool, ToolIndex, write_bundle
from selfeng.library.exchange.tool_export import ToolExport
from selfeng.library.exchange.tool_import import ToolImport
from selfeng.library.tool_editor import proposal_of
from selfeng.servers.broker import Broker
from selfeng.stages.tool_review import ToolReview
from selfeng.stages.updates import Updates
from selfeng.store.grants import Grants
from selfeng.store.subscriptions import Subscriptions
from tests.doubles import passing
from tests.embedding.hashing import hashed_library
from tests.exchange.bundles import CODE, LOCK, draft, version
from tests.exchange.test_tool_import import Gate

ADDRESS = "https://tools.example.org/shared/index.json"
NEWER = draft(code=f"{CODE}\n\nNEWER = True\n")


class Review:
    """Keeps what is proposed, without objections."""

    def __init__(self) -> None:
        self.proposals: list[Proposal] = []

    async def propose(
        self, owner: str, tool: Tool | None, draft: ToolDraft, provenance: Provenance
    ) -> Proposal:
        self.proposals.append(proposal_of(draft, tool.version if tool else 0, provenance))
        return self.proposals[-1]


class Site:
    """A web server that has the files of a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.sent = folder, list[str]()

    def network(
        self, accesses: Sequence[NetworkAccess], on_exchange: Callable[[Exchange], None]
    ) -> Network:
        self._accesses = accesses
        return cast(Network, self)

    async def send(self, request: HttpRequest) -> HttpResponse:
        if not any(access.covers(request) for access in self._accesses):
            raise NetworkRefused(f"{request.url} is not allowed")
        self.sent.append(request.url)
        path = self._folder / request.url.rpartition("/")[2]
        body = path.read_bytes() if path.exists() else b""
        status = 200 if path.exists() else 404
        return HttpResponse(status=status, body=b64encode(body).decode(), url=request.url)


class Followed:
    """A publisher's folder, and a library that follows it."""

    def __init__(self, library: CapabilityRegistry, database: sa.Engine, folder: Path) -> None:
        self.place, self.library = folder / "site", library
        self.site, self.review, self.gate = Site(self.place), Review(), Gate()
        self.author, self.grants = SigningKeys(folder / "author"), Grants(database)
        self.updates = Updates(
            Subscriptions(database),
            library,
            ToolImport(library, SigningKeys(folder / "mine"), self.gate),
            cast(ToolReview, self.review),
            broker=cast(Broker, self.site),
            grants=self.grants,
        )

    def publish(self, number: int, tool: ToolDraft, keys: SigningKeys | None = None) -> None:
        content = write_bundle(
            [tool], (keys or self.author).sign, {tool.name: version(tool, number=number)}
        )
        entry = IndexedTool(
            name=tool.name,
            version=number,
            sha256=hashlib.sha256(content).hexdigest(),
            bundle=f"{tool.name}-{number}.zip",
        )
        self.place.mkdir(exist_ok=True)
        (self.place / entry.bundle).write_bytes(content)
        index = ToolIndex(tools=(entry,)).model_dump_json()
        (self.place / "index.json").write_text(index)

    async def check(self, *, installs: bool = False) -> list[tuple[str, str, str]]:
        findings = self.updates.check("me", installs=installs)
        return [(each.name, each.outcome, each.detail) async for each in findings]

    async def accept(self) -> None:
        proposal = self.review.proposals[-1]
        if proposal.based_on:
            new = proposal.draft(), proposal.based_on, proposal.provenance
            await self.library.revise(*new)
        else:
            await self.library.add(proposal.draft(), proposal.provenance)


def commit(folder: Path) -> None:
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(folder))
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "Publish")):
        subprocess.run([*git, *words], check=True)


@pytest.fixture
async def followed(tmp_path: Path, database: sa.Engine) -> AsyncIterator[Followed]:
    async with hashed_library(tmp_path) as library:
        yield Followed(library, database, tmp_path)


async def test_a_new_version_waits_once_and_replaces_nothing(followed: Followed) -> None:
    followed.publish(1, draft())
    await followed.updates.follow("me", str(followed.place), local=True)
    assert await followed.check() == [("reverse_text", "waits", "")]
    assert await followed.library.tools() == ()
    await followed.accept()
    assert await followed.check() == []
    followed.publish(4, NEWER)
    assert await followed.check() == [("reverse_text", "waits", "")]
    assert (await followed.library.get("reverse_text")).code == CODE
    proposal = followed.review.proposals[-1]
    assert (proposal.based_on, proposal.code) == (1, NEWER.code)
    assert str(proposal.provenance.origin).startswith("imported from site, version 4, signed by")
    assert await followed.check() == [], "who refused it is not asked again"
    await followed.accept()
    assert (await followed.library.get("reverse_text")).version == 2
    (subscription,) = await followed.updates.list("me")
    assert (subscription.problem, subscription.releases["reverse_text"][0]) == ("", 4)


async def test_what_another_key_signs_or_is_older_is_refused(
    followed: Followed, tmp_path: Path
) -> None:
    followed.publish(3, draft())
    await followed.updates.follow("me", str(followed.place), local=True)
    await followed.check()
    await followed.accept()
    stranger = SigningKeys(tmp_path / "stranger")
    followed.publish(4, NEWER, stranger)
    ((_, outcome, detail),) = await followed.check()
    assert outcome == "refused"
    assert "is signed by an unknown key" in detail
    assert "remove the subscription and add it again" in detail
    followed.publish(2, NEWER)
    ((_, outcome, detail),) = await followed.check()
    assert (outcome, detail) == (
        "refused",
        "the index has version 2 of reverse_text, and had another bundle with version 3; it is "
        "not taken; ask the publisher for a newer version",
    )
    followed.publish(5, NEWER)
    (followed.place / "reverse_text-5.zip").write_bytes(b"other")
    ((_, outcome, detail),) = await followed.check()
    assert (outcome, detail.partition(",")[0]) == (
        "refused",
        "reverse_text-5.zip has the sha256 d9298a10d1b0…",
    )
    followed.publish(6, NEWER)
    followed.gate.refuses.add("reverse_text")
    assert await followed.check() == [
        ("reverse_text", "refused", "reverse_text: 1 of 1 test failed")
    ]
    assert len(followed.review.proposals) == 1


async def test_a_tool_that_is_not_the_publishers_stays(followed: Followed) -> None:
    await followed.library.add(draft())
    followed.publish(1, NEWER)
    await followed.updates.follow("me", str(followed.place), local=True)
    ((_, outcome, detail),) = await followed.check()
    assert (outcome, detail.partition(";")[0]) == (
        "refused",
        "your reverse_text does not come from 'site'",
    )


async def test_new_packages_are_asked_for(followed: Followed) -> None:
    followed.publish(1, draft(lock=LOCK))
    await followed.updates.follow("me", str(followed.place), local=True)
    assert [outcome for _, outcome, _ in await followed.check()] == ["asks"]
    assert followed.gate.seen == []
    assert [outcome for _, outcome, _ in await followed.check(installs=True)] == ["waits"]


async def test_an_address_is_asked_as_long_as_it_is_granted(followed: Followed) -> None:
    followed.publish(1, draft())
    await followed.updates.follow("me", "https://tools.example.org/shared", name="shared")
    assert followed.site.sent == [ADDRESS, ADDRESS.replace("index.json", "reverse_text-1.zip")]
    (grant,) = followed.grants.read()
    assert (grant.owner, grant.need.name) == ("me", "tools.example.org")
    shutil.rmtree(followed.place)
    ((name, outcome, detail),) = await followed.check()
    assert (name, outcome) == ("shared", "refused")
    assert detail.startswith(f"{ADDRESS} answers with the status 404")
    (subscription,) = await followed.updates.list("me")
    assert subscription.problem == detail
    followed.grants.revoke(grant.tool)
    ((_, _, detail),) = await followed.check()
    assert detail.startswith("tools.example.org may no longer be asked for 'shared'")
    await followed.updates.leave("me", "shared")
    assert await followed.updates.list("me") == ()
    with pytest.raises(ResourceNotFound):
        await followed.updates.leave("me", "shared")


async def test_a_repository_is_read_without_a_work_tree(followed: Followed) -> None:
    followed.publish(1, draft())
    commit(followed.place)
    place = f"git+file://{followed.place}"
    await followed.updates.follow("me", place, local=True)
    assert await followed.check() == [("reverse_text", "waits", "")]
    shutil.rmtree(followed.place / ".git")
    ((name, outcome, detail),) = await followed.check()
    assert (name, outcome) == ("site", "refused")
    assert detail.startswith(f"git can't read file://{followed.place}")


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("/etc", "is on the server's machine"),
        ("git+file:///srv/tools", "is on the server's machine"),
        ("http://tools.example.org/index.json", "can't be followed"),
        ("git+ssh://git.example.org/tools.git", "can't be followed"),
        ("ext::sh -c id", "is on the server's machine"),
        ("https://127.1/index.json", "can't be followed"),
    ],
)
async def test_places_that_are_not_followed(followed: Followed, place: str, problem: str) -> None:
    with pytest.raises(RequestError, match=problem):
        await followed.updates.follow("me", place)


async def test_malformed_and_unsigned_indexes_are_refused(followed: Followed) -> None:
    followed.publish(1, draft())
    place, index = str(followed.place), followed.place / "index.json"
    good = index.read_text()
    for text, problem in (
        ("{", "index.json: Invalid JSON"),
        (good.replace("reverse_text-1.zip", "../secret.zip"), r"tools.0.bundle: String should"),
        ('{"tools": []}', "has no tools"),
    ):
        index.write_text(text)
        with pytest.raises(RequestError, match=problem):
            await followed.updates.follow("me", place, local=True)
    content = write_bundle([draft()], None, {"reverse_text": version(draft(), number=1)})
    (followed.place / "reverse_text-1.zip").write_bytes(content)
    entry = IndexedTool(
        name="reverse_text",
        version=1,
        sha256=hashlib.sha256(content).hexdigest(),
        bundle="reverse_text-1.zip",
    )
    index.write_text(ToolIndex(tools=(entry,)).model_dump_json())
    with pytest.raises(RequestError, match="is not signed"):
        await followed.updates.follow("me", place, local=True)
    assert await followed.updates.list("me") == ()


async def test_what_was_published_stays_until_the_tool_has_a_new_version(
    followed: Followed, tmp_path: Path
) -> None:
    async def examples(tool: ToolDraft) -> tuple[str, ...]:
        return requests

    requests: tuple[str, ...] = ()
    export = ToolExport(followed.library, followed.author)
    tool = await followed.library.add(draft(), Provenance(verdict=passing()))
    first = await export.publish(followed.place, [], examples)
    requests = ("reverse it",)
    assert await export.publish(followed.place, ["reverse_text"], examples) == first
    await followed.library.revise(NEWER, tool.version, Provenance(verdict=passing()))
    second = await export.publish(followed.place, [], examples)
    assert [(entry.version, entry.bundle) for entry in second.tools] == [(2, "reverse_text-2.zip")]
