"""The choice of the embedder by settings, and which others can be made."""

from config import Settings
from src.core.errors import ConfigurationError
from src.core.protocols import Embedder
from src.embedding.minilm import MiniLM
from src.embedding.openai import DIMENSIONS, OpenAIEmbedder


def chosen_embedder(settings: Settings, minilm: MiniLM) -> Embedder:
    """The one that EMBEDDER names; `auto` is MiniLM, which is there without a network and without a key.

    Raises:
        ConfigurationError: EMBEDDER=openai lacks a server, or the length of its model's vectors is not known.
    """
    if settings.embedder != "openai":
        return minilm
    if settings.offline:
        raise ConfigurationError("EMBEDDER='openai' has no server", "set OPENAI_API_KEY or OPENAI_BASE_URL, or EMBEDDER=minilm")
    if _dimensions(settings) is None:
        raise ConfigurationError(
            f"OPENAI_EMBEDDING_MODEL={settings.openai_embedding_model!r} gives vectors of unknown length",
            "set OPENAI_EMBEDDING_DIMENSIONS to how many numbers one has",
        )
    return _openai(settings)


def other_embedders(settings: Settings, minilm: MiniLM) -> tuple[Embedder, ...]:
    """Those that EMBEDDER does not name and that can be made all the same, to search by the vectors that they have left."""
    if settings.embedder == "openai":
        return (minilm,)
    return () if settings.offline or _dimensions(settings) is None else (_openai(settings),)


def _openai(settings: Settings) -> OpenAIEmbedder:
    dimensions = _dimensions(settings)
    assert dimensions
    return OpenAIEmbedder(
        model=settings.openai_embedding_model,
        dimensions=dimensions,
        api_key=settings.openai_api_key.get_secret_value() if settings.openai_api_key else None,
        base_url=settings.openai_base_url,
        timeout=settings.openai_timeout,
        max_retries=settings.openai_max_retries,
    )


def _dimensions(settings: Settings) -> int | None:
    return settings.openai_embedding_dimensions or DIMENSIONS.get(settings.openai_embedding_model)
