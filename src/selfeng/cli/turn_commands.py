"""The commands that run turns, and those for the conversations that turns belong to and the values
that their tools returned.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from selfeng.cli.command import (
    AsJson,
    example,
    on_engine,
    on_settings,
    print_json,
    print_listed,
    say,
)
from selfeng.cli.shell_completion import conversation_ids, tool_names
from selfeng.core.errors import RequestError
from selfeng.core.owner import LOCAL
from selfeng.core.visible import one_line, visible
from selfeng.core.words import count

if TYPE_CHECKING:
    from selfeng.core.question import Answer
    from selfeng.core.result import ResultFormat
    from selfeng.core.settings import Settings
    from selfeng.engine import Engine
    from selfeng.store.spending import Costs, ToolAccount

app = typer.Typer()

Events = Annotated[
    bool, typer.Option("--json", help="Print the events to stdout, one JSON object a line.")
]
Output = Annotated[Path, typer.Option(help="Folder for the files that the tool makes.")]
_ENDINGS: dict[str, ResultFormat] = {".csv": "csv", ".json": "json", ".txt": "text", "": "text"}


@app.command(
    epilog=example(
        'selfeng "What is 15 percent of 300?"',
        'selfeng ask "Plot price against day" --file sales.csv',
        'cat sales.csv | selfeng "Sum the second column"',
    )
)
@on_settings
async def ask(
    settings: Settings,
    request: Annotated[
        str,
        typer.Argument(
            help="What you need; - reads it from standard input. Optional with --answer."
        ),
    ] = "",
    *,
    json: Events = False,
    conversation: Annotated[
        str | None,
        typer.Option(
            help="Id of an earlier conversation to continue.", autocompletion=conversation_ids
        ),
    ] = None,
    file: Annotated[
        list[Path] | None, typer.Option(help="A file for the tool; repeat for more.")
    ] = None,
    output: Output = Path(),
    agent: Annotated[
        str, typer.Option(help="The agent that gets the request: proxy or coder.")
    ] = "",
    answer: Annotated[
        list[str] | None,
        typer.Option(metavar="ID=VALUE", help="An answer to a question; repeat for more."),
    ] = None,
    model: Annotated[str, typer.Option(help="The conversation's model from now on.")] = "",
    temporary: Annotated[
        bool, typer.Option("--temporary", help="List it nowhere, learn nothing, keep it a day.")
    ] = False,
) -> int:
    """Run one turn: steps go to stderr, the answer to stdout. Piped input is the request, or a file
    of it if there is one. Exit code 1 if it fails, 3 if it ends with questions, 4 if the request is
    declined, 5 if it is stopped.
    """
    from selfeng.cli.dialogue import show_turn
    from selfeng.cli.standard_input import is_piped, read_request, with_input
    from selfeng.doors.local_files import read_files

    limits, large_files = settings.file_limits, settings.large_files
    files = await asyncio.to_thread(read_files, file or [], limits, large_files)
    answers, text = tuple(map(parsed_answer, answer or [])), request
    if request == "-" or (not request and not answers and is_piped()):
        text = read_request()
    elif request and is_piped():
        text, piped = with_input(request, limits, large_files)
        files += piped
    return await show_turn(
        settings,
        lambda engine: engine.ask(
            LOCAL,
            conversation,
            text,
            files,
            answers=answers,
            agent=agent,
            model=model.strip(),
            temporary=temporary,
        ),
        json=json,
        output=output,
    )


@app.command(epilog=example("selfeng keep 5f0c7d1e"))
@on_settings
async def keep(
    settings: Settings,
    turn: Annotated[str, typer.Argument(help="Id of a turn that ran a plan.")],
    *,
    json: Events = False,
    output: Output = Path(),
) -> int:
    """Turn the plan of a turn into one tool, and run it for the same request. Exit code 1 if that
    fails.
    """
    from selfeng.cli.dialogue import show_turn

    return await show_turn(
        settings, lambda engine: engine.keep(LOCAL, turn), json=json, output=output
    )


@app.command(epilog=example('selfeng wrong "José did attend"', "selfeng wrong --value 7725"))
@on_settings
async def wrong(
    settings: Settings,
    complaint: Annotated[str, typer.Argument(help="What is wrong, in words.")] = "",
    *,
    value: Annotated[str, typer.Option(help="The right value, as JSON or a text.")] = "",
    turn: Annotated[str, typer.Option(help="Id of the turn; by default the newest.")] = "",
    json: Events = False,
    output: Output = Path(),
) -> int:
    """Say that an answer is wrong: its tool gets a version that is right, and a test for it.
    At a terminal it asks for what you leave out. Exit codes as those of ask.
    """
    from selfeng.cli.dialogue import asked_what_is_wrong, show_turn

    reasons = complaint, value
    if not any(reasons) and not json:
        reasons = await asked_what_is_wrong()
    return await show_turn(
        settings, lambda engine: engine.dispute(LOCAL, turn, *reasons), json=json, output=output
    )


@app.command(epilog=example("selfeng refactor prime_factors"))
@on_settings
async def refactor(
    settings: Settings,
    name: Annotated[str, typer.Argument(help="The tool.", autocompletion=tool_names)],
    *,
    json: Events = False,
) -> int:
    """Make a tool faster: a version that passes its tests and agrees with it, measured in the
    sandbox. Exit code 1 if none is.
    """
    from selfeng.cli.dialogue import show_turn

    return await show_turn(
        settings, lambda engine: engine.refactor(LOCAL, name), json=json, output=Path()
    )


@app.command(epilog=example("selfeng conversations", "selfeng conversations prices --json"))
@on_engine()
async def conversations(
    engine: Engine,
    words: Annotated[
        str, typer.Argument(help="Only those with these words in title, requests or answers.")
    ] = "",
    *,
    json: AsJson = False,
) -> None:
    """List the conversations of the command line, that with the newest turn first."""
    matches = await engine.conversations.list(LOCAL, words)
    print_listed(
        matches,
        lambda its: f"{its.id}  {its.active_at:%Y-%m-%d %H:%M}  {one_line(its.title)}",
        as_json=json,
    )


@app.command(epilog=example("selfeng spending", "selfeng spending --tools"))
@on_engine()
async def spending(
    engine: Engine,
    *,
    tools: Annotated[
        bool,
        typer.Option("--tools", help="What each tool took to build and saved, for everybody."),
    ] = False,
    json: AsJson = False,
) -> None:
    """Show what the command line spent on models by month, and what the reuse of tools saved."""
    if tools:
        accounts = await asyncio.to_thread(engine.spending.tools)
        print_listed(accounts, _account_line, as_json=json)
        return
    report = await asyncio.to_thread(engine.spending.report, LOCAL)
    if json:
        print_json(report.model_dump(mode="json"))
        return
    for month in report.months:
        cost, saved = (
            "" if dollars is None else f" (${dollars:.2f})"
            for dollars in (month.cost, month.saved_cost)
        )
        typer.echo(
            f"{month.month}  {count(month.turns, 'turn')}, {month.tokens:,} tokens{cost}; "
            f"{count(month.reuses, 'reuse')} saved {month.saved_tokens:,} tokens{saved}"
        )
    if report.limit is not None:
        typer.echo(f"This month, by everybody: ${report.spent:.2f} of ${report.limit:.2f}")


def _account_line(account: ToolAccount) -> str:
    """`slugify_text  built for 3,741 tokens; 4 reuses saved 11,872 tokens ($0.02, 41 s)`."""
    built = f"built for {_costs_text(account.built)}" if account.built else "built by no turn"
    saved = f"{count(account.reuses, 'reuse')} saved {_costs_text(account.saved)}"
    pays = "; does not pay" if account.pays is False else ""
    return f"{account.tool:32} {built}; {saved}{pays}"


def _costs_text(costs: Costs) -> str:
    dollars = f"${costs.cost:.2f}" if costs.cost else ""
    seconds = "" if costs.seconds is None else f"{costs.seconds:,.0f} s"
    more = ", ".join(filter(None, (dollars, seconds)))
    return f"{costs.tokens:,} tokens" + (f" ({more})" if more else "")


_DELETION = (
    "Stop the turns of the command line, and delete their conversations, projects, secrets and "
    "permissions, and the tools that only they made and used?"
)


@app.command(epilog=example("selfeng data", "selfeng data --delete"))
@on_engine()
async def data(
    engine: Engine,
    *,
    delete: Annotated[
        bool, typer.Option("--delete", help="Delete all of it; tools that others use stay.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete it without asking.")] = False,
    json: AsJson = False,
) -> None:
    """Show what is stored, of the command line's turns and in all, and for how long."""
    if delete:
        if not yes:
            typer.confirm(_DELETION, abort=True)
        await engine.delete_data(LOCAL)
    from selfeng.store.retention import UNTIL

    report = await asyncio.to_thread(engine.personal_data.report, LOCAL)
    if json:
        print_json(report.model_dump(mode="json"))
        return
    for stored in report.kinds:
        amount = "" if stored.count is None else f"{stored.count:,}"
        size = f", {stored.size:,} bytes" if stored.size else ""
        typer.echo(f"{stored.kind:14} {amount:>8}  {UNTIL[stored.until]}{size}")
    days = f"for {count(report.keep_days, 'day')} without a new turn"
    typer.echo(f"Conversations are kept {days if report.keep_days else 'until they are deleted'}.")


def parsed_answer(text: str) -> Answer:
    """`ID=VALUE`. Raises: RequestError."""
    from selfeng.core.question import Answer

    id, equals, value = text.partition("=")
    if not equals:
        raise RequestError(
            f"--answer {text[:40]!r} has no =",
            "write --answer ID=VALUE, such as --answer unit=metre",
        )
    return Answer(id=id.strip(), value=value.strip())


@app.command(epilog=example("selfeng result", "selfeng result --output prices.csv"))
@on_engine()
async def result(
    engine: Engine,
    turn: Annotated[str, typer.Argument(help="Id of a turn; the newest without it.")] = "",
    *,
    format: Annotated[
        str, typer.Option(help="csv, json or text; otherwise as --output ends, or drawn.")
    ] = "",
    json: AsJson = False,
    output: Annotated[Path | None, typer.Option(help="A file for it; none is overwritten.")] = None,
) -> None:
    """Print the whole value that the tool of a turn returned."""
    from selfeng.cli.drawing import draw
    from selfeng.core.files import File, name_problem
    from selfeng.core.result import ResultFormat
    from selfeng.doors.local_files import write_files

    ending = output.suffix.lower() if output else ""
    explicit_format = "json" if json else format
    format_name = explicit_format or (_ENDINGS.get(ending, ending[1:]) if output else "")
    form = next((choice for choice in get_args(ResultFormat) if choice == format_name), None)
    if format_name and not form:
        raise RequestError(f"unknown format {format_name!r}", "use csv, json or text")
    if output and (problem := name_problem(output.name)):
        raise RequestError(f"--output can't be {output.name!r}: {problem}", "name a file")
    value = await engine.conversations.result_of_turn(LOCAL, turn)
    if form is None:
        draw(value)
        return
    text = value.in_format(form)
    if output:
        file = File(name=output.name, content=text.encode())
        say(f"written: {', '.join(map(str, write_files((file,), output.parent)))}")
    else:
        sys.stdout.write(visible(text) if sys.stdout.isatty() else text)
