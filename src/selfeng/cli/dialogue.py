"""The dialogue of a command line: a request with its answers, and the questions asked one by one."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from shlex import quote

import typer

from selfeng.core.asking import unwaited
from selfeng.core.errors import RequestError
from selfeng.core.files import File
from selfeng.core.question import NO, YES, Answer, Question, answer_problem
from selfeng.core.status import Asked
from selfeng.core.visible import visible
from selfeng.engine import Engine


@dataclass(frozen=True)
class Request:
    """What a person asks, in words or as answers."""

    text: str = ""
    conversation: str | None = None
    files: tuple[File, ...] = ()
    answers: tuple[Answer, ...] = ()
    agent: str = ""

    async def begin(self, engine: Engine, owner: str) -> Asked:
        """Raises: RequestError, as the engine's `ask`."""
        return await engine.ask(owner, self.conversation, self.text, self.files, answers=self.answers, agent=self.agent)


def parsed_answer(text: str) -> Answer:
    """`ID=VALUE`. Raises: RequestError."""
    id, equals, value = text.partition("=")
    if not equals:
        raise RequestError(f"--answer {text[:40]!r} has no =", "write --answer ID=VALUE, such as --answer unit=metre")
    return Answer(id=id.strip(), value=value.strip())


def is_interactive() -> bool:
    """Whether somebody is there to be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def asked(questions: Sequence[Question]) -> tuple[Answer, ...]:
    """Ask so that Ctrl-C ends the command at once. Raises: as `answered`."""
    return await unwaited(lambda: answered(questions))


def answered(questions: Sequence[Question]) -> tuple[Answer, ...]:
    """Ask on stderr until each has an answer that fits. Raises: typer.Abort, the person gives up."""
    return tuple(Answer(id=question.id, value=_value(question)) for question in questions)


def answering(conversation_id: str, questions: Sequence[Question]) -> str:
    """The command that answers the questions later."""
    answers = " ".join(f"--answer {quote(f'{question.id}=…')}" for question in questions)
    return f"selfeng ask --conversation {conversation_id} {answers}"


def _value(question: Question) -> str:
    choices = {"choice": question.options, "yes_no": (YES, NO)}.get(question.answer, ())
    hint = f" ({', '.join(choices)})" if choices else ""
    while True:
        value = str(typer.prompt(visible(f"{question.question}{hint}"), default=question.default, err=True)).strip()
        if not (problem := answer_problem(question, value)):
            return value
        typer.echo(visible(problem), err=True)
