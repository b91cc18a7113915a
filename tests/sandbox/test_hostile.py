"""All hostile cases whose payload is a tool: contained on every backend, each as its oracle
says.
"""

from collections.abc import Iterator

import pytest

from selfeng.core.verdict import Killed, Returned, SandboxJob
from selfeng.sandbox import SecureSandbox
from tests.sandbox.backends import Behind
from tests.sandbox.hostile import (
    CASES,
    HONEST,
    NAME,
    PORTS,
    SUITE,
    Host,
    Seen,
    clean,
    look,
    of_role,
    planted,
)
from tests.sandbox.hostile_oracles import ON_GVISOR, ORACLES

pytestmark = pytest.mark.asyncio(loop_scope="session")

WAITS = "A02"
"""Ended because it does not end, after a second try."""
SLOW = {"A06", "A07", "A08", "A14", "A17", "D05"}
"""Ended by the clock, so the sandbox with the shorter time takes them."""
ARGUMENTS: dict[str, dict[str, object]] = {
    "D06": {"x": 1},
    "G02": {"x": 1},
    "G16": {"x": 1},
    "G18": {"l": [1]},
}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with planted(tmp_path_factory.mktemp("host")) as host:
        yield host


@pytest.fixture
def place(
    case: str, sandbox: SecureSandbox, hasty: SecureSandbox, impatient: SecureSandbox
) -> SecureSandbox:
    return impatient if case == WAITS else hasty if case in SLOW else sandbox


def payload(case: str, host: Host) -> str:
    """The payload, pointed at what is planted on this machine."""
    text = CASES[case].payload.replace(
        str(PORTS).replace(" ", ""), f"({','.join(map(str, (*PORTS, host.port)))})"
    )
    return text.replace('"/canary"', f'"/canary",{str(host.folder)!r}')


async def test_every_tool_has_an_oracle() -> None:
    assert sorted(ORACLES) == sorted(of_role("tool"))


@pytest.mark.parametrize("case", of_role("tool"))
async def test_a_hostile_tool_is_contained(
    case: str, backend: Behind, place: SecureSandbox, host: Host
) -> None:
    before = host.fingerprint()
    seen: Seen = await look(place, payload(case, host), ARGUMENTS.get(case, {}))
    assert (seen.loaded.passed, seen.tested.passed) == (False, False)
    assert host.canary not in seen.everything()
    oracles = {**ORACLES, **(ON_GVISOR if backend.name == "runsc" else {})}
    oracles[case](seen, host)
    assert (host.knocks(), host.fingerprint()) == (0, before)


async def test_honest_code_passes_after_all_that(sandbox: SecureSandbox) -> None:
    verdict = await sandbox.verify(SandboxJob(NAME, HONEST, SUITE), lambda result: None)
    assert verdict.passed, verdict


async def test_links_and_names_that_lead_elsewhere_are_not_handed_out(
    sandbox: SecureSandbox,
) -> None:
    """As C04, in the folder that files are taken from."""
    code = """
import os
def tool():
    os.symlink("/etc/passwd", "report.txt")
    for name in ("..\\\\..\\\\evil.py", "-rf", ".bashrc", "a\\nb"): open(name, "w").close()
"""
    outcome = await sandbox.execute(SandboxJob(NAME, code), {})
    assert isinstance(outcome, Returned), outcome
    assert outcome.files == ()
    assert len(outcome.refused_files) == 5
    assert "report.txt: it is a symbolic link." in outcome.refused_files
    await clean(sandbox)


async def test_limits_that_were_raised_still_bind(sandbox: SecureSandbox, backend: Behind) -> None:
    """E09, and A08 after it."""
    code = f"""
import os, signal
def tool():
    try:
        {CASES["E09"].payload}
    except (OSError, ValueError): pass
    children = []
    try:
        while len(children) < 200:
            pid = os.fork()
            if pid == 0: signal.pause()
            children.append(pid)
    except OSError: pass
    for pid in children: os.kill(pid, 9); os.waitpid(pid, 0)
    return len(children)
"""
    outcome = await sandbox.execute(SandboxJob(NAME, code), {})
    if backend.name == "runsc":
        assert isinstance(outcome, Killed), outcome
        assert outcome.reason.startswith("It needed more memory than the 256 MB")
        return
    assert isinstance(outcome, Returned), outcome
    assert 0 < int(outcome.text) < 64
