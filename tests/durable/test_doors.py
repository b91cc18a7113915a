"""The outcomes that the doors record, and return in a later process."""

from pathlib import Path
from typing import cast

import pytest

from selfeng.core.http import Method, NetworkAccess
from selfeng.core.protocols import ServerTools, ToolNetwork
from selfeng.core.provenance import Provenance
from selfeng.core.server_tool import ServerTool
from selfeng.core.tool import Tool
from selfeng.core.verdict import Execution, Raised, Returned, SandboxJob
from selfeng.core.work import current_work
from selfeng.durable.doors import in_steps
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
            found = await in_steps("library", library).tools()
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


class OneServer:
    """`ServerTools` that counts its calls, and dies in the first."""

    def __init__(self) -> None:
        self.calls = 0

    async def call(self, tool: ServerTool, arguments: object, on_progress: object) -> Execution:
        self.calls += 1
        if self.calls == 1:
            raise KeyboardInterrupt  # as if the process were killed
        return Returned(type_name="str", text="done")


async def test_a_call_of_another_server_is_made_once(tmp_path: Path) -> None:
    write = ServerTool(
        server="s", address="s", tool="write", description="", input_schema={"properties": {}}
    )

    async def call(servers: OneServer, tool: ServerTool) -> Execution:
        async with process(f"sqlite:///{tmp_path / tool.tool}.db") as workflows:
            begun = await workflows.resume("t") or ()
            token = current_work.set(TurnWork("t", workflows, begun, lasting=True))
            try:
                return await in_steps("servers", cast(ServerTools, servers)).call(tool, {})
            finally:
                current_work.reset(token)

    servers = OneServer()
    with pytest.raises(KeyboardInterrupt):
        await call(servers, write)
    lost = "the program ended during the call; its result is not known"
    assert await call(servers, write) == Raised(type_name="CallInterrupted", message=lost)
    assert servers.calls == 1


class OneNetwork:
    """`ToolNetwork` that counts its calls, and dies in the first."""

    def __init__(self) -> None:
        self.calls = 0

    async def execute(
        self, job: SandboxJob, arguments: object, files: object, accesses: object
    ) -> Execution:
        self.calls += 1
        if self.calls == 1:
            raise KeyboardInterrupt
        return Returned(type_name="str", text="done")


@pytest.mark.parametrize(("methods", "calls"), [(("GET",), 2), (("GET", "POST"), 1)])
async def test_a_call_that_may_change_something_on_a_host_is_made_once(
    tmp_path: Path, methods: tuple[Method, ...], calls: int
) -> None:
    access, network = NetworkAccess(host="api.example.org", methods=methods), OneNetwork()

    async def call() -> Execution:
        async with process(f"sqlite:///{tmp_path / 'steps'}.db") as workflows:
            begun = await workflows.resume("t") or ()
            token = current_work.set(TurnWork("t", workflows, begun, lasting=True))
            try:
                door = in_steps("network", cast(ToolNetwork, network))
                return await door.execute(SandboxJob("f"), {}, (), (access,))
            finally:
                current_work.reset(token)

    with pytest.raises(KeyboardInterrupt):
        await call()
    again = await call()
    assert (again.outcome, network.calls) == ("returned" if calls == 2 else "raised", calls)
