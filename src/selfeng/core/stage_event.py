"""The fields that events have in common: the stage they come from, and the use of the model."""

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
