"""Layers of further packages: what they are made of, and that they get into nobody else's way. None is built here."""

from src.sandboxes.engine import Engine
from src.sandboxes.image import SandboxImage
from src.sandboxes.layer import PackageLayer
from src.sandboxes.python_environment import PythonEnvironment


def test_a_layer_installs_wheels_on_top_of_the_sandboxs_image():
    layer = PackageLayer(Engine(), SandboxImage(Engine(), "team/box:2", None), ["b==2", "a"])
    assert layer.name == "team/box-2-with-7453aa5a176265fc"
    assert layer.dockerfile() == (
        "FROM team/box:2\nUSER 0:0\nRUN pip install --no-cache-dir --root-user-action=ignore --only-binary :all: a b==2\nUSER 65534:65534\n"
    )


def test_a_set_of_packages_is_one_layer_whatever_its_order():
    below = SandboxImage(Engine(), "box", None)
    names = {PackageLayer(Engine(), below, packages).name for packages in (["a", "b"], ["b", "a"])}
    assert len(names) == 1


def test_an_environment_with_further_packages_has_a_folder_of_its_own(tmp_path):
    plain, more = PythonEnvironment(tmp_path).current, PythonEnvironment(tmp_path, packages=["a==1"]).current
    assert plain.packages.parent == tmp_path
    assert more.packages.parent.parent == tmp_path / "with"
    assert plain.packages.name != more.packages.name
