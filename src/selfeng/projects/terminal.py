"""A build at the terminal: its events as lines on stderr, and the person's word in step mode and on packages."""

import sys

from rich.console import Console
from rich.text import Text

from selfeng.core.asking import unwaited
from selfeng.core.events import BudgetSpent
from selfeng.core.project_events import PROJECT_FINAL, AnyProjectEvent, ProjectActChosen
from selfeng.core.visible import visible
from selfeng.projects.consent import Decision
from selfeng.projects.options import LogLevel
from selfeng.projects.shown import detail, line

_STYLES = {"running": "cyan", "done": "green", "failed": "red", "stopped": "yellow"}
_SHOWN = 4000


class ProjectTerminal:
    """Draws the events of one build as they come."""

    def __init__(self, level: LogLevel) -> None:
        self._level, self._console = level, Console(stderr=True, highlight=False)

    def show(self, event: AnyProjectEvent | BudgetSpent) -> None:
        if self._level == "quiet" or isinstance(event, BudgetSpent):
            return
        state, words = line(event)
        self._console.print(Text.assemble((f"{state:8}", _STYLES[state]), visible(words)))
        if self._level == "debug" and (more := detail(event).rstrip()):
            self._console.print(Text(visible(more[:_SHOWN]), style="dim"))
        if isinstance(event, PROJECT_FINAL):
            usage = event.usage
            tokens = usage.input_tokens + usage.output_tokens
            self._console.print(Text(f"        {event.seconds:.1f} s · {usage.calls} model calls · {tokens:,} tokens", style="dim"))


class TerminalConsent:
    """Asks the person at the terminal; where nobody can be asked, as at the end of input, the answer is no."""

    pausing = False

    async def to_act(self, act: ProjectActChosen) -> Decision:
        asked = f"{act.action} {act.arguments}\nDo it? [Enter] yes, [c] yes, and all that follows, [s] stop: "
        match (await _ask(asked)).strip().lower():
            case "" | "y" | "yes":
                return "act"
            case "c":
                return "act_on"
            case _:
                return "stop"

    async def to_package(self, package: str, reasoning: str) -> bool:
        why = f" ({reasoning})" if reasoning else ""
        return (await _ask(f"The project asks for the package {package}{why}. Install it for its sandbox? [y/N] ")).strip().lower() in {
            "y",
            "yes",
        }


async def _ask(question: str) -> str:
    """The line that the person enters; "no" at the end of input. A build that is stopped meanwhile ends at once."""
    sys.stderr.write(visible(question))
    sys.stderr.flush()
    return await unwaited(lambda: sys.stdin.readline() or "no")
