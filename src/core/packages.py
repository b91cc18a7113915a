"""The packages that the sandbox offers beside the standard library; docker/requirements.txt is the one list of them."""

import re
from functools import cache
from pathlib import Path

LIST = Path(__file__).resolve().parents[2] / "docker" / "requirements.txt"
_LINE = re.compile(r"(?P<package>[A-Za-z][\w.-]*)==\S+(?:\s+#\s*(?:import (?P<module>\w+)|(?P<tests>tests only)))?\s*", re.ASCII)


@cache
def sandbox_packages() -> tuple[str, ...]:
    """Names of the top-level modules that a tool may import, sorted."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    found = [m for line in lines if (m := _LINE.fullmatch(line)) and not m["tests"]]
    return tuple(sorted(m["module"] or m["package"] for m in found))
