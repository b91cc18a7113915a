"""The search vectors of tools, made by the embedder at hand."""

import sqlalchemy as sa

from src.core.protocols import Embedder
from src.core.tool import ToolDraft
from src.registry import records
from src.registry.fusion import tool_vector
from src.registry.records import Embedding
from src.store.database import writing


class Vectors:
    """Blocking. Each method raises EmbedderUnavailable."""

    def __init__(self, engine: sa.Engine, embedder: Embedder) -> None:
        self._engine, self._embedder = engine, embedder

    def of(self, draft: ToolDraft) -> Embedding:
        return Embedding(self._embedder.id, tool_vector(self._embedder, draft.name, draft.description, draft.example_requests))

    def add(self, tool: ToolDraft) -> None:
        """Give a registered tool a vector of this embedder."""
        embedding = self.of(tool)
        with writing(self._engine) as connection:
            if records.state_of(connection, tool.name) is not None:
                records.insert_vector(connection, tool.name, embedding)
