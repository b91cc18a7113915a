"""Hostile requests, sent by code in a real container through the broker."""

from pathlib import Path

import pytest

from selfeng.core.verdict import Execution, SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.servers.tool_network import GrantedNetwork
from selfeng.store.database import open_database
from selfeng.store.grants import Grants
from tests.world.conftest import world  # noqa: F401 - a fixture
from tests.world.hostile import ACCESSES, CASES, LIMITS, harm, in_sandbox
from tests.world.world import World

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_no_code_in_a_container_does_harm_through_the_broker(
    sandbox: SecureSandbox,
    world: World,  # noqa: F811
    tmp_path: Path,
) -> None:
    grants = Grants(open_database(f"sqlite:///{tmp_path}/grants.db"))
    network = GrantedNetwork(sandbox, world.broker(limits=LIMITS), grants)

    async def call(code: str) -> Execution:
        return await network.execute(SandboxJob("attempt", code), {}, (), ACCESSES)

    attempt = in_sandbox(call)
    remote = [case for case in CASES if not case.url.startswith("file:")]  # its own files
    assert len(remote) >= 40
    harms = {case.name: await harm(case, world, attempt) for case in remote}
    assert {name: text for name, text in harms.items() if text} == {}
