"""The converser: asks the person for what a request leaves open, in structured questions, a bounded
number of times.
"""

from collections.abc import Sequence

from selfeng.core.errors import StillUnclear
from selfeng.core.events import QuestionsAsked
from selfeng.core.question import MOST, ROUNDS, Question, questions_text
from selfeng.core.turn import Turn


def ask(turn: Turn, intro: str, questions: Sequence[Question], agent: str = "") -> str:
    """Ask the first of the questions, as many as a round has; returns the text for a reader without
    a form. `agent` continues with the answers.

    Raises:
        StillUnclear: the last `ROUNDS` rounds left something open.
    """
    round = tuple(questions[:MOST])
    if turn.request.rounds >= ROUNDS:
        missing = ", ".join(question.id for question in round)
        raise StillUnclear(
            f"still missing after {ROUNDS} rounds of questions: {missing}",
            "say all of it in one request",
            where="clarify",
        )
    refused = turn.request.refused
    turn.emit(QuestionsAsked(questions=round, intro=intro, agent=agent, refused=refused))
    return questions_text(round, intro)
