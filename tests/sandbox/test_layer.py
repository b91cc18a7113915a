"""Further packages: what a lock says, that jobs with a lock can import them, and that they get into
nobody else's way.
"""

import asyncio
import io
import json
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from selfeng.core.errors import RequestError, SandboxFailed
from selfeng.core.package_lock import PackageLock, lock_packages
from selfeng.core.verdict import Raised, Returned, SandboxJob, Version
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.docker_engine import DockerEngine
from selfeng.sandboxes.docker_image import DockerImage, PackageLayer
from selfeng.sandboxes.python_environment import PythonEnvironment

pytestmark = pytest.mark.asyncio(loop_scope="session")

GROUPED = "import humanize\ndef tool(n): return humanize.intcomma(n)"
SUITE = "from tool import tool\n\ndef test_tool():\n    assert tool(1234567) == '1,234,567'\n"


@pytest.fixture(scope="module")
def lock() -> PackageLock:
    return lock_packages(["humanize==4.9.0"])


@pytest.mark.asyncio(loop_scope="function")
async def test_a_lock_has_exact_versions_and_hashes_without_what_the_sandbox_has() -> None:
    lock = await asyncio.to_thread(lock_packages, ["seaborn==0.13.2", "humanize<4.10"])
    assert lock.requirements == ("humanize<4.10", "seaborn==0.13.2")
    assert lock.versions == {"humanize": "4.9.0", "seaborn": "0.13.2"}
    pins = lock.text.count("==")
    assert pins == 2 <= lock.text.count("--hash=sha256:")


@pytest.mark.asyncio(loop_scope="function")
async def test_a_lock_knows_modules_licences_and_sizes_from_the_wheels() -> None:
    lock = await asyncio.to_thread(lock_packages, ["beautifulsoup4==4.13.4", "humanize==4.9.0"])
    soup, humanize, *_ = lock.packages
    assert (soup.name, soup.modules, soup.licence) == ("beautifulsoup4", ("bs4",), "MIT License")
    assert (humanize.modules, humanize.size > 100_000) == (("humanize",), True)
    assert lock.modules == {"bs4": "beautifulsoup4", "humanize": "humanize"}


@pytest.mark.parametrize(
    "requirement",
    ["evil @ https://evil.example.org/e.whl", "--index-url=x", "-r x", "./e.whl", "a\n-r x", "a;b"],
)
@pytest.mark.asyncio(loop_scope="function")
async def test_only_names_and_versions_are_locked(requirement: str) -> None:
    with pytest.raises(RequestError, match="is not the name of a package"):
        lock_packages([requirement])


class Index(BaseHTTPRequestHandler):
    """A package index with one wheel, which has a known vulnerability."""

    wheel = b""

    def do_GET(self) -> None:
        file = "weak_words-1.0-py3-none-any.whl"
        said = {"vulnerabilities": [{"id": "GHSA-1", "withdrawn": None}]}
        page = {
            "/simple/weak-words/": f'<a href="/files/{file}">{file}</a>'.encode(),
            f"/files/{file}": self.wheel,
            "/pypi/weak-words/1.0/json": json.dumps(said).encode(),
        }.get(self.path)
        self.send_response(200 if page else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page or b"")

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.asyncio(loop_scope="function")
async def test_vulnerabilities_are_those_that_the_index_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as wheel:
        wheel.writestr("words/__init__.py", "")
        wheel.writestr(
            "weak_words-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: weak-words\nVersion: 1.0\n"
            "Classifier: License :: OSI Approved :: BSD License\n",
        )
        wheel.writestr("weak_words-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\n")
        wheel.writestr("weak_words-1.0.dist-info/RECORD", "")
    Index.wheel = content.getvalue()
    with ThreadingHTTPServer(("127.0.0.1", 0), Index) as server:
        threading.Thread(target=server.serve_forever).start()
        monkeypatch.setenv("UV_DEFAULT_INDEX", f"http://127.0.0.1:{server.server_port}/simple")
        try:
            lock = await asyncio.to_thread(lock_packages, ["weak-words"])
        finally:
            server.shutdown()
    (package,) = lock.packages
    assert (package.licence, package.modules) == ("BSD License", ("words",))
    assert package.vulnerabilities == ("GHSA-1",)


@pytest.mark.parametrize(
    ("requirements", "named"),
    [
        (["no-such-package-of-anybodys==1.0"], "no-such-package-of-anybodys"),
        (["pandas==2.0.0"], "pandas"),
        (["humanize==4.9.0", "humanize==4.10.0"], "humanize"),
    ],
)
@pytest.mark.asyncio(loop_scope="function")
async def test_packages_that_do_not_exist_or_fit_are_named(
    requirements: list[str], named: str
) -> None:
    with pytest.raises(RequestError, match=rf"can't be installed:\n(.|\n)*{named}"):
        lock_packages(requirements)


@pytest.mark.asyncio(loop_scope="function")
async def test_a_layer_installs_wheels_by_hash_on_top_of_the_sandboxs_image() -> None:
    lock = PackageLock(requirements=("a",), text="a==1 --hash=sha256:0\n")
    layer = PackageLayer(DockerEngine(), DockerImage(DockerEngine(), "team/box:2", None), lock)
    assert layer.name == f"team/box-2-with-{lock.digest}"
    lines = layer.dockerfile().splitlines()
    assert lines[:2] == ["FROM team/box:2", "USER 0:0"]
    assert lines[-1] == "USER 65534:65534"
    assert "--only-binary :all: --no-deps --require-hashes -r" in lines[-2]


@pytest.mark.asyncio(loop_scope="function")
async def test_an_environment_with_further_packages_has_a_folder_of_its_own(
    tmp_path, lock: PackageLock
) -> None:
    plain = PythonEnvironment(tmp_path).current
    more = PythonEnvironment(tmp_path, lock=lock).current
    assert plain.packages.parent == tmp_path
    assert more.packages.parent.parent == tmp_path / "with"
    assert plain.packages.name != more.packages.name


async def test_jobs_with_a_lock_import_its_packages_and_others_do_not(
    sandbox: SecureSandbox, lock: PackageLock
) -> None:
    arguments = {"n": 1234567}
    with_lock = SandboxJob("tool", GROUPED, SUITE, lock=lock)
    outcome = await sandbox.execute(with_lock, arguments)
    assert isinstance(outcome, Returned), outcome
    assert outcome.text == "1,234,567"
    assert (await sandbox.verify(with_lock, lambda result: None)).passed
    (verdict,) = await sandbox.verify_versions(with_lock, [Version(code=GROUPED)])
    assert verdict.passed
    without = await sandbox.execute(SandboxJob("tool", GROUPED), arguments)
    assert isinstance(without, Raised)
    assert "humanize" in without.message


async def test_a_package_whose_hash_differs_is_not_installed(sandbox: SecureSandbox) -> None:
    text = f"humanize==4.9.0 --hash=sha256:{'0' * 64}\n"
    lock = PackageLock(requirements=("humanize",), text=text)
    with pytest.raises(SandboxFailed, match=r"(?i)hash"):
        await sandbox.install(lock)
