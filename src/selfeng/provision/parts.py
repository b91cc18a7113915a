"""Everything a machine needs besides Python packages: the embedding model, the page's libraries and
the sandbox image.

Each part is quick if it is already set up, so every start may ask for all of them.
"""

from collections.abc import Callable

from selfeng.core.errors import AgentError, ConfigurationError
from selfeng.core.packages import lacking
from selfeng.core.settings import Settings
from selfeng.library.chroma import prepare_chroma
from selfeng.models.embedding.model_files import NEEDS
from selfeng.models.embedding.preparation import prepare_embedder
from selfeng.provision.front_end import prepare_front_end
from selfeng.sandbox import SecureSandbox

Report = Callable[[str], None]
"""Called with one line for people at a time."""


def prepare_search(settings: Settings, report: Report) -> None:
    """Set up MiniLM, by which lessons are found whatever EMBEDDER says, and Chroma;
    EMBEDDER=openai works without their packages. Raises: EmbedderUnavailable.
    """
    if settings.embedder == "minilm" or not lacking(*NEEDS):
        prepare_embedder(settings.parts, report)
        if not settings.chroma_url:
            prepare_chroma(settings.parts, report)


def make_image(sandbox: SecureSandbox, report: Callable[[str], None]) -> None:
    """Build what this sandbox makes its containers from, unless it is current.

    Raises:
        SandboxUnavailable: no backend works, or lacks what it needs.
        SandboxFailed: a step of the build failed.
    """
    if not sandbox.image_is_current():
        report(f"Setting up the sandbox ({sandbox.backend})")
        sandbox.build_image()


PARTS: dict[str, Callable[[Settings, Report], None]] = {
    "embedder": prepare_search,
    "front-end": lambda settings, report: prepare_front_end(report),
    "sandbox": lambda settings, report: make_image(SecureSandbox.from_settings(settings), report),
}


def provision(
    settings: Settings, report: Report, parts: tuple[str, ...] = tuple(PARTS)
) -> tuple[AgentError, ...]:
    """Set up the named parts, all by default; returns the errors, after all parts were tried.

    Raises:
        ConfigurationError: a part is unknown.
    """
    if unknown := [part for part in parts if part not in PARTS]:
        raise ConfigurationError(f"unknown part {unknown[0]!r}", f"choose among {', '.join(PARTS)}")
    problems = []
    for part in parts:
        try:
            PARTS[part](settings, report)
        except AgentError as error:
            problems.append(error)
            report(f"{part}: {error.message}" + (f" - {error.remedy}" if error.remedy else ""))
    return tuple(problems)
