"""Layers of further packages: what they are made of, and that they get into nobody else's way."""

import pytest
from docker.client import DockerClient

from selfeng.core.errors import SandboxFailed
from selfeng.core.verdict import Returned, SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.docker_engine import DockerEngine
from selfeng.sandboxes.docker_image import DockerImage, PackageLayer
from selfeng.sandboxes.python_environment import PythonEnvironment


def test_a_layer_installs_wheels_on_top_of_the_sandboxs_image():
    layer = PackageLayer(
        DockerEngine(), DockerImage(DockerEngine(), "team/box:2", None), ["b==2", "a"]
    )
    assert layer.name == "team/box-2-with-7453aa5a176265fc"
    assert layer.dockerfile() == (
        "FROM team/box:2\nUSER 0:0\nARG PIP_INDEX_URL\nARG PIP_EXTRA_INDEX_URL\n"
        "ARG PIP_TRUSTED_HOST\nCOPY Dockerfile docker/certificates.pe[m] /opt/scratch/\n"
        "RUN if [ -f /opt/scratch/certificates.pem ]; then "
        "export PIP_CERT=/opt/scratch/certificates.pem; fi && "
        "pip install --no-cache-dir --root-user-action=ignore --only-binary :all: a b==2 && "
        "python -c \"import shutil; shutil.rmtree('/opt/scratch')\"\nUSER 65534:65534\n"
    )


def test_a_set_of_packages_is_one_layer_whatever_its_order():
    below = DockerImage(DockerEngine(), "box", None)
    names = {
        PackageLayer(DockerEngine(), below, packages).name for packages in (["a", "b"], ["b", "a"])
    }
    assert len(names) == 1


def test_an_environment_with_further_packages_has_a_folder_of_its_own(tmp_path):
    plain, more = (
        PythonEnvironment(tmp_path).current,
        PythonEnvironment(tmp_path, packages=["a==1"]).current,
    )
    assert plain.packages.parent == tmp_path
    assert more.packages.parent.parent == tmp_path / "with"
    assert plain.packages.name != more.packages.name


@pytest.mark.docker
async def test_a_layer_is_built_on_the_image_and_its_packages_are_there(
    image: str, engine: DockerClient
):
    sandbox = SecureSandbox(timeout=20, backend="docker", image=image, packages=["humanize==4.9.0"])
    sandbox.build_image()
    try:
        assert sandbox.image_is_current()
        outcome = await sandbox.execute(
            SandboxJob("tool", "import humanize\ndef tool(n): return humanize.intcomma(n)"),
            {"n": 1234567},
        )
        assert isinstance(outcome, Returned), outcome
        assert outcome.text == "1,234,567"
    finally:
        await sandbox.aclose()
        engine.images.remove(
            PackageLayer(
                DockerEngine(), DockerImage(DockerEngine(), image, None), ["humanize==4.9.0"]
            ).name
        )


@pytest.mark.docker
async def test_packages_that_can_not_be_installed_are_named(image: str):
    sandbox = SecureSandbox(
        timeout=20, backend="docker", image=image, packages=["no-such-package-of-anybodys==1.0"]
    )
    with pytest.raises(
        SandboxFailed, match=r"the packages no-such-package-of-anybodys==1\.0 can't be installed:"
    ):
        sandbox.build_image()
    await sandbox.aclose()
