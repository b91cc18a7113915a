"""Completion in shells: names of tools and ids of conversations, without opening the engine."""

from collections.abc import Iterator

from selfeng.core.errors import AgentError


def tool_names(incomplete: str) -> list[str]:
    """Those that begin so, by the files of the library."""
    from selfeng.core.settings import load_settings

    try:
        files = load_settings().tools_dir.glob(f"{incomplete}*.py")
        return sorted(path.stem for path in files if not path.stem.startswith("test_"))
    except (AgentError, OSError, ValueError):  # a shell has no place for what is wrong
        return []


def conversation_ids(incomplete: str) -> Iterator[tuple[str, str]]:
    """Those that begin so with their titles, that with the newest turn first."""
    from pathlib import Path

    from selfeng.core.owner import LOCAL
    from selfeng.core.settings import load_settings
    from selfeng.core.visible import one_line
    from selfeng.store.database import open_database
    from selfeng.store.journal import Journal

    try:
        settings = load_settings()
        kind, _, file = settings.database.partition(":///")
        if kind == "sqlite" and not Path(file).is_file():  # opening it would make it
            return
        conversations = Journal(open_database(settings.database)).conversations(LOCAL)
    except (AgentError, OSError):
        return
    yield from (
        (conversation.id, one_line(conversation.title))
        for conversation in conversations
        if conversation.id.startswith(incomplete)
    )
