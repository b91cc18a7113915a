"""The fields that events have in common: the stage they come from, the failure that they report,
and the use of the model.
"""

from collections.abc import Mapping

from selfeng.core.errors import FailureCause, FailureKind
from selfeng.core.value import Value


class Usage(Value):
    """A turn's use of the model so far."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """US dollars; None if the price of the model is unknown."""


class StageEvent(Value):
    """An event of a stage: of the turn itself, or of one step of its plan."""

    plan_step: str = ""
    """Id of the step, "" for the turn itself."""
    within: str = ""
    """Id of the delegation that caused it, "" for none."""


class FailureEvent(Value):
    """An event that reports an error, and what to do."""

    message: str
    remedy: str = ""
    kind: FailureKind = "internal"
    cause: FailureCause = ""
    values: Mapping[str, str | float] = {}
    """Names and numbers in the message."""


class FinalEvent(Value):
    """An event that ends a turn or a build."""

    usage: Usage = Usage()
    seconds: float = 0.0
