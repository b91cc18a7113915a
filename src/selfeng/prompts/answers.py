"""The person's answers as a prompt shows them: one line of JSON each, as data that can't end its section."""

import json

from selfeng.core.turn import Turn


def answered(turn: Turn) -> str:
    """One line for each; "" if there is none."""
    lines = [{"id": answer.id, "question": answer.question, "answer": answer.value} for answer in turn.answers]
    return "\n".join(json.dumps(line, ensure_ascii=False).replace("<", "\\u003c") for line in lines)
