"""Everything a machine needs beside Python packages: embedding model, libraries of the page, what containers are made from.

Each part is quick where it stands already, so that every start may ask for all of them.
"""

from collections.abc import Callable

from selfeng.core.errors import AgentError, ConfigurationError
from selfeng.embedding.preparation import prepare_embedder
from selfeng.provision.front_end import prepare_front_end
from selfeng.provision.image import prepare_image
from selfeng.settings import Settings

Report = Callable[[str], None]
"""Takes one line for people at a time."""

PARTS: dict[str, Callable[[Settings, Report], None]] = {
    "embedder": lambda settings, report: prepare_embedder(settings.data_dir, report),
    "front-end": lambda settings, report: prepare_front_end(report),
    "sandbox": prepare_image,
}


def provision(settings: Settings, report: Report, parts: tuple[str, ...] = tuple(PARTS)) -> tuple[AgentError, ...]:
    """Set up the named parts, all by default; what went wrong is returned, after the other parts were tried.

    Raises:
        ConfigurationError: there is no part of that name.
    """
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise ConfigurationError(f"there is no part {unknown[0]!r} to set up", f"choose among {', '.join(PARTS)}")
    problems = []
    for part in parts:
        try:
            PARTS[part](settings, report)
        except AgentError as error:
            problems.append(error)
            report(f"{part}: {error.message}" + (f" - {error.remedy}" if error.remedy else ""))
    return tuple(problems)
