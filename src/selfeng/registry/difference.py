"""What two versions of a tool differ in."""

from collections.abc import Iterator
from difflib import unified_diff

from selfeng.core.provenance import ToolVersion
from selfeng.registry.files import code_file, tests_file


def difference(before: ToolVersion, after: ToolVersion) -> str:
    """A unified diff of code and tests; "" if they are the same."""
    return "".join(f"{line}\n" for line in _lines(before, after))


def _lines(before: ToolVersion, after: ToolVersion) -> Iterator[str]:
    versions = f"version {before.version}", f"version {after.version}"
    for file, old, new in ((code_file(after.name), before.code, after.code), (tests_file(after.name), before.tests, after.tests)):
        yield from unified_diff(_split(old), _split(new), file, file, *versions, n=3, lineterm="")


def _split(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n")
