"""The tool editor: makes a tool from a draft, makes its next version from another draft or an old
version, and looks up its versions.
"""

import sqlalchemy as sa

from selfeng.core.provenance import Provenance, RolledBack, ToolVersion
from selfeng.core.tool import Tool, ToolDraft
from selfeng.library import versions
from selfeng.library.file_watcher import FileWatcher
from selfeng.library.tool_files import Sources
from selfeng.library.tool_writer import ToolWriter
from selfeng.library.vectors import Vectors
from selfeng.store.database import reading


class ToolEditor:
    """Blocking. Embeds the searchable text before taking the writer's lock."""

    def __init__(
        self, engine: sa.Engine, watcher: FileWatcher, writer: ToolWriter, vectors: Vectors
    ) -> None:
        self._engine, self._watcher, self._writer, self._vectors = engine, watcher, writer, vectors

    def add(self, draft: ToolDraft, provenance: Provenance) -> tuple[Tool, bool]:
        """The tool, and whether it has its vector. Raises: ToolExists, LibraryError."""
        self._watcher.look()  # a tool with files deleted just now frees its name
        self._writer.check(draft.name, Sources(code=draft.code, tests=draft.tests))
        embedding = self._vectors.of_new(draft)
        return self._writer.add(draft, provenance, embedding), embedding is not None

    def revise(self, draft: ToolDraft, based_on: int, provenance: Provenance) -> Tool:
        """Raises: VersionConflict, ToolModified, ToolNotFound, VersionNotFound,
        EmbedderUnavailable, LibraryError.
        """
        before = self.version(draft.name, based_on)
        same = (before.description, before.example_requests) == (
            draft.description,
            draft.example_requests,
        )
        return self._writer.revise(
            draft, provenance, based_on, None if same else self._vectors.of_next(draft)
        )

    def rollback(self, name: str, to: int) -> Tool:
        """Raises: VersionNotFound, VersionConflict, ToolModified, ToolNotFound,
        EmbedderUnavailable, LibraryError.
        """
        old = self.version(name, to)
        newest = self.versions(name)[0].version
        return self.revise(
            old.draft(),
            newest,
            Provenance(origin=RolledBack(to=to), verdict=old.provenance.verdict),
        )

    def versions(self, name: str) -> tuple[ToolVersion, ...]:
        """All versions, newest first; empty for a name that no tool ever had."""
        with reading(self._engine) as connection:
            return versions.load_all(connection, name)

    def version(self, name: str, number: int) -> ToolVersion:
        """Raises: VersionNotFound."""
        with reading(self._engine) as connection:
            return versions.load(connection, name, number)
