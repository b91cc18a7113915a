"""All hostile cases whose payload is a suite: refused by the gate with the reason, or ended by the
clock; none passes.
"""

import re

import pytest

from selfeng.core.errors import SynthesisFailed
from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.core.verdict import SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis_engine import SynthesisEngine
from tests.doubles import ListedLibrary, ScriptedModel
from tests.sandbox.hostile import CASES, of_role

pytestmark = pytest.mark.asyncio(loop_scope="session")

CODE = "def tool(x):\n    return x + 1\n"
IMPORTING = "from tool import tool\n"
OWN = "from tool import tool as given\n"
"""For the suite that defines a tool of its own beside the one it was given."""

REASONS = {
    "A19": "changes what all tests share",
    "G10": "these tests pass on an empty stub",
    "G11": "the suite passes on a function that returns None",
    "G12": "these tests pass on an empty stub",
    "G13": "the suite uses pytest's skip",
    "G14": "tests failed",
}
BY_CHANCE = {
    "test": "on an empty stub|passes on a function",
    "verify": "flaky|1 of 1 test failed",
}
"""The reasons by the step at which G15 ends, whose test passes by chance."""


def suite(case: str) -> str:
    """The payload against our tool: the case's `solution` is called as our module is."""
    payload = (
        CASES[case].payload.replace("import solution", "import tool").replace("solution.", "tool.")
    )
    return payload if "import tool" in payload else (OWN if case == "G12" else IMPORTING) + payload


async def test_every_suite_has_a_reason() -> None:
    assert sorted([*REASONS, "G15"]) == sorted(of_role("tests"))


@pytest.mark.parametrize("case", of_role("tests"))
async def test_a_hostile_suite_is_refused(case: str, hasty: SecureSandbox) -> None:
    draft = ToolDraft(
        name="tool",
        description="",
        signature=parse_signature(CODE, "tool"),
        code=CODE,
        tests=suite(case),
    )
    with pytest.raises(SynthesisFailed) as caught:
        await SynthesisEngine(ScriptedModel(), hasty, ListedLibrary(), model_name="").examine(draft)
    where = caught.value.where
    assert re.search(BY_CHANCE[where] if case == "G15" else REASONS[case], caught.value.message)
    assert case == "G15" or where == ("verify" if case == "G14" else "test")


async def test_a_suite_that_never_finishes_loading_is_ended(impatient: SecureSandbox) -> None:
    """A19, past the gate's reading."""
    verdict = await impatient.verify(
        SandboxJob("tool", CODE, CASES["A19"].payload), lambda result: None
    )
    assert (verdict.passed, verdict.tests) == (False, ())
    assert verdict.problem is not None
    assert verdict.problem.startswith("It did not end within ")
