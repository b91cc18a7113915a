"""The hostile cases whose payload is a suite: the gate refuses them with the reason, and no verdict on them is a pass by mistake."""

import re

import pytest

from src.core.errors import SynthesisFailed
from src.core.signature import parse_signature
from src.core.tool import ToolDraft
from src.sandbox import SecureSandbox
from src.synthesis_engine import SynthesisEngine
from tests.doubles import ListedLibrary, ScriptedModel
from tests.sandbox.hostile import CASES, HONEST, NAME, clean, of_role

pytestmark = [pytest.mark.docker, pytest.mark.asyncio(loop_scope="session")]

IMPORT = f"from {NAME} import {NAME}\n"
REASONS = {
    "A19": r"asserts nothing|never calls|does not import|longer than",
    "G10": r"swallow|catch|except|asserts nothing|pass on an empty stub",
    "G11": r"compare|itself|solution",
    "G12": r"own|defines|shadow|import",
    "G13": r"skip|every test must run",
    "G14": r"contradict|both|2",
    "G15": r"random|chance|seed|differ",
}
"""What the gate says of each suite, once it imports the tool as it should."""


def examined(sandbox: SecureSandbox, tests: str):
    engine = SynthesisEngine(ScriptedModel(), sandbox, ListedLibrary(), model_name="scripted")
    draft = ToolDraft(name=NAME, description="Add one.", signature=parse_signature(HONEST, NAME), code=HONEST, tests=tests)
    return engine.examine(draft)


async def test_every_suite_has_a_reason() -> None:
    assert sorted(REASONS) == sorted(of_role("tests"))


@pytest.mark.parametrize("case", of_role("tests"))
async def test_a_hostile_suite_is_refused_with_the_reason(case: str, sandbox: SecureSandbox, hasty: SecureSandbox) -> None:
    payload = CASES[case].payload
    with pytest.raises(SynthesisFailed) as alone:
        await examined(hasty, payload)
    assert len(alone.value.message) > len(f"{NAME}: ")
    with pytest.raises(SynthesisFailed) as whole:
        await examined(hasty, IMPORT + payload.replace("import solution", f"import {NAME} as solution"))
    assert re.search(REASONS[case], whole.value.message), whole.value.message
    await clean(sandbox)


async def test_a_suite_that_takes_its_time_to_load_is_ended(hasty: SecureSandbox) -> None:
    verdict = await hasty.verify(NAME, HONEST, CASES["A19"].payload, lambda result: None)
    assert (verdict.passed, verdict.problem) == (False, "It ran longer than 1 seconds.")


@pytest.mark.parametrize("case", ["G11", "G13", "G14"])
async def test_a_suite_that_cannot_be_kept_does_not_pass(case: str, sandbox: SecureSandbox) -> None:
    verdict = await sandbox.verify(NAME, HONEST, IMPORT + CASES[case].payload, lambda result: None)
    assert not verdict.passed
