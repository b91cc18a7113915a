"""The commands for lessons: what was learnt from earlier turns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from selfeng.cli.command import AsJson, example, on_engine, print_json, say
from selfeng.core.visible import one_line
from selfeng.core.words import count

if TYPE_CHECKING:
    from selfeng.core.lesson import Lesson
    from selfeng.engine import Engine

app = typer.Typer()


@app.command(epilog=example("selfeng lessons", "selfeng lessons --json"))
@on_engine()
async def lessons(engine: Engine, *, json: AsJson = False) -> None:
    """List the lessons of earlier turns."""
    all_lessons = await engine.learning.lessons()
    if json:
        print_json([lesson.model_dump(mode="json") for lesson in all_lessons])
        return
    for lesson in all_lessons:
        typer.echo(_line(lesson))


@app.command(epilog=example("selfeng learn"))
@on_engine("embedder")
async def learn(engine: Engine) -> int:
    """Learn from all turns that are still to be examined. Exit code 1 if the model can't be
    reached, or gives no usable reply about one of them, which the next times examine again.
    """
    from selfeng.lessons.book import LOOKS

    examined, unusable = await engine.learning.learn(lambda lesson: typer.echo(_line(lesson)))
    say(f"examined {count(examined, 'turn')}")
    if unusable:
        say(f"the model gave no usable reply for {unusable}; a turn is examined {LOOKS} times")
    return 1 if unusable else 0


def _line(lesson: Lesson) -> str:
    weight = "expired" if lesson.expired else f"{lesson.weight:.2f}"
    return one_line(f"{weight:7}  {lesson.agent:14} {lesson.trigger}: {lesson.advice}")
