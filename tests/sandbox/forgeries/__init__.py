"""Wrong tools with suites that a model might write, which the right tool passes too.

Each case names a mechanism of `docs/synthesis.md`, "How a suite can be satisfied by a wrong tool".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module

MODULES = (
    "a_looked_at_nothing",
    "a_members_and_files",
    "b_expected_from_result",
    "c_objects",
    "d_not_a_number",
    "e_told_apart",
    "f_mutants",
    "g_others",
)


@dataclass(frozen=True)
class Case:
    """A right tool with its suite, and wrong ones that pass it."""

    mechanism: str
    function: str
    right: str
    suite: str
    guards: Mapping[str, str] = field(default_factory=dict)
    """Of each wrong tool, the statements with which its function begins; the rest is the right
    tool's.
    """
    wrong: Mapping[str, str] = field(default_factory=dict)
    """Whole wrong tools."""

    def wrong_tools(self) -> dict[str, str]:
        begun = {name: self._guarded(guard) for name, guard in self.guards.items()}
        return {**begun, **self.wrong}

    def _guarded(self, guard: str) -> str:
        head = f"def {self.function}("
        start = self.right.index(head)
        line = self.right.index(":\n", start) + 2
        body = "".join(f"    {part}\n" for part in guard.strip().splitlines())
        return self.right[:line] + body + self.right[line:]


def cases() -> list[Case]:
    return [
        case for name in MODULES for case in import_module(f"tests.sandbox.forgeries.{name}").CASES
    ]
