"""The command line: ask, look at the library, set up, and check each part."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import aclosing
from importlib.metadata import version
from json import dumps
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress

from selfeng.bootstrap import build_engine
from selfeng.cli import dialogue
from selfeng.cli.build import app as build_app
from selfeng.cli.checks import run_check
from selfeng.cli.local_files import read_files, write_files
from selfeng.cli.terminal import Terminal, calibration_lines, progress_bars, version_line
from selfeng.core.errors import AgentError
from selfeng.core.events import FilesMade, PlanMade, QuestionsAsked, Record, TurnFailed, TurnFinished, TurnStopped
from selfeng.core.leaving import call_and_leave
from selfeng.core.lesson import Lesson
from selfeng.core.logs import log_to_stderr
from selfeng.core.provenance import Edited, Provenance
from selfeng.core.question import Question
from selfeng.core.status import Asked
from selfeng.core.visible import one_line, visible
from selfeng.core.words import count
from selfeng.engine import AGENTS, Engine
from selfeng.provision.parts import PARTS, provision
from selfeng.registry import parameters
from selfeng.runtime import StreamAppender
from selfeng.settings import Settings, load_settings, make_folders

OWNER = "terminal"
"""Whose conversations the command line's are."""

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"selfeng {version('selfeng')}")
        raise typer.Exit


@app.callback(help=__doc__)
def options(
    *, version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")] = False
) -> None:
    """Options that stand before the command."""


def main() -> NoReturn:
    """The program `selfeng`; several words instead of a command are a request: `selfeng "What is 15 percent of 300?"`."""
    arguments = sys.argv[1:]
    call_and_leave(lambda: app(["ask", *arguments] if arguments and " " in arguments[0] else arguments, prog_name="selfeng"))


@app.command()
def ask(
    request: Annotated[str, typer.Argument(help="May be left out where answers are given.")] = "",
    *,
    json: Annotated[bool, typer.Option("--json", help="Print the events to stdout, one JSON object a line.")] = False,
    conversation: Annotated[str | None, typer.Option(help="Id of a conversation to go on with.")] = None,
    file: Annotated[list[Path] | None, typer.Option(help="A file for the tool; more than once for several.")] = None,
    output: Annotated[Path, typer.Option(help="Folder for the files that the tool makes.")] = Path(),
    agent: Annotated[str, typer.Option(help=f"Who gets the request at once: {' or '.join(AGENTS)}.")] = "",
    answer: Annotated[list[str] | None, typer.Option(metavar="ID=VALUE", help="An answer to a question of the conversation.")] = None,
) -> None:
    """Run one turn: its steps go to stderr, its answer to stdout. Exit code 1 if it fails, 3 if it ends with questions."""

    async def work(settings: Settings) -> int:
        files = await asyncio.to_thread(read_files, file or [], settings.file_limits)
        given = tuple(map(dialogue.parsed_answer, answer or []))
        asked = dialogue.Request(request, conversation, tuple(files), given, agent)
        return await _turn(settings, lambda engine: asked.begin(engine, OWNER), json=json, output=output)

    _run(work)


@app.command()
def keep(
    turn: Annotated[str, typer.Argument(help="Id of a turn that was taken in steps.")],
    json: Annotated[bool, typer.Option("--json", help="Print the events to stdout, one JSON object a line.")] = False,
    output: Annotated[Path, typer.Option(help="Folder for the files that the tool makes.")] = Path(),
) -> None:
    """Make one tool of a turn's plan, and run it for the same request. Exit code 1 if that fails."""
    _run(lambda settings: _turn(settings, lambda engine: engine.keep(OWNER, turn), json=json, output=output))


async def _turn(settings: Settings, begin: Callable[[Engine], Awaitable[Asked]], *, json: bool, output: Path) -> int:
    """Begin a turn and show it until its end; where it ends with questions and somebody is there, ask them and go on."""
    provision(settings, _say, ("embedder", "sandbox"))
    records: StreamAppender[Record] = StreamAppender()
    with records:  # to the last, since the engine may hand out some until it has ended
        async with aclosing(await build_engine(settings)) as engine:
            await engine.get_ready(to_build=False)
            engine.subscribe(lambda batch: _append_all(records, batch))
            asked = await begin(engine)
            shown = await _shown(aiter(records), asked, json=json, output=output)
            while shown.questions and dialogue.is_interactive() and not json:
                answers = await dialogue.asked(shown.questions)
                asked = await dialogue.Request(conversation=asked.conversation_id, answers=answers).begin(engine, OWNER)
                shown = await _shown(aiter(records), asked, json=json, output=output)
    if shown.questions:
        _say(f"To answer: {dialogue.answering(asked.conversation_id, shown.questions)}")
    return 3 if shown.questions else 0 if shown.finished else 1


class _Shown(NamedTuple):
    finished: bool
    questions: tuple[Question, ...] = ()


async def _shown(records: AsyncIterator[Record], asked: Asked, *, json: bool, output: Path) -> _Shown:
    """Show the events of a turn to its end, and write the files that it makes."""
    terminal, planned = Terminal(), False
    questions: tuple[Question, ...] = ()
    async for record in records:
        if record.turn_id != asked.turn_id:
            continue
        if json:
            typer.echo(dumps(record.model_dump(mode="json")))  # in ASCII, so that no terminal acts on it
        else:
            terminal.show(record.event)
        match record.event:
            case FilesMade(contents=contents):
                for path in write_files(contents, output):
                    _say(f"written: {path}")
            case PlanMade():
                planned = True
            case QuestionsAsked():
                questions = record.event.questions
            case TurnFinished():
                if planned:
                    _say(f"To keep these steps as one tool: selfeng keep {asked.turn_id}")
                return _Shown(True, questions)
            case TurnFailed() | TurnStopped():
                return _Shown(False)
    return _Shown(False)


@app.command()
def tools(name: Annotated[str | None, typer.Argument(help="Show this tool's code and tests.")] = None) -> None:
    """List the library, or show one tool."""
    _run(lambda settings: _tools(settings, name))


async def _tools(settings: Settings, name: str | None) -> int:
    async with aclosing(await build_engine(settings)) as engine:
        if name:
            tool = await engine.library.get(name)
            about = f"# {tool.signature}\n# {tool.description}\n# version {tool.version}, {tool.standing}"
            written = [f"# asked for as: {one_line(request)}" for request in await engine.examples(OWNER, tool)]
            served = [f"# has served: {one_line(request)}" for request in await engine.used_requests(OWNER, name)]
            head = "\n".join([about, *written, *served])
            typer.echo(visible(f"{head}\n\n{tool.code}\n# tests\n\n{tool.tests}"), nl=False)
        else:
            for tool in await engine.library.tools():
                typer.echo(f"{tool.name:32} {tool.standing:11} {one_line(tool.description)}")
    return 0


@app.command()
def versions(name: str) -> None:
    """List every version of a tool, the newest first: when and why it was made, by which model, its tests, and what it cost."""
    _run(lambda settings: _versions(settings, name))


async def _versions(settings: Settings, name: str) -> int:
    async with aclosing(await build_engine(settings)) as engine:
        for version in await engine.library.versions(name):
            typer.echo(visible(version_line(version)))
    return 0


@app.command()
def diff(name: str, before: int, after: int) -> None:
    """Print what two versions of a tool differ in, code and tests, as a unified diff."""
    _run(lambda settings: _diff(settings, name, before, after))


async def _diff(settings: Settings, name: str, before: int, after: int) -> int:
    async with aclosing(await build_engine(settings)) as engine:
        typer.echo(visible(await engine.difference(name, before, after)), nl=False)
    return 0


@app.command()
def rollback(name: str, to: int) -> None:
    """Make a new version of a tool with what an old one held."""
    _run(lambda settings: _rollback(settings, name, to))


async def _rollback(settings: Settings, name: str, to: int) -> int:
    async with aclosing(await build_engine(settings)) as engine:
        stop = _tell_of_library(engine, name)
        tool = await engine.library.rollback(name, to)
        await engine.upkeep.settle()
        stop()
    _say(f"{name} is at version {tool.version} now, which holds what version {to} held.")
    return 0


@app.command()
def retire(name: str) -> None:
    """Have no search offer a tool any more."""
    _run(lambda settings: _retire(settings, name))


async def _retire(settings: Settings, name: str) -> int:
    async with aclosing(await build_engine(settings)) as engine:
        await engine.library.retire(name)
    _say(f"{name} is retired; `selfeng restore {name}` has it offered again.")
    return 0


@app.command()
def restore(name: str) -> None:
    """Have a retired tool offered again."""
    _run(lambda settings: _restore(settings, name))


async def _restore(settings: Settings, name: str) -> int:
    async with aclosing(await build_engine(settings)) as engine:
        tool = await engine.library.restore(name)
    _say(f"{name} is {tool.standing}.")
    return 0


@app.command()
def forget(name: str, request: str) -> None:
    """Have a tool found no more by a request of the command line that it has served."""
    _run(lambda settings: _forget(settings, name, request))


async def _forget(settings: Settings, name: str, request: str) -> int:
    provision(settings, _say, ("embedder",))
    async with aclosing(await build_engine(settings)) as engine:
        left = await engine.forget_request(OWNER, name, request)
    _say(f"{name} is found by {count(len(left), 'request')} of the command line that it has served.")
    return 0


@app.command()
def lessons() -> None:
    """List what was learnt from earlier turns."""
    _run(_lessons)


async def _lessons(settings: Settings) -> int:
    async with aclosing(await build_engine(settings)) as engine:
        for lesson in await engine.learning.lessons():
            typer.echo(_told(lesson))
    return 0


@app.command()
def learn() -> None:
    """Learn from all turns that were not looked at yet. Exit code 1 if the model can't be reached."""
    _run(_learn)


async def _learn(settings: Settings) -> int:
    provision(settings, _say, ("embedder",))
    async with aclosing(await build_engine(settings)) as engine:
        examined = await engine.learning.learn(lambda lesson: typer.echo(_told(lesson)))
    _say(f"{count(examined, 'turn')} looked at")
    return 0


def _told(lesson: Lesson) -> str:
    """A lesson in one line."""
    standing = "expired" if lesson.expired else f"{lesson.weight:.2f}"
    return one_line(f"{standing:7}  {lesson.agent:14} {lesson.trigger}: {lesson.advice}")


@app.command()
def verify(name: str) -> None:
    """Take a tool whose files were edited by hand through the gate again, and keep it if it passes."""
    _run(lambda settings: _verify(settings, name))


async def _verify(settings: Settings, name: str) -> int:
    async with aclosing(await build_engine(settings)) as engine:
        draft = await engine.library.edited(name)
        verdict = await engine.synthesis.examine(draft)
        stop = _tell_of_library(engine, name)
        await engine.library.accept(draft, Provenance(origin=Edited(), verdict=verdict))
        await engine.upkeep.settle()
        stop()
    _say(f"{name} passes its tests and is in use as it stands now.")
    return 0


@app.command()
def seed() -> None:
    """Add the seed tools that are missing. Exit code 1 if one was refused."""
    _run(_seed)


async def _seed(settings: Settings) -> int:
    provision(settings, _say, ("embedder", "sandbox"))
    async with aclosing(await build_engine(settings)) as engine:
        planted = await engine.seed(_say)
    _say(f"{len(planted.added)} added, {len(planted.present)} were there already, {len(planted.refused)} refused")
    return 1 if planted.refused else 0


@app.command()
def calibrate(
    data: Annotated[Path | None, typer.Option(help="A folder with retrieval sets to learn from as well.")] = None,
    reset: Annotated[bool, typer.Option("--reset", help="Go back to what ships.")] = False,
) -> None:
    """Fit the search's ranking and confidence to this library, by the requests that its tools are found by."""
    _run(lambda settings: _reset_ranking(settings) if reset else _calibrate(settings, data))


async def _calibrate(settings: Settings, data: Path | None) -> int:
    provision(settings, _say, ("embedder",))
    async with aclosing(await build_engine(settings)) as engine:
        with progress_bars() as progress:
            found = await engine.library.calibrate(settings.data_dir / parameters.FOLDER, data, progress)
    for line in calibration_lines(found):
        _say(line)
    return 0


async def _reset_ranking(settings: Settings) -> int:
    fitted = await asyncio.to_thread(parameters.forget, settings.data_dir / parameters.FOLDER)
    _say("What ships is used from the next start on." if fitted else "Nothing was fitted to this library; what ships is in use.")
    return 0


@app.command()
def reindex() -> None:
    """Make the search index of the library anew. It is a copy, made again by itself when it is damaged. Exit code 1 if it can't be made."""
    _run(_reindex)


async def _reindex(settings: Settings) -> int:
    async with aclosing(await build_engine(settings)) as engine:
        console = Console(stderr=True)
        columns = (*Progress.get_default_columns(), MofNCompleteColumn())
        with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
            bar = progress.add_task("Indexing", total=None)
            how = await engine.reindex(lambda done, total: progress.update(bar, completed=done, total=total))
        library = (await engine.status()).library
    _say(f"{count(library.tools, 'tool')}, {how}")
    return 0


@app.command()
def setup(parts: Annotated[list[str] | None, typer.Argument(help=f"Any of {', '.join(PARTS)}; all by default.")] = None) -> None:
    """Set up what the machine lacks. Exit code 1 if something could not be."""
    _run(lambda settings: _setup(settings, tuple(parts or PARTS)))


async def _setup(settings: Settings, parts: tuple[str, ...]) -> int:
    return 1 if await asyncio.to_thread(provision, settings, _say, parts) else 0


@app.command()
def check(part: str) -> None:
    """Show one part working: llm_client, capability_registry, sandbox, synthesis_engine or orchestrator."""
    _run(lambda settings: run_check(settings, part, typer.echo))


def self_test(part: str) -> None:
    """The program of `python src/<part>.py`: what `check` does, and the end of the process."""
    call_and_leave(lambda: app(["check", part], prog_name="selfeng"))


def _run(work: Callable[[Settings], Coroutine[Any, Any, int]]) -> None:
    """Run a command on an event loop of its own and exit with its code, or with an error in one line and code 1."""
    log_to_stderr()
    try:
        settings = load_settings()
        log_to_stderr(settings.log_level)
        make_folders(settings)
        code = asyncio.run(work(settings))
    except AgentError as error:
        _say(f"error: {error.message}" + (f"\n{error.remedy}" if error.remedy else ""))
        code = 1
    except KeyboardInterrupt:
        code = 130
    raise typer.Exit(code)


app.add_typer(build_app, name="build")


def _tell_of_library(engine: Engine, but: str) -> Callable[[], None]:
    """Say what becomes of the other tools; returns what ends that."""
    return engine.changes.subscribe(lambda change: None if change.name == but else _say(change.reason))


def _append_all(records: StreamAppender[Record], batch: Sequence[Record]) -> None:
    for record in batch:
        records.append(record)


def _say(line: str) -> None:
    typer.echo(visible(line), file=sys.stderr)
