"""The commands for the library: its tools, their versions, and the search."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
import typer

from selfeng.cli.command import (
    AsJson,
    example,
    on_engine,
    on_settings,
    opened,
    print_json,
    print_listed,
    say,
)
from selfeng.cli.shell_completion import tool_names
from selfeng.core.errors import RequestError
from selfeng.core.owner import LOCAL
from selfeng.core.visible import one_line, visible
from selfeng.core.words import count

if TYPE_CHECKING:
    from selfeng.core.events import Event
    from selfeng.core.files import File
    from selfeng.core.provenance import Proposal
    from selfeng.core.result import TaughtRow
    from selfeng.core.settings import Settings
    from selfeng.core.status import Asked
    from selfeng.core.tool import Tool
    from selfeng.core.verdict import Execution
    from selfeng.engine import Engine

app = typer.Typer()

Name = Annotated[str, typer.Argument(help="The tool.", autocompletion=tool_names)]
Arguments = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[NAME=VALUE|JSON|-]…",
        help="Arguments: a VALUE may be JSON; JSON is an object with several of them; - reads it "
        "from standard input.",
    ),
]
CallFiles = Annotated[list[Path] | None, typer.Option(help="A file; repeat for more.")]
OutputFolder = Annotated[Path, typer.Option(help="Folder for the files that the call makes.")]

_FOUND = 10
_SHOWN = 40
"""Characters of an argument that an error shows."""
_ROW = """arguments and the right value, such as '{"n": 4} -> 16'"""
_JSON = """an object of arguments such as '{"number": 300}'"""


@app.command(
    epilog=example(
        "selfeng tools", "selfeng tools slugify_text", 'selfeng tools --search "prime numbers"'
    )
)
@on_settings
async def tools(
    settings: Settings,
    name: Annotated[
        str | None,
        typer.Argument(help="Show this tool's code and tests.", autocompletion=tool_names),
    ] = None,
    *,
    search: Annotated[
        str, typer.Option(help="List those that fit a request best, the best first.")
    ] = "",
    json: AsJson = False,
) -> int:
    """List the library, or show one tool."""

    async with opened(settings, *(["embedder"] if search else [])) as engine:
        if name and search:
            raise RequestError(f"--search does not go with the name {name!r}", "give one of them")
        if name and not json:
            typer.echo(visible(await _tool_text(engine, name)), nl=False)
            return 0
        if search:
            candidates = await engine.library.search(search, _FOUND)
            rows_by_name = {
                candidate.tool.name: (candidate.tool, {"confidence": candidate.confidence})
                for candidate in candidates
            }
        else:
            library_tools = (
                [await engine.library.get(name)] if name else await engine.library.tools()
            )
            rows_by_name = {tool.name: (tool, {}) for tool in library_tools}
        if json:
            listed = [
                _described(tool, with_sources=bool(name)) | more
                for tool, more in rows_by_name.values()
            ]
            print_json(listed[0] if name else listed)
            return 0
        for tool, _ in rows_by_name.values():
            typer.echo(f"{tool.name:32} {tool.standing:11} {one_line(tool.description)}")
    return 0


def _described(tool: Tool, *, with_sources: bool) -> dict[str, Any]:
    """The tool as JSON, with everything that a call needs; `with_sources` adds code, tests and
    example requests.
    """
    fields = {"name", "description", "version", "standing", "uses", "created_at"}
    record = tool.model_dump(
        mode="json",
        include=fields | ({"code", "tests", "example_requests"} if with_sources else set()),
    )
    schema = tool.signature.input_schema()
    return {**record, "signature": str(tool.signature), "input_schema": schema}


async def _tool_text(engine: Engine, name: str) -> str:
    tool = await engine.library.get(name)
    about = f"# {tool.signature}\n# {tool.description}\n# version {tool.version}, {tool.standing}"
    about += ", frozen" if tool.frozen else ""
    example_lines = [
        f"# asked for as: {one_line(request)}"
        for request in await engine.conversations.examples(LOCAL, tool)
    ]
    served = [
        f"# has served: {one_line(request)}"
        for request in (await engine.review.used_requests(LOCAL, [name]))[name]
    ]
    habits = await engine.conversations.habits(LOCAL, name)
    often = [
        f"# often asked after it: {one_line(habit.request)} ({habit.tool}, {habit.times} times)"
        for habit in habits.after
    ]
    if habits.together:
        often.append(f"# often used with {', '.join(habits.together)}")
    origin = [f"# {one_line(str(tool.imported))}"] if tool.imported else []
    witnesses = count(len(tool.witnesses), "other implementation") if tool.witnesses else "none"
    origin.append(f"# implementations that check its results: {witnesses}")
    head = "\n".join([about, *origin, *example_lines, *served, *often])
    return f"{head}\n\n{tool.code}\n# tests\n\n{tool.tests}"


@app.command(
    epilog=example(
        "selfeng call calculate_percentage percentage=15 number=300",
        "selfeng call sort_list 'items=[3, 1, 2]'",
        """selfeng call calculate_percentage '{"percentage": 15, "number": 300}'""",
        "selfeng call summarize_numbers - < arguments.json",
    )
)
@on_engine("sandbox")
async def call(
    engine: Engine,
    name: Name,
    arguments: Arguments = None,
    *,
    file: CallFiles = None,
    output: OutputFolder = Path(),
) -> int:
    """Call a tool by name, without the model, and print its value, as JSON where it is plain data.
    Exit code 1 if the tool fails.
    """
    files = await read_paths(engine, file)
    values = parsed_arguments(await engine.library.get(name), arguments or [])
    execution = await engine.call(LOCAL, name, values, files, watch=_say_doubt)
    return _say_outcome(execution, output)


@app.command(
    epilog=example(
        "selfeng run report.py month=2026-05 --file sales.csv",
        "selfeng run - < report.py",
    )
)
@on_engine("sandbox")
async def run(
    engine: Engine,
    source: Annotated[
        Path, typer.Argument(help="Python source that defines `program`; - for standard input.")
    ],
    arguments: Arguments = None,
    *,
    file: CallFiles = None,
    output: OutputFolder = Path(),
) -> int:
    """Run a program that imports tools of the library, without the model, in one call of the
    sandbox, and print its value, as JSON where it is plain data. Exit code 1 if it fails.
    """
    from selfeng.core.verdict import Raised

    program = await engine.program(_source(source))
    events: list[Event] = []
    files = await read_paths(engine, file)
    values = parsed_arguments(program, arguments or [])
    execution = await engine.call(LOCAL, program, values, files, watch=events.append)
    for note in program.notes(events):
        say(note)
    if isinstance(execution, Raised) and execution.traceback:
        say(execution.traceback)
    return _say_outcome(execution, output)


def _source(path: Path) -> str:
    """Raises: RequestError: it can't be read."""
    from selfeng.cli.standard_input import read_bytes

    try:
        content = read_bytes() if path == Path("-") else path.read_bytes()
        return content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} can't be read: {error}", "name a Python file") from error


async def read_paths(engine: Engine, paths: list[Path] | None) -> tuple[File, ...]:
    """The files of a command's options. Raises: RequestError."""
    from selfeng.doors.local_files import read_files

    limits, large_files = engine.file_limits, engine.configuration.settings.large_files
    return await asyncio.to_thread(read_files, paths or [], limits, large_files)


def _say_outcome(execution: Execution, output: Path) -> int:
    """Print what a call came to, and write its files; returns the exit code."""
    from selfeng.core.verdict import Killed, Returned
    from selfeng.doors.local_files import write_files
    from selfeng.stages.response_synthesizer import plain

    if not isinstance(execution, Killed):
        for path in write_files(execution.files, output):
            say(f"written: {path}")
    if isinstance(execution, Returned):
        typer.echo(visible(execution.data or execution.text))
        return 0
    say(plain(execution))
    return 1


def _say_doubt(event: Event) -> None:
    if event.type == "witnessed" and event.other:
        say(f"another implementation returns {event.other}")


def parsed_arguments(tool: Tool, texts: Sequence[str]) -> dict[str, Any]:
    """Each `NAME=VALUE`, and what is in each JSON object. Raises: RequestError."""
    from selfeng.stages.execution.arguments import from_texts

    values: dict[str, Any] = {}
    for text in texts:
        if text == "-" or text.lstrip().startswith(("{", "[")):
            more = _object(text)
        else:
            name, equals, value = text.partition("=")
            if not equals:
                raise RequestError(
                    f"the argument {text[:_SHOWN]!r} has no =", f"write NAME=VALUE, or {_JSON}"
                )
            more = from_texts(tool.signature, {name.strip(): value})
        if twice := sorted(values.keys() & more.keys()):
            raise RequestError(f"the argument {twice[0][:_SHOWN]!r} stands twice", "leave one out")
        values |= more
    return values


def _object(text: str) -> dict[str, Any]:
    """The JSON object in an argument, or on standard input for `-`. Raises: RequestError."""
    from selfeng.cli.standard_input import read_bytes
    from selfeng.sandboxes.reported import plain_json

    where = "standard input" if text == "-" else f"the argument {text[:_SHOWN]!r}"
    try:
        value = plain_json(read_bytes() if text == "-" else text)
    except ValueError as error:
        raise RequestError(f"{where} is not valid JSON: {error}", f"write {_JSON}") from error
    if not isinstance(value, dict):
        raise RequestError(f"{where} is not a JSON object", f"write {_JSON}")
    return value


@app.command(epilog=example("selfeng versions slugify_text"))
@on_engine()
async def versions(engine: Engine, name: Name, *, json: AsJson = False) -> None:
    """List every version of a tool, newest first: when and why it was made, by which model, its
    tests, and what it cost.
    """
    from selfeng.cli.terminal import version_line

    tool_versions = await engine.library.versions(name)
    print_listed(
        tool_versions,
        lambda version: visible(version_line(version)),
        as_json=json,
        hidden={"exchanges"},
    )


@app.command(epilog=example("selfeng diff slugify_text 1 2"))
@on_engine()
async def diff(
    engine: Engine,
    name: Name,
    before: Annotated[int, typer.Argument(help="Number of the earlier version.")],
    after: Annotated[int, typer.Argument(help="Number of the later one.")],
) -> None:
    """Print how two versions of a tool differ, code and tests, as a unified diff."""
    typer.echo(visible(await engine.review.difference(name, before, after)), nl=False)


@app.command(epilog=example("selfeng rollback slugify_text 1"))
@on_engine()
async def rollback(
    engine: Engine,
    name: Name,
    to: Annotated[int, typer.Argument(help="Number of the old version.")],
) -> None:
    """Make a new version of a tool from an old one."""
    with _effects_said(engine, name):
        tool = await engine.library.rollback(name, to)
        await engine.upkeep.wait_idle()
    say(f"{name} is now at version {tool.version}, which equals version {to}.")


@app.command(epilog=example("selfeng retire slugify_text"))
@on_engine()
async def retire(engine: Engine, name: Name) -> None:
    """Stop offering a tool to searches."""
    await engine.library.retire(name)
    say(f"{name} is retired; `selfeng restore {name}` offers it again.")


@app.command(epilog=example("selfeng freeze slugify_text"))
@on_engine()
async def freeze(engine: Engine, name: Name) -> None:
    """Let no automatic repair change a tool."""
    tool = await engine.library.freeze(name)
    say(f"Version {tool.version} of {name} is frozen; `selfeng unfreeze {name}` ends that.")


@app.command(epilog=example("selfeng unfreeze slugify_text"))
@on_engine()
async def unfreeze(engine: Engine, name: Name) -> None:
    """Allow automatic repairs of a tool again."""
    await engine.library.freeze(name, False)
    say(f"{name} may be repaired.")


@app.command(epilog=example("selfeng proposals", "selfeng proposals slugify_text"))
@on_settings
async def proposals(
    settings: Settings,
    name: Annotated[str | None, typer.Argument(help="Show this one, and how it differs.")] = None,
    *,
    json: AsJson = False,
) -> int:
    """List the new tools and versions that wait for you, with LIBRARY_CHANGES=ask; or show one with
    the inputs for which it returns something else.
    """

    async with opened(settings, *(["sandbox"] if name else [])) as engine:
        listed = (
            [await engine.review.proposal(LOCAL, name)]
            if name
            else await engine.review.proposals(LOCAL)
        )
        hidden = {"provenance", "witnesses"}
        print_listed(listed, _proposal_lines, as_json=json, hidden=hidden)
        if name and not json:
            behaviour = await engine.review.behaviour(LOCAL, name)
            say(
                f"Of {behaviour.compared} recorded and generated inputs "
                f"{behaviour.changed} now give something else."
            )
            for call in behaviour.calls:
                then = f"{call.before}, now " if call.before else ""
                typer.echo(visible(f"{call.call} {then}{call.after}"))
            typer.echo(visible(f"\n{listed[0].code}\n# tests\n\n{listed[0].tests}"), nl=False)
    return 0


def _proposal_lines(proposal: Proposal) -> str:
    objections = (f"  {one_line(objection)}" for objection in proposal.objections)
    return "\n".join([f"{proposal.name:32} {one_line(proposal.words)}", *objections])


@app.command(epilog=example("selfeng accept slugify_text"))
@on_engine("embedder")
async def accept(
    engine: Engine,
    name: Name,
    *,
    anyway: Annotated[
        bool, typer.Option("--anyway", help="Also an update that fails your own tests or calls.")
    ] = False,
) -> None:
    """Put a proposal into the library, also one that you refused."""
    with _effects_said(engine, name):
        tool = await engine.review.accept(LOCAL, name, anyway=anyway)
        await engine.upkeep.wait_idle()
    undo = f"rollback {name} {tool.version - 1}" if tool.version > 1 else f"retire {name}"
    say(f"{name} is in the library, as version {tool.version}; `selfeng {undo}` takes it back.")


@app.command(epilog=example("selfeng refuse slugify_text"))
@on_engine()
async def refuse(engine: Engine, name: Name) -> None:
    """Let a proposal wait no longer."""
    await engine.review.refuse(LOCAL, name)
    say(f"{name} is refused; `selfeng accept {name}` still accepts it.")


@app.command(epilog=example("selfeng edit slugify_text", "selfeng edit slugify_text --proposed"))
@on_engine("sandbox", "embedder")
async def edit(
    engine: Engine,
    name: Name,
    *,
    proposed: Annotated[bool, typer.Option(help="The proposal of that name.")] = False,
) -> None:
    """Edit a tool's code in $EDITOR; what passes the gate is its next version."""
    from selfeng.core.result import ToolEdit

    tool = await (engine.review.proposal(LOCAL, name) if proposed else engine.library.get(name))
    code = await asyncio.to_thread(click.edit, tool.code, extension=".py")
    if code is None or code == tool.code:
        say("Nothing is changed.")
        return
    _say_saved(await engine.review.save(LOCAL, name, ToolEdit(code=code), proposed=proposed))


@app.command(
    epilog=example(
        """selfeng teach slugify_text '{"text": "A b"} -> "a-b"'""",
        """selfeng teach add '{"a": 1, "b": 2} -> 3' '{"a": 2, "b": 2} -> 4'""",
    )
)
@on_settings
async def teach(
    settings: Settings,
    name: Name,
    rows: Annotated[
        list[str], typer.Argument(metavar="ROWS…", help="ARGUMENTS -> VALUE, each as JSON.")
    ],
) -> int:
    """Teach a tool what it must return. Each row is a test; if one fails, a turn makes the version
    that passes.
    """
    from selfeng.cli.dialogue import show_turn
    from selfeng.core.tool import Tool

    async def begin(engine: Engine) -> Asked:
        taught = await engine.teach(LOCAL, name, [_row(text) for text in rows])
        if isinstance(taught, Tool):
            _say_saved(taught)
            raise typer.Exit
        return taught

    return await show_turn(settings, begin, json=False, output=Path())


def _row(text: str) -> TaughtRow:
    """Raises: RequestError."""
    import json

    from selfeng.core.result import TaughtRow

    arguments, _, value = text.rpartition("->")
    try:
        return TaughtRow(arguments=json.loads(arguments), value=json.loads(value))
    except ValueError as error:
        raise RequestError(f"the row {text[:_SHOWN]!r} can't be read", f"write {_ROW}") from error


def _say_saved(tool: Tool) -> None:
    from selfeng.core.provenance import Proposal

    if isinstance(tool, Proposal):
        say(f"{tool.words} Look at it with `selfeng proposals {tool.name}`.")
    else:
        say(f"{tool.name} is now at version {tool.version}.")


@app.command(epilog=example("selfeng forget slugify_text 'Make a slug of my title'"))
@on_engine("embedder")
async def forget(
    engine: Engine,
    name: Name,
    request: Annotated[str, typer.Argument(help="As `selfeng tools NAME` lists it.")],
) -> None:
    """Remove a learned request from a tool."""
    remaining_requests = await engine.review.forget_request(LOCAL, name, request)
    say(f"{name} keeps {count(len(remaining_requests), 'learned request')} of the command line.")


@app.command(epilog=example("selfeng verify slugify_text"))
@on_engine()
async def verify(engine: Engine, name: Name) -> None:
    """Re-verify a hand-edited tool and accept it if its tests pass."""
    from selfeng.core.provenance import Edited, Provenance

    draft = await engine.library.edited(name)
    verdict = await engine.model_parts.current.synthesis.examine(draft)
    with _effects_said(engine, name):
        await engine.library.accept(draft, Provenance(origin=Edited(), verdict=verdict))
        await engine.upkeep.wait_idle()
    say(f"{name} passes its tests and is accepted.")


@app.command(epilog=example("selfeng seed"))
@on_engine("embedder", "sandbox")
async def seed(engine: Engine) -> int:
    """Add the seed tools that are missing, each after three tries at most. Exit code 1 if one was
    refused.
    """
    planted = await engine.setup.seed(say)
    say(
        f"{len(planted.added)} added, {len(planted.present)} already there, "
        f"{len(planted.refused)} refused"
    )
    return 1 if planted.refused else 0


@app.command(epilog=example("selfeng reindex"))
@on_engine()
async def reindex(engine: Engine) -> None:
    """Rebuild the search index. A damaged index is rebuilt by itself. Exit code 1 if that fails."""
    from selfeng.cli.terminal import progress_bars

    with progress_bars() as progress:
        how = await engine.setup.reindex(
            lambda current, total: progress("Indexing", current, total)
        )
    library = (await engine.setup.status()).library
    say(f"{count(library.tools, 'tool')}, {how}")


@contextmanager
def _effects_said(engine: Engine, name: str) -> Iterator[None]:
    """Report how a change of a tool affects the others."""
    stop = engine.changes.subscribe(
        lambda change: None if change.name == name else say(change.reason)
    )
    try:
        yield
    finally:
        stop()
