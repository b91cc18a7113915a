"""The dialogue of a command with a person: a turn that is shown to its end, and its questions."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import partial
from json import dumps
from pathlib import Path
from shlex import quote
from typing import NamedTuple

import typer

from selfeng.cli.command import opened, say
from selfeng.cli.drawing import ROWS, draw
from selfeng.cli.terminal import Terminal
from selfeng.core.daemon_threads import unwaited
from selfeng.core.events import (
    AnswersRecomputed,
    ExecutionFinished,
    FilesMade,
    Outcome,
    PlanMade,
    QuestionsAsked,
    Record,
    TurnFailed,
    TurnFinished,
)
from selfeng.core.owner import LOCAL
from selfeng.core.question import NO, YES, Answer, Question, answer_problem
from selfeng.core.result import Result
from selfeng.core.settings import Settings
from selfeng.core.status import Asked
from selfeng.core.verdict import Returned
from selfeng.core.visible import visible
from selfeng.doors.local_files import write_files
from selfeng.engine import Engine

EXIT_CODES: Mapping[Outcome, int] = {
    Outcome.ANSWERED: 0,
    Outcome.FAILED: 1,
    Outcome.ASKED: 3,
    Outcome.DECLINED: 4,
    Outcome.STOPPED: 5,
}
"""The exit codes of the commands that run a turn; 2 is for options that can't be understood."""


async def show_turn(
    settings: Settings, begin: Callable[[Engine], Awaitable[Asked]], *, json: bool, output: Path
) -> int:
    """Run a turn and show it; if it ends with questions and a person is at the terminal, ask them
    and continue.
    """
    async with opened(settings, "embedder", "sandbox") as engine:
        await engine.setup.get_ready(to_build=False)
        engine.feed.subscribe(partial(_show_recalled, json))
        turn_result = await show(engine, begin(engine), json=json, output=output)
        while turn_result.questions and sys.stdin.isatty() and sys.stderr.isatty() and not json:
            # in a thread, so that Ctrl-C ends the command at once
            answers = await unwaited(partial(answered, turn_result.questions))
            pending_turn = engine.ask(LOCAL, turn_result.conversation, "", answers=answers)
            turn_result = await show(engine, pending_turn, json=json, output=output)
        await engine.settle()
    if turn_result.questions:
        say(f"To answer: {answering(turn_result.conversation, turn_result.questions)}")
    return EXIT_CODES[turn_result.outcome]


class Shown(NamedTuple):
    outcome: Outcome = Outcome.STOPPED
    conversation: str = ""
    questions: tuple[Question, ...] = ()


async def show(
    engine: Engine, pending_turn: Awaitable[Asked], *, json: bool, output: Path
) -> Shown:
    """Show the events of a turn to its end, and write the files that it makes."""
    terminal, planned = Terminal(), False
    questions: tuple[Question, ...] = ()
    needed, values = set[str](), list[tuple[str, Result]]()
    async for record in _records(engine, pending_turn):
        if not isinstance(record.event, AnswersRecomputed):
            _show_record(record, terminal, json)
        match record.event:
            case FilesMade(contents=contents):
                for path in write_files(contents, output):
                    say(f"written: {path}")
            case PlanMade(steps=steps):
                planned = True
                needed.update(need for step in steps for need in step.needs)
            case ExecutionFinished(
                within="", plan_step=step, execution=Returned(result=Result() as value)
            ) if value.reference.long:
                values.append((step, value))
            case QuestionsAsked():
                questions = record.event.questions
            case TurnFinished(outcome=outcome) | TurnFailed(outcome=outcome):
                if planned and outcome is Outcome.ANSWERED:
                    say(f"To save these steps as one tool: selfeng keep {record.turn_id}")
                for step, value in values:
                    if step not in needed and not json:
                        draw(value, ROWS)
                open_questions = questions if outcome is Outcome.ASKED else ()
                return Shown(outcome, record.conversation_id, open_questions)
    return Shown()


def _show_recalled(json: bool, records: Sequence[Record]) -> None:
    """Show the checks that run concurrently with a turn, also after its end."""
    for record in records:
        if isinstance(record.event, AnswersRecomputed):
            _show_record(record, Terminal(), json)


def _show_record(record: Record, terminal: Terminal, json: bool) -> None:
    if json:
        typer.echo(dumps(record.model_dump(mode="json")))  # in ASCII: no terminal interprets it
    else:
        terminal.show(record.event)


async def _records(engine: Engine, pending_turn: Awaitable[Asked]) -> AsyncIterator[Record]:
    """The records of a turn to its end; Ctrl-C stops it."""
    record: Record | None = None
    try:
        async for record in engine.turn(LOCAL, pending_turn):
            yield record
    except asyncio.CancelledError:  # leaving the turn has stopped it
        if record is None:
            raise
        await engine.settle()
        yield (await engine.conversations.history(LOCAL, record.conversation_id))[-1]


async def asked_what_is_wrong() -> tuple[str, str]:
    """The right value and the error, in the person's words; "" each where the person leaves it out,
    or is not at a terminal.
    """
    if not sys.stdin.isatty():
        return "", ""

    def ask(words: str) -> str:
        return str(typer.prompt(words, default="", show_default=False, err=True))

    value = await unwaited(lambda: ask("The right value, if you know it"))
    return await unwaited(lambda: ask("What is wrong, if you like")), value


def answered(questions: Sequence[Question]) -> tuple[Answer, ...]:
    """Ask on stderr until each question has a valid answer. Raises: typer.Abort: the person gives
    up.
    """
    return tuple(Answer(id=question.id, value=_value(question)) for question in questions)


def answering(conversation_id: str, questions: Sequence[Question]) -> str:
    """The command that answers the questions later."""
    answers = " ".join(f"--answer {quote(f'{question.id}=…')}" for question in questions)
    return f"selfeng ask --conversation {conversation_id} {answers}"


def _value(question: Question) -> str:
    choices = {"choice": question.options, "yes_no": (YES, NO)}.get(question.answer, ())
    hint = f" ({', '.join(choices)})" if choices else ""
    while True:
        value = str(
            typer.prompt(visible(f"{question.question}{hint}"), default=question.default, err=True)
        ).strip()
        if not (problem := answer_problem(question, value)):
            return value
        typer.echo(visible(problem), err=True)
