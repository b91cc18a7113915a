"""The seed tools on their way into the library, through the gate that every tool passes."""

from collections.abc import Awaitable, Callable, Iterable

from src.core.errors import SynthesisFailed, ToolExists
from src.core.protocols import ToolLibrary
from src.core.tool import ToolDraft
from src.core.value import Value


class Planted(Value):
    """What became of the seeds."""

    added: tuple[str, ...]
    present: tuple[str, ...]
    refused: tuple[str, ...]


async def plant(
    seeds: Iterable[ToolDraft],
    library: ToolLibrary,
    examine: Callable[[ToolDraft], Awaitable[None]],
    report: Callable[[str], None],
) -> Planted:
    """Register the seeds that are not in the library yet; each that is added or refused is reported in one line.

    Raises:
        SandboxError: there is no sandbox to examine them in.
    """
    added, present, refused = [], [], []
    for seed in seeds:
        try:
            library.check_name(seed.name)
        except ToolExists:
            present.append(seed.name)
            continue
        try:
            await examine(seed)
        except SynthesisFailed as error:
            refused.append(seed.name)
            report(f"refused: {error.message}")
            continue
        await library.add(seed)
        added.append(seed.name)
        report(f"{seed.name}: {seed.description}")
    return Planted(added=tuple(added), present=tuple(present), refused=tuple(refused))
