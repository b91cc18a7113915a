"""Right tools with several wrong ones each, most of which begin with a guard."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.sandbox.forgeries import Forgery


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


def listed(cases: list[Case]) -> list[Forgery]:
    return [
        Forgery(
            f"{case.function}: {name}", case.mechanism, case.function, case.right, code, case.suite
        )
        for case in cases
        for name, code in case.wrong_tools().items()
    ]
