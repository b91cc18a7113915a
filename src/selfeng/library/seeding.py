"""Seeding: registers the seed tools, which pass the same gate as every tool."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

import sqlalchemy as sa

from selfeng.core.errors import LibraryError, SandboxError, SynthesisFailed, ToolExists
from selfeng.core.protocols import ToolLibrary
from selfeng.core.provenance import Provenance
from selfeng.core.tool import ToolDraft
from selfeng.core.value import Value
from selfeng.core.verdict import Verdict
from selfeng.store.database import fetch_value, writing
from selfeng.store.schema import properties

_MARK = "seeded"
_TRIES = 3
"""Times that a seed is examined at most. It ships with tests that it passes, so that a refusal is
mostly a time-out of a busy machine.
"""


class Planted(Value):
    added: tuple[str, ...]
    present: tuple[str, ...]
    refused: tuple[str, ...]


@dataclass(frozen=True)
class SeedMark:
    """Says in the database that the seeds were added to its library. Blocking."""

    engine: sa.Engine

    def present(self) -> bool:
        mark = sa.select(properties.c.value).where(properties.c.name == _MARK)
        return fetch_value(self.engine, mark) is not None

    def put(self) -> None:
        with writing(self.engine) as connection:
            connection.execute(properties.delete().where(properties.c.name == _MARK))
            connection.execute(properties.insert().values(name=_MARK, value="1"))


async def plant(
    seeds: Iterable[ToolDraft],
    library: ToolLibrary,
    examine: Callable[[ToolDraft], Awaitable[Verdict]],
    report: Callable[[str], None],
    progress: Callable[[int, int], None] = lambda count, total: None,
) -> Planted:
    """Register the seeds that are not in the library yet, and report each one added or refused in
    one line.

    `progress` gets the number done and the total.

    A seed begins provisional like every tool: trust means that it has served different calls here,
    which no author can vouch for.

    Raises:
        SandboxError: no sandbox is available to verify them, at any try.
    """
    added, present, refused = [], [], []
    seeds = tuple(seeds)
    for number, seed in enumerate(seeds):
        progress(number, len(seeds))
        try:
            await library.check(seed)
            verdict = await _examined(seed, examine, report)
            await library.add(seed, Provenance(verdict=verdict))
        except ToolExists:  # registered before, or meanwhile by another process
            present.append(seed.name)
        except (SynthesisFailed, LibraryError) as error:
            refused.append(seed.name)
            report(f"refused: {error.message}" + (f"; {error.remedy}" if error.remedy else ""))
        else:
            added.append(seed.name)
            report(f"{seed.name}: {seed.description}")
    return Planted(added=tuple(added), present=tuple(present), refused=tuple(refused))


async def _examined(
    seed: ToolDraft,
    examine: Callable[[ToolDraft], Awaitable[Verdict]],
    report: Callable[[str], None],
) -> Verdict:
    """The verdict on a seed, or the error of the last try."""
    for number in range(1, _TRIES):
        try:
            return await examine(seed)
        except (SynthesisFailed, SandboxError) as error:
            problem = error.message.removeprefix(f"{seed.name}: ")
            report(f"{seed.name}: try {number} of {_TRIES} failed, trying again: {problem}")
    return await examine(seed)
