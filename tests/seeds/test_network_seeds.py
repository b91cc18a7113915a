"""The seeds that send requests: their suites in the sandbox, and the whole gate, replay what is
recorded of hosts that don't exist.
"""

from pathlib import Path

import pytest

from selfeng.core.tool import ToolDraft
from selfeng.core.verdict import SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.seeds import load_seeds
from selfeng.synthesis.stubs import stub
from selfeng.synthesis_engine import SynthesisEngine
from tests.doubles import ScriptedModel
from tests.embedding.hashing import hashed_library
from tests.engine.test_first_runs import sandbox

__all__ = ["sandbox"]
pytestmark = [pytest.mark.bubblewrap, pytest.mark.asyncio(loop_scope="session")]

SEEDS = [seed for seed in load_seeds() if seed.network]
GATED = {"fetch_feed", "query_database"}
"""One for each protocol. The suites of all pass here; `make test-all` takes all through the gate."""
each_seed = pytest.mark.parametrize("seed", SEEDS, ids=[seed.name for seed in SEEDS])


@each_seed
async def test_every_test_passes_on_the_seed_and_fails_on_a_stub(
    seed: ToolDraft, sandbox: SecureSandbox
) -> None:
    for code, outcome in ((seed.code, "passed"), (stub(seed.signature), "failed")):
        job = SandboxJob(seed.name, code, seed.tests, exchanges=seed.exchanges)
        verdict = await sandbox.verify(job, lambda result: None)
        assert {test.outcome for test in verdict.tests} == {outcome}


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, id=seed.name, marks=() if seed.name in GATED else pytest.mark.extended)
        for seed in SEEDS
    ],
)
@pytest.mark.timeout(200)
async def test_seeds_pass_the_gate(seed: ToolDraft, sandbox: SecureSandbox, tmp_path: Path) -> None:
    async with hashed_library(tmp_path) as library:
        verdict = await SynthesisEngine(
            ScriptedModel(), sandbox, library, model_name="scripted"
        ).examine(seed)
    assert verdict.passed
