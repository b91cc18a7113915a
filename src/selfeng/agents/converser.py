"""The converser: gathers from the person what a request leaves open, by structured questions and a
bounded number of times.
"""

from collections.abc import Sequence

from selfeng.core.errors import StillUnclear
from selfeng.core.events import QuestionsAsked
from selfeng.core.question import MOST, ROUNDS, Question, told
from selfeng.core.turn import Turn


def ask(turn: Turn, intro: str, questions: Sequence[Question], agent: str = "") -> str:
    """Ask the first of the questions, as many as a round has; the words for who sees no form.
    `agent` goes on with the answers.

    Raises:
        StillUnclear: there were `ROUNDS` rounds just before.
    """
    round = tuple(questions[:MOST])
    if turn.request.rounds >= ROUNDS:
        missing = ", ".join(question.id for question in round)
        raise StillUnclear(
            f"after {ROUNDS} rounds of questions this is open still: {missing}",
            "say all of it in one request",
            where="clarify",
        )
    turn.emit(QuestionsAsked(questions=round, intro=intro, agent=agent))
    return told(round, intro)
