"""No hostile case reaches what it must not."""

import base64
from urllib.parse import quote

import pytest

from tests.world.hostile import ACCESSES, CASES, LIMITS, harm, reveals, through
from tests.world.world import CANARY, World


@pytest.mark.parametrize(
    "text",
    [
        CANARY,
        quote(CANARY, ""),
        base64.b64encode(b"a" + CANARY.encode()).decode(),
        base64.urlsafe_b64encode(CANARY.encode()).decode(),
        CANARY.encode().hex(),
    ],
)
def test_a_secret_that_leaks_is_noticed(text: str) -> None:
    assert reveals(f"before {text} after")
    assert not reveals(f"before {text[1:-1][::-1]} after")


def test_each_case_is_code_of_a_tool() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 40
    for case in CASES:
        compile(case.code, case.name, "exec")


async def test_no_case_does_harm(world: World) -> None:
    network = world.broker(limits=LIMITS).network(ACCESSES, lambda exchange: None)
    attempt = through(network)
    harms = {case.name: await harm(case, world, attempt) for case in CASES}
    assert {name: text for name, text in harms.items() if text} == {}
