"""A question to the person and its answer, for what only the person knows."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from selfeng.core.errors import RequestError
from selfeng.core.value import StrictlyOptional, Value
from selfeng.core.words import count

MOST = 3
"""Questions of one round."""
ROUNDS = 2
"""Rounds of questions in a row; then the work continues with what is known, or fails."""
YES, NO = "yes", "no"
ONCE, ALWAYS = "once", "always"
CONSENTS = (ONCE, ALWAYS, NO)
"""A person's answers to the question whether something may be reached outside the sandbox."""
Consent = Literal["once", "always", "no"]

LONGEST_ANSWER = 4_000
AnswerValue = bool | int | float | Annotated[str, Field(max_length=LONGEST_ANSWER)]
"""An answer as a program gives it."""
AnswerKind = Literal["choice", "text", "number", "yes_no"]


class Question(Value):
    id: str
    """Short, such as `unit`; unique in its round. The name of a parameter if its value is asked
    for.
    """
    question: str
    why: StrictlyOptional[str] = ""
    """The decision that depends on the answer."""
    answer: StrictlyOptional[AnswerKind] = "text"
    options: StrictlyOptional[tuple[str, ...]] = ()
    default: StrictlyOptional[str | None] = None
    """The value that a form suggests."""


class Answer(Value):
    id: str
    value: str
    """As text: `3.5` for a number, `yes` or `no`, one of the options, or anything."""
    question: str = ""


def answers_of(values: Mapping[str, object]) -> tuple[Answer, ...]:
    """The answers of a program, which gives their values by the ids of the questions."""
    return tuple(Answer(id=id, value=_answer_text(value)) for id, value in values.items())


def _answer_text(value: object) -> str:
    """A value as people write it in an answer."""
    if isinstance(value, bool):
        return YES if value else NO
    return f"{value:.15g}" if isinstance(value, float) else str(value)


def questions_problem(questions: Sequence[Question]) -> str:
    """Why these can't be asked, in words that the model can act on; "" if they can."""
    ids = [question.id for question in questions]
    if not 1 <= len(questions) <= MOST:
        return f"a round has 1 to {MOST} questions, not {len(questions)}"
    if twice := next((id for id in ids if ids.count(id) > 1), None):
        return f"two questions have the id {twice}"
    for question in questions:
        if not question.id.strip() or not question.question.strip():
            return "a question has no id or no words"
        if question.answer == "choice" and len(set(question.options)) < 2:
            return (
                f"the question {question.id} has {count(len(question.options), 'option')}; a "
                "choice is among two or more"
            )
        if question.default is not None and (problem := answer_problem(question, question.default)):
            return f"the default of {problem}"
    return ""


def answer_problem(question: Question, value: str) -> str:
    """Why the value can't be the answer to the question, with what is allowed; "" if it can."""
    match question.answer:
        case "choice" if value not in question.options:
            return f"{question.id}={value!r} is not one of {', '.join(question.options)}"
        case "number" if not _is_number(value):
            return f"{question.id}={value!r} is not a number"
        case "yes_no" if value not in (YES, NO):
            return f"{question.id}={value!r} is neither {YES} nor {NO}"
        case "text" if not value.strip():
            return f"{question.id} has no answer"
    return ""


def completed(questions: Sequence[Question], answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """The answers with the text of their questions.

    Raises:
        RequestError: an answer has no question, is given twice, or does not fit its question.
    """
    open_questions = {question.id: question for question in questions}
    for answer in answers:
        question = open_questions.pop(answer.id, None)
        if question is None:
            open_ones = ", ".join(q.id for q in questions)
            raise RequestError(
                f"there is no open question {answer.id[:40]!r}",
                f"answer {open_ones}" if open_ones else "ask in words",
            )
        if problem := answer_problem(question, answer.value):
            raise RequestError(problem, "give an answer of the required kind")
    words = {question.id: question.question for question in questions}
    return tuple(answer.model_copy(update={"question": words[answer.id]}) for answer in answers)


def questions_text(questions: Sequence[Question], intro: str = "") -> str:
    """The questions as Markdown, for a reader without a form."""
    if len(questions) == 1 and not intro:
        return _words(questions[0])
    return "\n".join(
        filter(
            None, [intro, *(f"- **{question.id}**: {_words(question)}" for question in questions)]
        )
    )


def answers_text(answers: Sequence[Answer]) -> str:
    """The answers as a message of the person."""
    return "\n".join(f"{answer.question or answer.id} {answer.value}" for answer in answers)


def _words(question: Question) -> str:
    choices = {
        "choice": " | ".join(question.options),
        "number": "a number",
        "yes_no": f"{YES} | {NO}",
        "text": "",
    }[question.answer]
    suggested = f"default: {question.default}" if question.default is not None else ""
    noted = "; ".join(filter(None, (choices, suggested)))
    return (
        question.question
        + (f" ({noted})" if noted else "")
        + (f" {question.why}" if question.why else "")
    )


def _is_number(value: str) -> bool:
    try:
        return math.isfinite(float(value))
    except ValueError:
        return False
