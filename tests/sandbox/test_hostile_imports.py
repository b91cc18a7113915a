"""All hostile cases as tools of a bundle: nothing runs when it is read, and the gate refuses what
it is to refuse; see `tests/exchange/test_tool_bundle.py` for attacks by the archive itself.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from selfeng.core.errors import RequestError
from selfeng.library.exchange.signing import SigningKeys
from selfeng.library.exchange.tool_import import ImportOffer, ToolImport
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis_engine import SynthesisEngine
from tests.doubles import ListedLibrary, ScriptedModel
from tests.exchange.bundles import unsigned
from tests.sandbox.hostile import (
    CASES,
    HONEST,
    NAME,
    PWNED,
    SUITE,
    Host,
    as_function,
    as_module,
    of_role,
    planted,
)
from tests.sandbox.test_hostile_suites import suite

pytestmark = pytest.mark.asyncio(loop_scope="session")

BY_DEFAULT = {"C09", "J01"}
"""Those that the gate judges in `make test`: all run in the same sandbox in `test_hostile.py`."""


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    with planted(tmp_path_factory.mktemp("host")) as host:
        yield host


def bundled(code: str, tests: str = SUITE) -> bytes:
    return unsigned(NAME, code.encode(), tests.encode())


async def offered(imports: ToolImport, code: str, tests: str) -> ImportOffer | None:
    """None if the bundle is refused, with a remedy."""
    try:
        return await imports.read(bundled(code, tests))
    except RequestError as error:
        return None if error.remedy else pytest.fail(error.message)


def arriving(folder: Path, sandbox: SecureSandbox, library: ListedLibrary) -> ToolImport:
    engine = SynthesisEngine(ScriptedModel(), sandbox, library, model_name="")
    return ToolImport(library, SigningKeys(folder), engine.examine_imported)


def forms(case: str) -> Iterator[tuple[str, str]]:
    """The payload wherever a bundle has room for it: code and suite."""
    payload = CASES[case].payload
    if CASES[case].role == "tests":
        yield HONEST, suite(case)
    else:
        yield as_module(payload), SUITE
        yield as_function(payload), SUITE
        yield HONEST, f"{payload}\n{SUITE}"


async def test_a_hostile_tool_is_only_read(host: Host, tmp_path: Path, capfd) -> None:
    before = host.fingerprint()
    reading = ToolImport(ListedLibrary(), SigningKeys(tmp_path), None)  # type: ignore[arg-type]
    for case in CASES:
        for code, tests in forms(case):
            if offer := await offered(reading, code, tests):
                assert [(t.code, t.tests) for t in offer.tools] == [(code, tests)], case
    assert (host.fingerprint(), host.knocks(), PWNED.exists()) == (before, 0, False)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "case",
    [
        case if case in BY_DEFAULT else pytest.param(case, marks=pytest.mark.everywhere)
        for case in of_role("tool", "tests")
    ],
)
async def test_the_gate_refuses_a_hostile_tool(
    case: str, impatient: SecureSandbox, host: Host, tmp_path: Path
) -> None:
    before, library = host.fingerprint(), ListedLibrary()
    imports = arriving(tmp_path, impatient, library)
    code, tests = next(forms(case))
    if offer := await offered(imports, code, tests):
        (finding,) = [finding async for finding in imports.add(offer, "evil.zip", [NAME])]
        assert finding.outcome == "refused"
        assert finding.detail.startswith(f"{NAME}: ")
        assert host.canary not in finding.detail
    assert await library.tools() == ()
    assert (host.knocks(), host.fingerprint()) == (0, before)


async def test_an_honest_tool_is_added_after_all_that(
    impatient: SecureSandbox, tmp_path: Path
) -> None:
    library = ListedLibrary()
    imports = arriving(tmp_path, impatient, library)
    offer = await imports.read(bundled(HONEST))
    (finding,) = [finding async for finding in imports.add(offer, "good.zip", [NAME])]
    assert (finding.outcome, len(await library.tools())) == ("added", 1)
