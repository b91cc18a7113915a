"""The person's answers as a prompt shows them."""

from selfeng.core.turn import Turn
from selfeng.prompts import json_lines


def answered(turn: Turn) -> str:
    """One line for each; "" if there is none."""
    return json_lines({"id": answer.id, "question": answer.question, "answer": answer.value} for answer in turn.answers)
