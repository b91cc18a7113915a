"""A missing package: how the failed import of what the sandbox does not have is told from other failures, and said."""

import importlib.util
import os
import sys

_CAUSES = 5
"""How far back an error is followed; pandas raises one of its own where an optional package is missing."""


def missing_package(what: str, error: BaseException) -> str:
    """A sentence that names the package which the `code` or the `tests` need and the sandbox does not have; else "".

    A module that a package which is there does not have, or one of the tool itself, is no missing package.
    """
    package = _missing(error)
    if not package:
        return ""
    needs = f"The {what} need{'s' if what == 'code' else ''}"
    if package in sys.stdlib_module_names:
        return f"{needs} the module `{package}` of the standard library, which the sandbox's Python was built without."
    return f"{needs} the package `{package}`, which the sandbox does not have. {offer()}"


def offer() -> str:
    """A sentence on what the sandbox has."""
    packages = os.environ.get("SANDBOX_PACKAGES", "").split()
    return f"It has {', '.join(packages)} and the standard library." if packages else "It has the standard library."


def _missing(error: BaseException | None) -> str:
    """The package whose import failed, "" if none did."""
    for _ in range(_CAUSES):
        if not isinstance(error, ImportError):
            break
        name = error.name if isinstance(error, ModuleNotFoundError) else None
        package = name.partition(".")[0] if isinstance(name, str) else ""
        if package:
            return "" if package in sys.modules or importlib.util.find_spec(package) is not None else package
        error = error.__cause__ or error.__context__
    return ""
