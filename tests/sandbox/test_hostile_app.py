"""The hostile cases whose payload is sent to the application: names, archives, addresses and sources that the host must only look at."""

import ast
import json
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import sqlalchemy as sa

from src.core.errors import SynthesisFailed, ToolNameInvalid
from src.core.files import name_problem
from src.core.signature import SignatureError, parse_signature
from src.core.tool import ToolDraft
from src.sandbox import SecureSandbox
from src.store.database import open_database
from src.synthesis.checks import module_problem, suite_problem
from src.synthesis_engine import SynthesisEngine
from tests.doubles import ListedLibrary, ScriptedModel
from tests.registry.conftest import Place
from tests.registry.drafts import draft
from tests.sandbox.hostile import CASES, NAME, PWNED, ROOT, planted

pytestmark = [pytest.mark.docker, pytest.mark.asyncio(loop_scope="session")]

FETCHING = {"urllib.request", "httpx", "httpx2", "aiohttp", "http.client", "requests"}
UNPACKING = {"zipfile", "tarfile", "shutil.unpack_archive", "pickle", "marshal", "shelve", "yaml", "joblib"}
ALLOWED = {
    ("src/sandboxes/engine.py", "requests"): "what the Docker SDK raises",
    ("src/sandboxes/image.py", "tarfile"): "packs the image's own sources",
}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    engine: sa.Engine = open_database(f"sqlite:///{tmp_path / 'agent.db'}")
    yield Place(tmp_path, engine)
    engine.dispose()


def imports(modules: set[str]) -> set[tuple[str, str]]:
    """Where the application imports any of the modules."""
    found = set()
    for path in [p for folder in ("src", "web") for p in (ROOT / folder).rglob("*.py") if "seeds" not in p.parts and "code" not in p.parts]:
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            found |= {(path.relative_to(ROOT).as_posix(), name) for name in names if name in modules}
    return found


@pytest.mark.parametrize("case", ["B11"])
async def test_no_address_is_fetched_for_anybody(case: str, sandbox: SecureSandbox, tmp_path: Path) -> None:
    """The host has no code that fetches what a person, model or tool names, and the sandbox no way to."""
    assert {place for place in imports(FETCHING) if place not in ALLOWED} == set()
    with planted(tmp_path) as host:
        addresses = [f"http://127.0.0.1:{host.port}/", f"http://172.17.0.1:{host.port}/", "http://169.254.169.254/latest/meta-data/"]
        code = f"import urllib.request\ndef {NAME}(url): return urllib.request.urlopen(url, timeout=3).read().decode()"
        for address in addresses:
            outcome = await sandbox.execute(NAME, code, {"url": address})
            assert (outcome.outcome, getattr(outcome, "type_name", "")) == ("raised", "URLError")
        assert host.knocks() == 0


NAMES = {
    "C11": ["../../app/config", "..", "a/b", "/etc/passwd", "a\\b", "a\0b", ".hidden", "a" * 200, "ａ", "x.py", "con"],
    "C12": ["json", "os", "pytest", "conftest", "sys", "numpy", "pandas", "src", "web", "config", "print", "class", "sandbox_worker"],
    "G19": ["test_duplicate", "test_three_equal", "conftest", "double_test"],
}


@pytest.mark.parametrize("case", NAMES)
async def test_a_name_that_means_something_else_is_refused(case: str, place: Place, sandbox: SecureSandbox) -> None:
    async with place.open() as library:
        before = {p.relative_to(place.root.parent) for p in place.root.parent.rglob("*")}
        for name in NAMES[case]:
            with pytest.raises(ToolNameInvalid):
                await library.add(draft("reverse_text").model_copy(update={"name": name}))
        assert {p.relative_to(place.root.parent) for p in place.root.parent.rglob("*")} == before
        assert await library.tools() == ()
    assert Path(json.__file__).is_relative_to(Path(sys.base_prefix))


async def test_a_tool_named_like_a_test_is_collected_by_no_suite(sandbox: SecureSandbox) -> None:
    """G19: names of other libraries' tools, which reach the sandbox all the same."""
    suite = "from test_duplicate import test_duplicate\ndef test_a(): assert test_duplicate(1) == 2"
    verdict = await sandbox.verify("test_duplicate", "def test_duplicate(x): return x + 1", suite, lambda result: None)
    assert (verdict.passed, [t.test for t in verdict.tests]) == (True, ["test_a"])


@pytest.mark.parametrize("case", ["I06"])
async def test_no_archive_is_unpacked_and_no_name_leads_outside(case: str) -> None:
    """There is no import of libraries yet; files that people give are kept under plain names, and never opened as archives."""
    assert {place for place in imports(UNPACKING) if place not in ALLOWED} == set()
    for name in ("../../evil.py", "/evil.py", "a/../evil.py", "..\\evil.py", "", ".", "..", "a\nb", "\u202egnp.exe", "x" * 300):
        assert name_problem(name), name


@pytest.mark.parametrize("case", ["J05"])
async def test_looking_at_a_source_runs_none_of_it(case: str, sandbox: SecureSandbox, capfd: pytest.CaptureFixture[str]) -> None:
    payload = CASES[case].payload
    sources = [payload, f"{payload}\n@print\ndef {NAME}(x=print(1)): return x\n", f"class A(print('x')): pass\ndef {NAME}(x): return 1\n"]
    signature = parse_signature(f"def {NAME}(x): return x", NAME)
    for source in sources:
        with suppress(SignatureError):
            parse_signature(source, NAME)
        module_problem(source, signature)
        suite_problem(source, NAME)
        engine = SynthesisEngine(ScriptedModel(), sandbox, ListedLibrary(), model_name="scripted")
        with pytest.raises(SynthesisFailed):
            await engine.examine(ToolDraft(name=NAME, description="x", signature=signature, code=source, tests=source))
    assert (capfd.readouterr().out, PWNED.exists()) == ("", False)


async def test_the_host_is_as_it_was(tmp_path: Path) -> None:
    """The fingerprint that the other tests compare does change with what it is of."""
    with planted(tmp_path) as host:
        before = host.fingerprint()
        (host.folder / "deep" / "file").write_text("x")
        assert host.fingerprint() != before
        socket.create_connection(("127.0.0.1", host.port)).close()
        assert (host.knocks(), host.knocks()) == (1, 0)
