"""The packages that a build may ask for: how they are written, and what is meant by them."""

import pytest

from selfeng.core.errors import RequestError
from selfeng.projects.options import ProjectOptions, is_meant, module, requirement


@pytest.mark.parametrize(
    ("package", "imported", "installed"),
    [
        ("requests==2.32.5", "requests", "requests==2.32.5"),
        ("typing-Extensions", "typing_extensions", "typing-Extensions"),
        ("yaml:PyYAML==6.0.2", "yaml", "PyYAML==6.0.2"),
    ],
)
def test_a_package_has_a_name_to_install_and_one_to_import(package, imported, installed):
    assert (module(package), requirement(package)) == (imported, installed)
    assert is_meant(package, imported)
    assert is_meant(package, installed)
    assert not is_meant(package, "other")


@pytest.mark.parametrize(
    "package",
    [
        "",
        "-r list.txt",
        "a b",
        "a; rm -rf /",
        "https://example.org/a.whl",
        "a @ file:///a",
        "a>=1",
        "--pre",
        "a==1\nUSER 0",
    ],
)
def test_what_pip_would_take_for_something_else_is_refused(package):
    with pytest.raises(RequestError, match="should be a package such as"):
        ProjectOptions.of({"project_name": "a", "packages": [package]})
