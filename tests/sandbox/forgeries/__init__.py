"""Wrong tools with natural suites: a strong model might write each of these suites, the right tool
passes it, and so does the wrong one in plain pytest.

`benchmarks/forging.py` takes them through the whole chain. A module of this package holds those of
one mechanism in `FORGERIES`, and begins with its letter; `honest` holds right tools with suites
that a too strict gate would refuse, in `HONEST`.
"""

import re
from dataclasses import dataclass
from importlib import import_module
from pkgutil import iter_modules


@dataclass(frozen=True)
class Forgery:
    name: str
    mechanism: str
    """The letter of the way in which it gets a passing verdict; "" for an honest one."""
    function: str
    right: str
    """The module of the right tool."""
    wrong: str
    """The module of the wrong one, with the same signature and docstring; "" for an honest one."""
    suite: str


def forgery(
    mechanism: str, name: str, right: str, suite: str, changes: dict[str, str] | None = None
) -> Forgery:
    """A forgery whose wrong tool is the right one after `changes`, from old text to new; each old
    text stands in the right tool once. Without changes, an honest one.
    """
    right, suite = right.lstrip("\n"), suite.lstrip("\n")
    imported = re.findall(r"^ *from (\w+) import (?:\w+, )*\1\b", suite, re.MULTILINE)
    found = [function for function in imported if f"def {function}(" in right]
    if not found:
        raise ValueError(f"the suite of {name!r} does not import its tool; add the import")
    wrong = right if changes else ""
    for old, new in (changes or {}).items():
        if wrong.count(old) != 1:
            raise ValueError(f"{old!r} is not in {name!r} exactly once; give more of the line")
        wrong = wrong.replace(old, new)
    return Forgery(name, mechanism, found[0], right, wrong, suite)


def forgeries() -> list[Forgery]:
    """Those of all mechanisms."""
    return [case for module in _modules() for case in getattr(module, "FORGERIES", ())]


def honest() -> list[Forgery]:
    """Right tools that must pass."""
    return [case for module in _modules() for case in getattr(module, "HONEST", ())]


def _modules() -> list[object]:
    return [import_module(f"{__name__}.{found.name}") for found in iter_modules(__path__)]
