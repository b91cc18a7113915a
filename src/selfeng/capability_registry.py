"""The capability registry: the library of tools, kept in files and SQL and searched by meaning.

A record in SQL is the source of truth; `tools/<name>.py` and `tools/test_<name>.py` are copies of
it that are watched for edits. The vectors in SQL serve an exact search, and the index in Chroma is
a copy of them that can be deleted at any time. `python src/selfeng/capability_registry.py`
demonstrates it.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import sqlalchemy as sa

from selfeng.core.background import BackgroundTasks, in_thread
from selfeng.core.daemon_threads import DaemonThreads
from selfeng.core.errors import (
    DatabaseUnavailable,
    EmbedderUnavailable,
    ToolModified,
    ToolNotFound,
)
from selfeng.core.events import ToolStandingChanged
from selfeng.core.protocols import Embedder
from selfeng.core.provenance import Edited, Provenance, ToolVersion
from selfeng.core.server_tool import ServerCandidate, ServerTool
from selfeng.core.tool import Candidate, Tool, ToolDraft
from selfeng.core.words import count
from selfeng.library import names, records
from selfeng.library.file_watcher import FileWatcher
from selfeng.library.index import IndexState, Progress, SearchIndex
from selfeng.library.library_errors import exists, file_in_the_way, half, not_found, verify_again
from selfeng.library.library_snapshot import LibraryChange, LibrarySnapshot
from selfeng.library.personal_tools import PersonalTools
from selfeng.library.ranking import Ranking
from selfeng.library.reembedding import Embedded, Former, Reembedding, Space
from selfeng.library.searching import Search
from selfeng.library.tool_editor import ToolEditor
from selfeng.library.tool_files import Checkpoint, Pair, Sources, ToolFiles, code_file, tests_file
from selfeng.library.tool_writer import ToolWriter, edited
from selfeng.library.trust import Trust, TrustRule
from selfeng.library.vectors import Vectors
from selfeng.store.database import reading

__all__ = ["CapabilityRegistry", "LibraryChange", "Sources", "TrustRule"]

_log = logging.getLogger(__name__)
_REPORTED = 0.2
"""Seconds between progress reports of an index build."""
_NEAR = 0.04
"""Confidence that a tool needs to match a text: single words reach little, and those that no tool
has to do with stay below.
"""
_COMPARED = 500
"""Tools with files compared in one batch, which takes a tenth of a second."""
_EMBEDDING = 8
"""Threads for what waits for the embedder: where it is a server that hangs, the threads that all
else shares stay free.
"""
_CLOSE_SECONDS = 10.0
_RECENT = 0.05
"""Seconds for which `get_for_call` keeps a tool."""
_COUNTED = 0.1
"""Seconds for which `count_use` collects uses."""
_FIRST_PAUSE, _LONGEST_PAUSE = 10.0, 300.0
"""Seconds until tools that lack a vector are embedded again; the pause doubles."""


class CapabilityRegistry:
    """The tool library. Its methods are called on one event loop, between `start` and `aclose`."""

    def __init__(
        self,
        engine: sa.Engine,
        tools_dir: Path,
        index: Path | str,
        embedder: Embedder,
        *,
        parts: Path | None = None,
        trust: TrustRule | None = None,
        ranking: Ranking | None = None,
        former: Former = lambda embedder_id: None,
        reserved: Callable[[], Collection[str]] = frozenset,
        on_change: Callable[[LibraryChange], None] = lambda change: None,
        checkpoint: Checkpoint = lambda step: None,
    ) -> None:
        """`index`: the folder of the search index, or the URL of the Chroma server that has it;
        `parts`: the folder in which set-up has put Chroma, if it has;
        `ranking`: by default the one shipped for the embedder; `former`: see `Reembedding`;
        `reserved`: gives names that no tool gets;
        `on_change` is called on the event loop.

        `checkpoint` is for crash tests, see `Checkpoint`.
        """
        self._engine = engine
        self._space = Space.for_embedder(embedder, ranking)
        self._on_change = on_change
        self._files = ToolFiles(tools_dir, checkpoint)
        self._writer = ToolWriter(engine, self._files, checkpoint)
        self._watcher = FileWatcher(engine, self._files, self._writer)
        self._vectors = Vectors(engine, embedder)
        self._personal = PersonalTools(engine)
        self._trust = Trust(engine, trust or TrustRule())
        self._index = SearchIndex(index, engine, embedder.id, parts)
        self._check_form = partial(names.check_form, reserved=reserved)
        self._editor = ToolEditor(engine, self._watcher, self._writer, self._vectors)
        self._embedding = DaemonThreads(_EMBEDDING, "embedding")
        self._reembedding = Reembedding(engine, self._vectors, embedder, former, self._embedding)
        self._search = Search(engine, self._watcher, self._index, self._reembedding, self._space)
        self._background = BackgroundTasks()
        self._lacking = False
        """Whether a tool lacks its vector."""
        self._later: asyncio.Task[None] | None = None
        """Embeds such tools."""
        self._uses: dict[tuple[str, int], list[str]] = {}
        """The calls that `count_use` has collected, by tool and version."""
        self._released = set[records.ToolEntry]()
        """The tools without requests to release, of those that have served."""
        self._recent: dict[str, tuple[float, LibrarySnapshot, Pair, Tool]] = {}
        """Until when `get_for_call` gives which tool, as of which snapshot and files."""

    async def start(self) -> None:
        """Complete the changes that a killed process began and reconcile records with files; the
        index opens in the background.
        """
        snapshot = await asyncio.to_thread(self._start)
        self._tell()
        if strangers := sorted(file for file in snapshot.files if snapshot.is_stranger(file)):
            listed = ", ".join(strangers)
            _log.warning(
                "files in %s that the library did not write are left alone: %s%s",
                self._files.folder,
                listed,
                f"; {self.offer}" if self.offer else "",
            )
        self._background.start(self._reembedding.run())
        self._background.start(self._compare_files(sorted(snapshot)[_COMPARED:]))

    @property
    def offer(self) -> str:
        """The remedy for tools in the folder that the database does not know, as after its loss; ""
        if there are none.
        """
        orphans, folder = self._watcher.snapshot.orphans, self._files.folder
        if not orphans:
            return ""
        tools = count(len(orphans), "tool")
        return f"`selfeng import {folder}` shows {tools} there and adds what passes the gate"

    async def embed(self) -> None:
        """Embed the tools without vectors, once the embedder is available; failures are logged, and
        what failed is tried again in the background.
        """
        await asyncio.to_thread(self._reembedding.begin)
        if not await self._reembedding.run():
            self._embed_later()

    def _embed_later(self) -> None:
        self._lacking = True
        if self._later is None or self._later.done():
            self._later = asyncio.create_task(self._embed_again())

    async def _embed_again(self) -> None:
        pause = _FIRST_PAUSE
        while self._lacking:
            await asyncio.sleep(pause)
            self._lacking = False  # until a tool is added without one meanwhile
            if not await self._reembedding.run():
                self._lacking = True
            pause = min(2 * pause, _LONGEST_PAUSE)

    async def aclose(self) -> None:
        if self._later:
            self._later.cancel()
            await asyncio.wait([self._later])
        await self._count_uses()
        await self._background.aclose()
        await asyncio.to_thread(self._index.close)
        await asyncio.to_thread(self._embedding.close, _CLOSE_SECONDS)

    async def search(self, request: str, limit: int = 8) -> tuple[Candidate, ...]:
        """The best tools for a request, best first, without retired and hand-edited ones."""
        candidates = await self._search.find(request, limit)
        self._index.follow(self._watcher.snapshot.revision)
        self._tell()
        return candidates

    async def matches(self, text: str, limit: int) -> tuple[Candidate, ...]:
        """Those of `search` that have to do with the text, for who looks at the library."""
        return tuple(
            candidate
            for candidate in await self.search(text, limit)
            if candidate.confidence >= _NEAR
        )

    async def compare(
        self, request: str, tools: Sequence[ServerTool]
    ) -> tuple[ServerCandidate, ...]:
        """How well tools of other servers fit a request, best first."""
        return await self._search.compare(request, tools)

    async def tools(self) -> tuple[Tool, ...]:
        """All tools by name, including retired and hand-edited ones."""
        await self._count_uses()
        await self._compare_files(sorted(await self._look()))
        return await asyncio.to_thread(self._load, sorted(self._watcher.snapshot))

    async def count(self) -> int:
        """The number of tools, including retired and hand-edited ones."""
        return (await self._look()).count

    async def get_for_call(self, name: str) -> Tool:
        """As `get`, without a look at SQL if there was one a moment ago: a look, and the change to
        its thread and back, would be a quarter of a burst of short calls. Changes by this process
        and to the tool's files are noticed at once, and its count of uses may be older.
        """
        now, stamps = time.monotonic(), self._files.stamps(name)
        if (recent := self._recent.get(name)) and recent[0] > now:
            _, snapshot, its, tool = recent
            if snapshot is self._watcher.snapshot and its == stamps:
                return tool
        tool = await self.get(name)
        self._recent[name] = now + _RECENT, self._watcher.snapshot, stamps, tool
        return tool

    async def get(self, name: str) -> Tool:
        """The newest version, retired or not. Raises: ToolNotFound, ToolModified."""
        snapshot, tools = await asyncio.to_thread(self._looked_up, name)
        self._follow(snapshot)
        if missing := snapshot.half(name):
            raise half(name, missing)
        if not tools:
            raise not_found(name)
        if name in snapshot.modified:
            raise ToolModified(
                f"{code_file(name)} or {tests_file(name)} differs from what was verified",
                verify_again(name),
                name=name,
            )
        return tools[0]

    def _looked_up(self, name: str) -> tuple[LibrarySnapshot, tuple[Tool, ...]]:
        snapshot = self._watcher.look((name,))
        return snapshot, self._load([name]) if name in snapshot else ()

    async def check_name(self, name: str) -> None:
        """Check a name against the last look at the library; `add` checks it again. Raises:
        ToolNameInvalid, ToolExists, FileInTheWay.
        """
        self._check_form(name)
        snapshot = self._watcher.snapshot
        if snapshot.reserves(name):
            raise exists(name)
        for file in (code_file(name), tests_file(name)):
            if snapshot.is_stranger(file):
                raise file_in_the_way(self._files.folder, file)

    async def check(self, draft: ToolDraft) -> None:
        """Check whether `add` would accept the draft: like `check_name`, but existing files with
        the same content are accepted.

        Raises: ToolNameInvalid, ToolExists, LibraryError.
        """
        self._check_form(draft.name)
        await asyncio.to_thread(
            self._writer.check, draft.name, Sources(code=draft.code, tests=draft.tests)
        )

    async def add(
        self,
        draft: ToolDraft,
        provenance: Provenance | None = None,
        requests: Sequence[str] = (),
    ) -> Tool:
        """Register files, record, vector and version, or nothing, even if the process is killed in
        between. The tool is found by the `requests`, too.

        While there is no embedder, the tool is found by its words.

        Raises: ToolNameInvalid, ToolExists, LibraryError (such as FileInTheWay).
        """
        self._check_form(draft.name)
        tool, embedded = await self._embedding.run(
            partial(self._editor.add, draft, provenance or Provenance(), requests)
        )
        if not embedded:
            self._embed_later()
        await self._look(tool.name)
        return tool

    async def prepare(self, draft: ToolDraft, requests: Sequence[str] = ()) -> None:
        """Embed the words of a tool that is about to be added; its vector is kept for a while."""
        await self._embedding.run(partial(self._vectors.of_new, draft, requests))

    async def revise(self, draft: ToolDraft, based_on: int, provenance: Provenance) -> Tool:
        """Make the next version of the tool of that name, which begins provisional; on an error
        nothing changes.

        Raises:
            VersionConflict: version `based_on` is not the newest.
            ToolModified: the files were edited by hand, and the edit would be lost.
            ToolNotFound, VersionNotFound, EmbedderUnavailable, LibraryError
        """
        tool = await self._embedding.run(partial(self._editor.revise, draft, based_on, provenance))
        await self._look(tool.name)
        return tool

    async def versions(self, name: str) -> tuple[ToolVersion, ...]:
        """Every version, newest first, including those of a removed tool. Raises: ToolNotFound."""
        if not (tool_versions := await asyncio.to_thread(self._editor.versions, name)):
            raise not_found(name)
        return tool_versions

    version = in_thread("_editor", ToolEditor.version)

    async def rollback(self, name: str, to: int) -> Tool:
        """Make a new version with the content of an old one. The old one has passed the gate, so
        the gate is not run again.

        It restores files that were deleted by hand. Raises: VersionNotFound, VersionConflict (that
        version is in use), ToolModified, ToolNotFound, EmbedderUnavailable, LibraryError.
        """
        tool = await self._embedding.run(partial(self._editor.rollback, name, to))
        await self._look(name)
        return tool

    async def retire(self, name: str, merged_into: str = "") -> Tool:
        """Stop offering the tool to searches, which find the one that it was merged into, if it
        was; tools that import it keep working. Raises: ToolNotFound.
        """
        await asyncio.to_thread(self._trust.retire, name, merged_into)
        return await self._current_tool(name)

    async def restore(self, name: str) -> Tool:
        """Offer a retired tool again, as provisional; any other stays unchanged. Raises:
        ToolNotFound.
        """
        await asyncio.to_thread(self._trust.restore, name)
        return await self._current_tool(name)

    async def freeze(self, name: str, frozen: bool = True) -> Tool:
        """Let only a person change the tool, and no automatic repair; or take that back. Raises:
        ToolNotFound.
        """
        if not await asyncio.to_thread(self._editor.freeze, name, frozen):
            raise not_found(name)
        return await self._current_tool(name)

    async def sources(self, name: str) -> Sources:
        """The current content of the files, verified or not. Raises: ToolNotFound, ToolModified
        (the tests are missing).
        """
        snapshot = await self._look(name)
        if missing := snapshot.half(name):
            raise half(name, missing)
        tool_sources = await asyncio.to_thread(self._files.read, name) if name in snapshot else None
        if tool_sources is None:
            raise not_found(name)
        return tool_sources

    async def edited(self, name: str) -> ToolDraft:
        """The tool as its files define it now, ready to be verified. Raises: ToolNotFound,
        ToolModified (they no longer define it).
        """
        sources = await self.sources(name)
        return edited(await self._loaded(name), sources, await self.tools())

    async def accept(self, draft: ToolDraft, provenance: Provenance | None = None) -> Tool:
        """Make the draft that `edited` returned, verified since, the tool's next version.

        Raises: ToolNotFound, ToolModified (the files hold something else now).
        """
        await asyncio.to_thread(
            self._writer.accept, draft, provenance or Provenance(origin=Edited())
        )
        return await self.get(draft.name)

    async def remove(self, name: str) -> None:
        """Remove a tool. Its versions stay, and a later tool of that name continues their numbers.
        Raises: ToolNotFound.
        """
        await self._look()
        await asyncio.to_thread(self._writer.remove, name)
        await self._look()

    async def record_use(
        self, name: str, version: int, call: str, key: str = ""
    ) -> ToolStandingChanged | None:
        """Count a success of that version; `call` is the digest of its arguments and files. Uses
        with the same `key` count once. Raises: ToolNotFound.
        """
        return await self._record_uses(name, version, (call,), key)

    def count_use(self, name: str, version: int, call: str) -> None:
        """Count a success as `record_use` does, within a tenth of a second: a transaction takes as
        long as a fast call, and this counts all calls of that time in one.
        """
        if not self._uses:
            self._background.start(self._count_soon())
        self._uses.setdefault((name, version), []).append(call)

    async def _count_soon(self) -> None:
        await asyncio.sleep(_COUNTED)
        await self._count_uses()

    async def _count_uses(self) -> None:
        collected, self._uses = self._uses, {}
        for (name, version), calls in collected.items():
            try:
                with suppress(ToolNotFound):  # it was removed meanwhile
                    await self._record_uses(name, version, calls, without_turn=True)
            except DatabaseUnavailable as error:
                _log.warning("%d uses of %s are not counted: %s", len(calls), name, error)

    async def _record_uses(
        self, name: str, version: int, calls: Sequence[str], key: str = "", **how: bool
    ) -> ToolStandingChanged | None:
        record = partial(self._trust.record_uses, name, version, calls, key, **how)
        change, released = await asyncio.to_thread(lambda: (record(), self._release(name)))
        if change or released:
            await self._look()
        return change

    async def record_failure(
        self, name: str, version: int, problem: str, key: str = ""
    ) -> ToolStandingChanged | None:
        """Count a failure caused by the tool itself; `problem` describes it in a few words.
        Failures with the same `key` count once. Raises: ToolNotFound.
        """
        await self._count_uses()  # a success before the failure interrupts a row of failures
        return await self._judged(partial(self._trust.record_failure, name, version, problem, key))

    async def record_change(
        self, name: str, version: int, problem: str, key: str = ""
    ) -> ToolStandingChanged | None:
        """Suspect a version, as a service that it asks answers otherwise than recorded. Raises:
        ToolNotFound.
        """
        return await self._judged(partial(self._trust.record_change, name, version, problem, key))

    async def _judged(
        self, judge: Callable[[], ToolStandingChanged | None]
    ) -> ToolStandingChanged | None:
        if change := await asyncio.to_thread(judge):
            await self._look()
        return change

    async def record_request(self, name: str, version: int, request: str) -> None:
        """Add a request that the tool has served to those it is found by; no error if the tool was
        removed or changed.

        Raises: EmbedderUnavailable.
        """
        if await self._embedding.run(partial(self._vectors.serve, name, version, request)):
            await self._look()

    used_requests = in_thread("_vectors", Vectors.used)

    async def forget_request(self, name: str, request: str) -> bool:
        """Remove a learned request from a tool; False if there is no such request. Raises:
        EmbedderUnavailable.
        """
        forgotten = await self._embedding.run(partial(self._vectors.forget, name, request))
        await self._look()
        return forgotten

    async def forget_person(self, owner: str, requests: Mapping[str, Collection[str]]) -> None:
        """Remove the tools that only this person made and used, with their history; the others
        forget these requests, by their names, and what the person brought: examples, prompts and
        exchanges of calls.

        Raises: LibraryError.
        """
        names = await asyncio.to_thread(self._personal.only_of, owner)
        for name in names:
            with suppress(ToolNotFound):  # it was removed before, and has only its history
                await self.remove(name)
        await asyncio.to_thread(self._personal.purge, names)
        examples = await asyncio.to_thread(self._personal.examples, owner)
        for name in {*requests, *examples}.difference(names):
            words = {*requests.get(name, ()), *examples.get(name, ())}
            await self._embedding.run(partial(self._vectors.forget_all, name, words))
        await asyncio.to_thread(self._personal.scrub, owner)
        self._embed_later()
        await self._look()

    @property
    def embedded(self) -> Embedded | None:
        """Progress of re-embedding; None if all tools have their vectors."""
        return self._reembedding.progress

    async def settle(self, seconds: float = 60.0) -> IndexState:
        """Wait for the work in the background; returns the state of the index."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._background.aflush_tasks()
        await self._look()
        return await self._settled(seconds)

    @property
    def indexing(self) -> Progress | None:
        """Progress of the index build, if one is running."""
        return self._index.progress

    async def reindex(self, report: Callable[[int, int], None]) -> IndexState:
        """Rebuild the search index, and wait for it; `report` gets the number of tools indexed and
        the total.
        """
        self._index.rebuild()
        while not self._index.idle:
            await self._settled(_REPORTED)
            if progress := self._index.progress:
                report(*progress)
        return await self._settled(0)

    async def _settled(self, seconds: float) -> IndexState:
        return await asyncio.to_thread(self._index.settle, self._watcher.snapshot.revision, seconds)

    def _start(self) -> LibrarySnapshot:
        self._watcher.begin()
        self._writer.recover()
        snapshot = self._watcher.look()
        snapshot = self._watcher.look(sorted(snapshot)[:_COMPARED])
        self._reembedding.begin()
        self._index.start()
        self._index.follow(snapshot.revision)
        return snapshot

    async def _look(self, *names: str) -> LibrarySnapshot:
        """The current library; accurate about the contents of these tools' files."""
        snapshot = await asyncio.to_thread(self._watcher.look, names)
        self._follow(snapshot)
        return snapshot

    def _follow(self, snapshot: LibrarySnapshot) -> None:
        """Let the index and those who listen know of it."""
        self._index.follow(snapshot.revision)
        self._tell()

    async def _current_tool(self, name: str) -> Tool:
        await self._look(name)
        return await self._loaded(name)

    async def _loaded(self, name: str) -> Tool:
        tools = await asyncio.to_thread(self._load, [name])
        if not tools:  # removed just now
            raise not_found(name)
        return tools[0]

    def _load(self, tool_names: Sequence[str]) -> tuple[Tool, ...]:
        """The tools of these names that exist, in order."""
        with reading(self._engine) as connection:
            tools_by_name = {tool.name: tool for tool in records.load(connection, tool_names)}
        return tuple(tools_by_name[name] for name in tool_names if name in tools_by_name)

    def _release(self, name: str) -> bool:
        """Let search use the example requests of an imported tool, which has served."""
        entry = self._watcher.snapshot.entries.get(name)
        if entry and entry in self._released:
            return False
        try:
            released = self._vectors.release(name)
            if entry:
                self._released.add(entry)
            return released
        except EmbedderUnavailable as error:
            _log.info("the example requests of %s wait for its next use: %s", name, error)
            return False

    def _tell(self) -> None:
        while self._watcher.changes:
            self._on_change(self._watcher.changes.popleft())

    async def _compare_files(self, names: Sequence[str]) -> None:
        """Compare the files of many tools with their records, with pauses for other work in
        between.
        """
        for start in range(0, len(names), _COMPARED):
            await self._look(*names[start : start + _COMPARED])
