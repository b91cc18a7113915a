"""A missing package is named, with what is there; what else an import can fail of is left in
Python's own words.
"""

from importlib import import_module
from pathlib import Path

import pytest

from sandbox_worker import report
from sandbox_worker.report import missing_package
from selfeng.core import packages
from selfeng.core.packages import package_uses, sandbox_packages, sandbox_requirements
from selfeng.sandboxes.limits import ENVIRONMENT

HAS = f"It has {', '.join(sandbox_packages())} and the standard library."


@pytest.fixture(autouse=True)
def _offer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SANDBOX_PACKAGES", ENVIRONMENT["SANDBOX_PACKAGES"])


def failure(module: str) -> ImportError:
    with pytest.raises(ImportError) as caught:
        import_module(module)
    return caught.value


def test_the_list_of_packages_gives_the_names_of_their_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {"PIL", "dateutil", "docx", "pandas", "python_calamine"} <= {*sandbox_packages()}
    path = tmp_path / "requirements.txt"
    path.write_text(
        "# a comment==1\n--only-binary :all:\nb-c==1.0.post1  # import b\npytest==9  # tests "
        "only\na==1\nd==2  # plots\ne-f==3  # import e: .x, .y\n"
    )
    monkeypatch.setattr(packages, "LIST", path)
    assert sorted(sandbox_requirements.__wrapped__()) == ["a", "b", "d", "e"]
    assert package_uses.__wrapped__() == "`a`, `b`, `d` (plots), `e` (.x, .y)"


def test_a_missing_package_is_named_with_what_is_there() -> None:
    error = failure("pandaz.frame")
    assert (
        missing_package("code", error)
        == f"The code needs the package `pandaz`, which the sandbox does not have. {HAS}"
    )
    assert (
        missing_package("tests", error)
        == f"The tests need the package `pandaz`, which the sandbox does not have. {HAS}"
    )
    assert report.load_problem("code", error, "x.py") == missing_package("code", error)
    assert report.raised(error, "x")["message"] == missing_package("code", error)


def test_a_module_that_the_sandboxs_python_lacks_is_called_one_of_the_standard_library() -> None:
    error = ModuleNotFoundError("No module named '_tkinter'", name="winreg")
    assert missing_package("code", error) == (
        "The code needs the module `winreg` of the standard library, which the sandbox's Python "
        "was built without."
    )


def test_an_optional_package_of_a_package_is_named() -> None:
    error = ImportError(
        "`Import tabulating` failed. Use pip or conda to install the tabulating package."
    )
    error.__cause__ = ModuleNotFoundError("No module named 'tabulating'", name="tabulating")
    assert missing_package("code", error).startswith("The code needs the package `tabulating`, ")


@pytest.mark.parametrize("module", ["json.nothing", "src.nothing", "pydantic.nothing.at.all"])
def test_a_missing_submodule_is_no_missing_package(module: str) -> None:
    error = failure(module)
    assert missing_package("code", error) == ""
    assert report.load_problem("code", error, "x.py").startswith(
        "The code can't be imported: ModuleNotFoundError: No module named '"
    )


@pytest.mark.parametrize(
    "error",
    [
        ValueError("pandaz"),
        ModuleNotFoundError("by hand"),
        ModuleNotFoundError("odd", name=3),
        ImportError("cannot import name 'x' from 'json'", name="json"),
        ModuleNotFoundError("the tool itself", name="tests"),
    ],
    ids=[
        "no import",
        "no name",
        "odd name",
        "no such name in the module",
        "a module that is loaded",
    ],
)
def test_other_errors_are_no_missing_package(error: BaseException) -> None:
    assert missing_package("code", error) == ""
