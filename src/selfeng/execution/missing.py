"""What a call lacks, as a question to the person."""

from typing import Literal, get_args, get_origin

from selfeng.core.question import AnswerKind, Question
from selfeng.core.signature import Parameter
from selfeng.execution.arguments import python_type


def question_for(parameter: Parameter) -> Question:
    """The question for a parameter's value; its id is the parameter's name."""
    wanted = python_type(parameter.annotation)
    values = tuple(map(str, get_args(wanted))) if get_origin(wanted) is Literal else ()
    options = values if len(values) > 1 else ()
    asked = parameter.description.rstrip(".?") or f"the value of {parameter.name} ({parameter.annotation})"
    return Question(id=parameter.name, question=f"{asked[:1].upper()}{asked[1:]}?", answer=_kind(wanted, options), options=options)


def _kind(wanted: object, options: tuple[str, ...]) -> AnswerKind:
    if options:
        return "choice"
    return "yes_no" if wanted is bool else "number" if wanted in (int, float) else "text"
