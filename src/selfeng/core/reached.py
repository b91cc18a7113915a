"""What a turn has reached so far, read from its events: told when a limit ends it."""

from selfeng.core.events import Event, SynthesisStep, TestFinished
from selfeng.core.words import count


class Reached:
    """Takes a turn's events one by one."""

    def __init__(self) -> None:
        self._written = self._registered = ""
        self._passed: dict[int, list[bool]] = {}
        """Of the tests against each attempt at an implementation, whether they passed."""

    def take(self, event: Event) -> None:
        match event:
            case SynthesisStep(step="specification", state="finished") if event.artifact:
                self._written = "The specification is written"
            case SynthesisStep(step="tests", state="finished"):
                self._written = "Specification and tests are written"
            case SynthesisStep(step="registration", state="finished", text=text):
                self._registered = text.rstrip(".")
            case TestFinished(against="implementation", attempt=attempt, result=result):
                self._passed.setdefault(attempt, []).append(result.outcome == "passed")

    @property
    def words(self) -> str:
        """One sentence for people; "" if nothing was reached."""
        best = max(self._passed.values(), key=sum, default=[])
        tested = f", and the best implementation passes {sum(best)} of {count(len(best), 'test')}" if best else ""
        told = self._registered or self._written + tested
        return f"{told}." if told else ""
