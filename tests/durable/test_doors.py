"""What the doors record, and hand out in a later process."""

from pathlib import Path

from selfeng.core.provenance import Provenance
from selfeng.core.tool import Tool
from selfeng.core.work import current_work
from selfeng.durable.doors import DurableLibrary
from selfeng.durable.turn_work import TurnWork
from tests.durable.test_turn_work import process
from tests.registry.conftest import Place
from tests.registry.drafts import COUNT, REPAIRED, REVERSE


async def test_the_tools_are_those_of_the_first_look(database, tmp_path: Path) -> None:
    steps = f"sqlite:///{tmp_path / 'steps.db'}"

    async def tools() -> tuple[Tool, ...]:
        async with process(steps) as workflows:
            begun = await workflows.resume("t") or ()
            token = current_work.set(TurnWork("t", workflows, begun, lasting=True))
            found = await DurableLibrary(library).tools()
            current_work.reset(token)
            return found

    async with Place(tmp_path, database).open() as library:
        await library.add(REVERSE)
        await library.add(COUNT)
        await library.record_use(REVERSE.name, 1, "a")
        first = await tools()
        await library.revise(REPAIRED, 1, Provenance())
        await library.remove(COUNT.name)
        assert await tools() == first
        assert [(tool.name, tool.version, tool.uses) for tool in first] == [
            ("count_letters", 1, 0),
            ("reverse_text", 1, 1),
        ]
