"""Fits the search's ranking and confidence to a library, by the requests that its tools are found
by: `python -m benchmarks.calibrate [--data DIR] [--reset]`. The library uses the file from its next
start.
"""

import argparse
import asyncio
from collections.abc import Iterator
from pathlib import Path

from benchmarks.fitting.calibration import (
    LEAST_FOR_MAP,
    LEAST_REQUESTS,
    Calibration,
    Report,
    fit_library,
)
from selfeng.capability_registry import CapabilityRegistry
from selfeng.cli.command import opened, run, say
from selfeng.cli.terminal import progress_bars
from selfeng.core.protocols import Embedder
from selfeng.core.settings import Settings
from selfeng.library.ranking import FOLDER
from selfeng.models.embedding.embedder_choice import chosen_embedder
from selfeng.models.embedding.minilm import MiniLM


async def calibrate(
    library: CapabilityRegistry,
    embedder: Embedder,
    folder: Path,
    data: Path | None = None,
    progress: Report = lambda what, done, of: None,
) -> Calibration | None:
    """Fit request map and confidence to this library, and to the retrieval sets in `data`; the
    result is stored in `folder`.

    None if there are too few requests to learn from. Raises what `fit_library` raises.
    """
    tools = [tool for tool in await library.tools() if tool.standing != "retired"]
    used = await library.used_requests([tool.name for tool in tools])
    served = [(tool, used[tool.name]) for tool in tools]
    return await asyncio.to_thread(fit_library, served, embedder, folder, data, progress)


def calibration_lines(found: Calibration | None) -> Iterator[str]:
    """The result of a calibration, in numbers."""
    if found is None:
        yield f"Fewer than {LEAST_REQUESTS} requests to learn from: nothing was changed."
        return
    yield (
        f"Learnt from {found.requests:,} requests and {found.tools:,} tools; the figures are "
        "for requests that the fit had not seen."
    )
    if found.reciprocal_rank is None:
        yield f"Request map: unchanged, as it takes {LEAST_FOR_MAP} requests."
    else:
        yield f"Request map: mean reciprocal rank of the right tool {found.reciprocal_rank}."
    yield f"Confidence: log loss {found.log_loss}."
    yield f"Confidence: calibration error {found.calibration_error}."
    if found.changed:
        yield "It is used from the next start; `--reset` undoes it."
    else:
        yield "Nothing fitted is better than what ships, so nothing was changed."


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder of further retrieval sets to learn from")
    parser.add_argument("--reset", action="store_true", help="return to the parameters that ship")
    options = parser.parse_args()

    async def work(settings: Settings) -> int:
        folder = settings.data_dir / FOLDER
        if options.reset:
            for file in folder.glob("*.npz"):
                file.unlink()
            say("The parameters that ship are used from the next start.")
            return 0
        async with opened(settings, "embedder") as engine:
            embedder = chosen_embedder(settings, MiniLM.below(settings.parts))
            with progress_bars() as progress:
                found = await calibrate(engine.library, embedder, folder, options.data, progress)
        for line in calibration_lines(found):
            say(line)
        return 0

    run(work)


if __name__ == "__main__":
    main()
