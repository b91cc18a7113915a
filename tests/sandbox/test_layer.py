"""Further packages: what a lock says, that jobs with a lock can import them, and that they get into
nobody else's way.
"""

import asyncio

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
