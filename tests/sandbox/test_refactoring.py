"""Two versions of a tool raced in real containers."""

import pytest

from selfeng.core.signature import parse_signature
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis.before import Before
from selfeng.synthesis.refactoring import Race
from tests.engine.test_refactoring import FAST, SLOW, SORTED, TESTS

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_a_race_is_won_by_what_is_faster_and_does_the_same(sandbox: SecureSandbox) -> None:
    signature = parse_signature(SLOW, "distinct")
    race = Race(sandbox, Before(version=1, signature=signature, code=SLOW, tests=TESTS))
    assert await race.prepare() == ""
    lap = await race.run(FAST)
    assert (lap.objection, lap.factor > 3) == ("", True)
    assert " version 1 returns [" in (await race.run(SORTED)).objection
    cut = FAST.replace("items))", "items))[:700]")
    assert (await race.run(cut)).objection.endswith(
        "version 1 returns a very large value and this one returns a very large value, but another"
    )
