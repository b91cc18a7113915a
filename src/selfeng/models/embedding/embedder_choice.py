"""Chooses the embedder by settings, and recreates the one that tools were embedded with before.

OpenAI's SDK is slow to import, so it is imported only where it may be needed.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from selfeng.core.errors import ConfigurationError
from selfeng.core.settings import Settings
from selfeng.core.stage_event import Usage
from selfeng.models.embedding.minilm import MiniLM

if TYPE_CHECKING:
    from selfeng.models.embedding.openai_embedder import OpenAIEmbedder


Spent = Callable[[str, Usage], object]
"""Called with the owner of what is running, after a call of a server."""


def chosen_embedder(
    settings: Settings, minilm: MiniLM, spent: Spent | None = None
) -> "MiniLM | OpenAIEmbedder":
    """The embedder that EMBEDDER names. `spent`: see `OpenAIEmbedder`.

    Raises:
        ConfigurationError: EMBEDDER=openai lacks a server, or the length of its model's vectors is
            unknown.
    """
    if settings.embedder != "openai":
        return minilm
    if settings.offline:
        raise ConfigurationError(
            "EMBEDDER='openai' has no server",
            "set OPENAI_API_KEY or OPENAI_BASE_URL, or EMBEDDER=minilm",
        )
    from selfeng.models.embedding.openai_embedder import DIMENSIONS

    model = settings.openai_embedding_model
    dimensions = settings.openai_embedding_dimensions or DIMENSIONS.get(model)
    if dimensions is None:
        raise ConfigurationError(
            f"OPENAI_EMBEDDING_MODEL={model!r} gives vectors of unknown length",
            "set OPENAI_EMBEDDING_DIMENSIONS to their length",
        )
    return _openai(settings, model, dimensions, spent)


def former_embedder(
    settings: Settings, minilm: MiniLM, embedder_id: str, spent: Spent | None = None
) -> "MiniLM | OpenAIEmbedder | None":
    """The embedder with that id, whatever EMBEDDER says; None if it can't be made with these
    settings.
    """
    if embedder_id == minilm.id:
        return minilm
    from selfeng.models.embedding.openai_embedder import OpenAIEmbedder

    model_and_dimensions = OpenAIEmbedder.parse_id(embedder_id)
    return (
        _openai(settings, *model_and_dimensions, spent)
        if model_and_dimensions and not settings.offline
        else None
    )


def _openai(
    settings: Settings, model: str, dimensions: int, spent: Spent | None
) -> "OpenAIEmbedder":
    from selfeng.models.embedding.openai_embedder import OpenAIEmbedder

    return OpenAIEmbedder(
        model=model,
        dimensions=dimensions,
        api_key=settings.openai_api_key.get_secret_value() if settings.openai_api_key else None,
        base_url=settings.openai_base_url,
        headers=settings.headers,
        timeout=settings.openai_timeout,
        max_retries=settings.openai_max_retries,
        spent=spent,
    )
