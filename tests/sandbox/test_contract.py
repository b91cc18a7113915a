"""The contract that `selfeng.testing` has for every backend."""

import pytest

from selfeng.sandbox import SecureSandbox
from selfeng.testing import SANDBOX_CASES, SandboxCase

pytestmark = pytest.mark.asyncio(loop_scope="session")


@pytest.mark.parametrize("case", SANDBOX_CASES, ids=str)
async def test_every_backend_keeps_the_contract(case: SandboxCase, hasty: SecureSandbox) -> None:
    await case.check(hasty)
