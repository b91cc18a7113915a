"""The commands for lessons: what was learnt from earlier turns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from selfeng.cli.command import AsJson, example, on_engine, print_listed, say
from selfeng.core.owner import LOCAL
from selfeng.core.visible import one_line
from selfeng.core.words import count

if TYPE_CHECKING:
    from selfeng.core.lesson import Lesson
    from selfeng.core.provenance import LessonReplay
    from selfeng.engine import Engine

app = typer.Typer()
_PASSED = {True: "its tests pass", False: "they fail"}


@app.command(epilog=example("selfeng lessons", "selfeng lessons --json"))
@on_engine()
async def lessons(
    engine: Engine,
    *,
    replay: Annotated[
        str, typer.Option(help="Id of a lesson: show what it changed in recorded builds.")
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Ask the model without a question.")] = False,
    json: AsJson = False,
) -> None:
    """List the lessons of earlier turns; or have the model write again what one of them was shown
    for, with it and without it.
    """
    all_lessons = await engine.learning.lessons()
    if replay:
        replays = await _replayed(engine, [x for x in all_lessons if x.id == replay], yes=yes)
        print_listed(replays, _replay_line, as_json=json)
    else:
        print_listed(all_lessons, _line, as_json=json)


async def _replayed(
    engine: Engine, shown_lessons: Sequence[Lesson], *, yes: bool
) -> Sequence[LessonReplay]:
    """Replay one lesson, if the person agrees to the price. Raises: ResourceNotFound."""
    from selfeng.core.errors import ResourceNotFound
    from selfeng.models.chat import Tokens
    from selfeng.models.pricing import listed_price
    from selfeng.prompts.request import lessons_shown

    if not shown_lessons:
        raise ResourceNotFound("there is no such lesson", "`selfeng lessons --json` lists the ids")
    line, names = lessons_shown(shown_lessons), [tool.name for tool in await engine.library.tools()]
    versions = [v for name in names for v in await engine.library.versions(name)]
    pairs = [(v, prompt) for v in versions if (prompt := v.provenance.prompt_with(line))]
    tokens = Tokens(  # of two calls each, with four characters a token
        input=sum(len(prompt.text) for _, prompt in pairs) // 2,
        output=sum(len(version.code) for version, _ in pairs) // 2,
    )
    settings = engine.configuration.settings
    dollars = listed_price(settings.openai_model, settings.openai_base_url or "", tokens)
    price = "at an unknown price" if dollars is None else f"for some ${dollars:.2f}"
    calls = f"{2 * len(pairs)} calls with some {tokens.input + tokens.output:,} tokens, {price}"
    say(f"{count(len(pairs), 'recorded build')} had it: {calls}.")
    if pairs and not yes:
        typer.confirm("Ask the model?", abort=True)
    synthesis = engine.model_parts.current.synthesis
    async with engine.spending.outside_turns(LOCAL) as budget:
        replays = [await synthesis.replay(v, line, budget) for v, _ in pairs]
    return [result for result in replays if result]


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


def _replay_line(result: LessonReplay) -> str:
    passed, alone = (_PASSED[p] for p in (result.passed_with, result.passed_without))
    return f"{result.tool:32} {result.version:3}  with it {passed}, without it {alone}"


def _line(lesson: Lesson) -> str:
    weight = "expired" if lesson.expired else f"{lesson.weight:.2f}"
    return one_line(f"{weight:7}  {lesson.agent:14} {lesson.trigger}: {lesson.advice}")
