"""Updates: follows the indexes of other libraries, in a folder, a git repository or at an address.

A version that an index newly has, and the gate accepts, waits as a proposal of the person who
follows it; nothing is replaced. A bundle that another key has signed than the first is refused.
"""

import asyncio
import base64
import hashlib
import logging
import os
import subprocess
import tempfile
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import urljoin, urlsplit

from selfeng.core.errors import (
    AgentError,
    NetworkRefused,
    NotConsented,
    RequestError,
    ResourceNotFound,
    SandboxError,
)
from selfeng.core.http import HttpRequest, NetworkAccess
from selfeng.core.protocols import ToolLibrary
from selfeng.core.visible import one_line
from selfeng.library.exchange.tool_bundle import INDEX, LARGEST, IndexedTool, read_index
from selfeng.library.exchange.tool_import import (
    ImportFinding,
    ImportOffer,
    ToolImport,
    has_same_sources,
    refusal,
)
from selfeng.servers.broker import Broker
from selfeng.stages.tool_review import ToolReview
from selfeng.store.grants import Grants
from selfeng.store.subscriptions import Subscription, Subscriptions

log = logging.getLogger(__name__)

_CLONING = 60.0
"""Seconds."""
_LONGEST_NAME = 40
_PLACES = "name a folder, https://…/index.json, or git+https://… of a repository"
_CLONE = (
    "ulimit -f 131072; exec git -c http.followRedirects=false -c core.hooksPath=/dev/null "
    'clone --quiet --bare --depth=1 --single-branch --no-tags "$@"'
)
"""Without a work tree, so that nothing in it is run or linked; no file has more than 64 MB."""
_SHOW = f'git --git-dir="$1" cat-file blob "HEAD:$2" | head -c {LARGEST + 1}'

Read = Callable[[str], Awaitable[bytes]]
"""Gives a file of an index. Raises: RequestError, NetworkRefused."""


class Updates:
    """Used on the engine's loop."""

    def __init__(
        self,
        subscriptions: Subscriptions,
        library: ToolLibrary,
        imports: ToolImport,
        review: ToolReview,
        *,
        broker: Broker,
        grants: Grants,
    ) -> None:
        self._subscriptions, self._library = subscriptions, library
        self._imports, self._review = imports, review
        self._broker, self._grants = broker, grants

    async def list(self, owner: str) -> tuple[Subscription, ...]:
        """Those of an owner, by name."""
        return await asyncio.to_thread(self._subscriptions.read, owner)

    async def follow(
        self, owner: str, place: str, name: str = "", *, local: bool = False
    ) -> Subscription:
        """Follow an index from now on, and only what the key signs that signed its first bundle.
        `local` allows places on this machine. The host of the place may be asked until its grant
        is revoked.

        Raises: RequestError: the place can't be followed, or the name is taken; NetworkRefused.
        """
        place = _canonical(place, local=local)
        stem = place.removesuffix(f"/{INDEX}").removesuffix(".git")
        name = one_line(name or stem.rpartition("/")[2]).strip()[:_LONGEST_NAME]
        if any(its.name == name for its in await self.list(owner)):
            raise RequestError(
                f"there is a subscription {name!r}", "give another name, or remove it"
            )
        async with self._opened(place) as read:
            index = read_index(await read(INDEX))
            if not index.tools:
                raise RequestError(f"the index at {place} has no tools", "follow it when it has")
            signer = (await self._offer(read, index.tools[0])).signer
        if signer.status == "unsigned":
            raise RequestError(
                f"{index.tools[0].bundle} of {place} is not signed",
                "import its tools by hand, or ask the author to run `selfeng publish`",
            )
        new = Subscription(
            name=name,
            owner=owner,
            place=place,
            key=signer.key,
            fingerprint=signer.fingerprint,
            created_at=datetime.now(UTC),
        )
        await asyncio.to_thread(self._grants.put, owner, _holder(new), 0, _accesses(place))
        await asyncio.to_thread(partial(self._subscriptions.put, new, new=True))
        return new

    async def leave(self, owner: str, name: str) -> None:
        """Follow an index no longer; what it brought stays. Raises: ResourceNotFound."""
        for subscription in await self._those(owner, name):
            await asyncio.to_thread(self._subscriptions.remove, subscription)
            await asyncio.to_thread(self._grants.revoke, _holder(subscription))

    async def check(
        self, owner: str, name: str = "", *, installs: bool = False
    ) -> AsyncGenerator[ImportFinding, None]:
        """Look for updates in the index of that name, or in all of an owner. `installs`: packages
        that tools need are installed, to check them. An index that can't be read is a finding with
        its name, and stops no other.

        Raises: ResourceNotFound; SandboxError.
        """
        for subscription in await self._those(owner, name):
            releases, problem = dict(subscription.releases), ""
            try:
                async for finding in self._findings(subscription, releases, installs=installs):
                    yield finding
            except SandboxError:
                raise
            except AgentError as error:
                finding = refusal(subscription.name, error)
                problem = finding.detail
                yield finding
            finally:
                now = {"releases": releases, "problem": problem, "checked_at": datetime.now(UTC)}
                after = subscription.model_copy(update=now)
                await asyncio.to_thread(self._subscriptions.put, after)

    async def check_all(self) -> None:
        """Look for updates for everybody, without anybody to ask; errors are logged."""
        everybody = await asyncio.to_thread(self._subscriptions.read)
        for subscription in everybody:
            try:
                async for finding in self.check(subscription.owner, subscription.name):
                    words = f"{finding.name} {finding.outcome} {finding.detail}"
                    log.info("update of %s: %s", subscription.name, one_line(words))
            except Exception:  # the boundary of a background task
                log.exception("updates of %s were not looked for", subscription.name)

    async def _those(self, owner: str, name: str) -> tuple[Subscription, ...]:
        matches = tuple(its for its in await self.list(owner) if name in ("", its.name))
        if name and not matches:
            remedy = "`selfeng subscriptions list` has their names"
            raise ResourceNotFound(f"there is no subscription {name[:80]!r}", remedy)
        return matches

    async def _findings(
        self, subscription: Subscription, releases: dict[str, tuple[int, str]], *, installs: bool
    ) -> AsyncIterator[ImportFinding]:
        """`releases` gets those that are known from now on."""
        accesses = _accesses(subscription.place)
        lacking = await asyncio.to_thread(self._grants.ungranted, _holder(subscription), accesses)
        if lacking:
            raise NotConsented(
                f"{lacking[0].name} may no longer be asked for {subscription.name!r}",
                "remove the subscription and add it again to allow it",
            )
        async with self._opened(subscription.place) as read:
            for entry in read_index(await read(INDEX)).tools:
                before, release = releases.get(entry.name), (entry.version, entry.sha256)
                if before == release:
                    continue
                try:
                    _check_newer(entry, before)
                    offer = await self._offer(read, entry, installs=installs)
                    finding = await self._proposed(subscription, entry, offer)
                except SandboxError:
                    raise
                except AgentError as error:
                    yield refusal(entry.name, error)
                    continue
                if finding.outcome != "asks":
                    releases[entry.name] = release
                yield finding

    async def _proposed(
        self, subscription: Subscription, entry: IndexedTool, offer: ImportOffer
    ) -> ImportFinding:
        """Let a tool of an index wait for the person, unless the library has the same. Raises:
        AgentError: it is refused.
        """
        name, version = entry.name, entry.version
        if offer.signer.key != subscription.key:
            raise RequestError(
                f"{entry.bundle} is {offer.signer}, but {subscription.name!r} is followed with the "
                f"key {subscription.fingerprint}",
                "ask the publisher whether the key has changed; to follow the new one, remove the "
                "subscription and add it again",
            )
        draft = next((draft for draft in offer.drafts if draft.name == name), None)
        if draft is None or offer.releases[name] != version:
            raise RequestError(
                f"{entry.bundle} does not have version {version} of {name}, as the index says",
                "ask the publisher to run `selfeng publish` again",
            )
        tool = next((tool for tool in await self._library.tools() if tool.name == name), None)
        if tool and has_same_sources(tool, draft):
            return ImportFinding(name=name, outcome="present")
        if tool and not (tool.imported and tool.imported.signer == subscription.fingerprint):
            raise RequestError(
                f"your {name} does not come from {subscription.name!r}",
                "yours stays; to take the other one, remove yours first",
            )
        if tool and tool.lock == draft.lock:  # they are installed already
            offer = offer.model_copy(update={"installs": True})
        file = f"{subscription.name}, version {version}"
        new = await self._imports.examined(offer, draft, file)
        if isinstance(new, ImportFinding):
            return new
        if tool is None:
            await self._library.check(new[0])
        proposal = await self._review.propose(subscription.owner, tool, *new)
        return ImportFinding(name=name, outcome="waits", detail="; ".join(proposal.objections))

    async def _offer(
        self, read: Read, entry: IndexedTool, *, installs: bool = False
    ) -> ImportOffer:
        """The bundle of a tool. Raises: RequestError: it is another one, or none."""
        content = await read(entry.bundle)
        if (sha256 := hashlib.sha256(content).hexdigest()) != entry.sha256:
            raise RequestError(
                f"{entry.bundle} has the sha256 {sha256[:12]}…, not {entry.sha256[:12]}… as the "
                "index says",
                "try again later; if it stays so, ask the publisher",
            )
        return await self._imports.read(content, installs=installs)

    @asynccontextmanager
    async def _opened(self, place: str) -> AsyncIterator[Read]:
        """Gives what reads its files. Raises: RequestError, NetworkRefused."""
        accesses = _accesses(place)
        if not place.startswith("git+"):
            network = self._broker.network(accesses, lambda exchange: None)

            async def fetch(name: str) -> bytes:
                url = urljoin(place, name)
                response = await network.send(HttpRequest(method="GET", url=url))
                if response.status != 200:
                    problem = f"{url} answers with the status {response.status}"
                    raise NetworkRefused(problem, "check the address, or try again later")
                return base64.b64decode(response.body)

            yield fetch if accesses else lambda name: asyncio.to_thread(_file, Path(place, name))
            return
        pins = list[str]()
        for access in accesses:  # so that git asks an address that was checked
            address = (await self._broker.addresses(access))[0]
            pins += ["-c", f"http.curloptResolve={access.host}:{access.port}:{address}"]
        with tempfile.TemporaryDirectory(prefix="selfeng-index-") as scratch:
            clone = partial(_git, scratch, _CLONE, *pins, "--", place.removeprefix("git+"))
            await asyncio.to_thread(clone, f"{scratch}/index.git")
            show = partial(_git, scratch, _SHOW, f"{scratch}/index.git")
            yield lambda name: asyncio.to_thread(show, name)


def _canonical(place: str, *, local: bool) -> str:
    """The place in the one form that is kept. Raises: RequestError: it can't be one."""
    scheme = urlsplit(place).scheme if "://" in place else ""
    is_remote = scheme in ("https", "git+https")
    if scheme not in ("", "git+file", "https", "git+https") or is_remote != bool(_accesses(place)):
        raise RequestError(f"{place[:80]!r} can't be followed", _PLACES)
    if not (local or is_remote):
        raise RequestError(
            f"{place[:80]!r} is on the server's machine",
            "name an https:// address, or run `selfeng subscriptions add` there",
        )
    if not scheme:
        return str(Path(place).expanduser().resolve())
    is_full = scheme != "https" or urlsplit(place).path.endswith(".json")
    return place if is_full else f"{place.rstrip('/')}/{INDEX}"


def _accesses(place: str) -> tuple[NetworkAccess, ...]:
    """The host that a place is at; none on this machine."""
    url = place.removeprefix("git+")
    path = urlsplit(url).path.rpartition("/")[0] or "/"
    access = NetworkAccess(host="{url}", path=path, purpose="It has updates of tools.")
    return access.at(url) if url.startswith("https://") else ()


def _holder(subscription: Subscription) -> str:
    """The holder of the grant; no tool's name has a space."""
    name = f"{subscription.owner} {subscription.name}"
    return f"subscription {hashlib.sha256(name.encode()).hexdigest()[:32]}"


def _check_newer(entry: IndexedTool, before: tuple[int, str] | None) -> None:
    """Raises: RequestError: it is a downgrade, or another bundle of the same version."""
    if before and entry.version <= before[0]:
        raise RequestError(
            f"the index has version {entry.version} of {entry.name}, and had another bundle with "
            f"version {before[0]}",
            "it is not taken; ask the publisher for a newer version",
        )


def _file(path: Path) -> bytes:
    """Raises: RequestError."""
    try:
        with path.open("rb") as stream:
            return stream.read(LARGEST + 1)
    except OSError as error:
        raise RequestError(f"{path} can't be read: {error.strerror}", _PLACES) from error


def _git(folder: str, script: str, *arguments: str) -> bytes:
    """The output of a script of git, which has nothing of this user's configuration. Raises:
    RequestError: it prints an error, or takes too long.
    """
    environment = dict.fromkeys(("GIT_CONFIG_NOSYSTEM", "GIT_NO_LAZY_FETCH"), "1")
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", "HOME": folder}
    environment |= {"GIT_ALLOW_PROTOCOL": "https:file", "PATH": os.environ.get("PATH", os.defpath)}
    try:
        command = ["sh", "-c", script, "git", *arguments]
        result = subprocess.run(  # noqa: S603 - the scripts above, and no argument is an option
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_CLONING,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RequestError(f"git can't read {arguments[-2]}: {error}", _PLACES) from error
    if result.stderr:
        problem = one_line(result.stderr.decode(errors="replace"))[-200:]
        raise RequestError(f"git can't read {arguments[-2]}: {problem}", _PLACES)
    return result.stdout
