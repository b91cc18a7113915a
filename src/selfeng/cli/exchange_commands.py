"""The commands for tools that leave and arrive, once or by a subscription."""

from __future__ import annotations

import asyncio
import io
import sys
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from selfeng.cli.command import AsJson, example, on_engine, print_listed, say
from selfeng.cli.shell_completion import tool_names
from selfeng.core.errors import RequestError
from selfeng.core.owner import LOCAL
from selfeng.core.visible import one_line
from selfeng.core.words import count

if TYPE_CHECKING:
    from selfeng.core.files import File
    from selfeng.engine import Engine
    from selfeng.library.exchange.tool_import import ImportFinding, ImportOffer, ToolWords
    from selfeng.store.subscriptions import Subscription

app = typer.Typer()
subscriptions = typer.Typer(no_args_is_help=True)

_REFUSED = ("refused", "asks")
AllowPackages = Annotated[
    bool, typer.Option("--allow-packages", help="Install packages of the tools, to check them.")
]


@app.command(
    epilog=example(
        "selfeng export slugify_text --as script",
        "selfeng export slugify_text --as skill -o ~/.claude/skills",
        "selfeng export -o library.zip",
    )
)
@on_engine()
async def export(
    engine: Engine,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Tools; all by default.", autocompletion=tool_names),
    ] = None,
    *,
    form: Annotated[
        Literal["script", "skill", "bundle"],
        typer.Option(
            "--as",
            help="A Python script, an Agent Skill, or a signed bundle for `selfeng import`.",
        ),
    ] = "bundle",
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write, - for stdout, or a folder; none is overwritten. A skill "
            "becomes a folder in it, unless it ends in .zip.",
        ),
    ] = None,
) -> None:
    """Write tools, with those that they import, for other programs and libraries."""
    file = await engine.tool_export.file(
        names or [], form, partial(engine.conversations.examples, LOCAL)
    )
    if output == Path("-"):
        sys.stdout.buffer.write(file.content)
        return
    write = _write_skill if form == "skill" else _write
    say(f"written: {await asyncio.to_thread(write, file, output or Path())}")


def _write(file: File, output: Path) -> Path:
    path = output / file.name if output.is_dir() else output
    try:
        with path.open("xb") as stream:
            stream.write(file.content)
    except OSError as error:
        raise RequestError(f"{path} can't be written: {error}", "name a new file") from error
    return path


def _write_skill(file: File, output: Path) -> Path:
    """A skill is a folder; it has to have the skill's name."""
    if output.suffix == ".zip":
        return _write(file, output)
    with zipfile.ZipFile(io.BytesIO(file.content)) as packed:
        folders = sorted({name.partition("/")[0] for name in packed.namelist()})
        parent = output.parent if folders == [output.name] else output
        if existing_folders := [
            parent / folder for folder in folders if (parent / folder).exists()
        ]:
            raise RequestError(
                f"{existing_folders[0]} exists already", "remove it, or name another folder"
            )
        try:
            packed.extractall(parent)  # our own file
        except OSError as error:
            raise RequestError(
                f"{parent} can't be written: {error}", "name another folder"
            ) from error
    return parent / folders[0] if len(folders) == 1 else parent


@app.command(
    name="import",
    epilog=example("selfeng import library.zip", "selfeng import library.zip --only count_words"),
)
@on_engine("embedder", "sandbox")
async def import_tools(
    engine: Engine,
    file: Annotated[
        Path,
        typer.Argument(
            help="A bundle that `selfeng export` wrote, or a folder with the files of tools, such "
            "as TOOLS_DIR after the loss of its database."
        ),
    ],
    *,
    only: Annotated[
        list[str] | None, typer.Option(help="Import this tool only; repeat for more.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Accept without asking.")] = False,
    allow_packages: AllowPackages = False,
) -> int:
    """Add the tools of a bundle or folder. Their descriptions are shown and have to be
    accepted; their code has to pass the gate of new tools. Exit code 1 if one was refused, or you
    decline.
    """
    library_names = {tool.name for tool in await engine.library.tools()}
    offer = await engine.tool_import.read(await asyncio.to_thread(_read, file, library_names))
    wanted_names = set(only or [draft.name for draft in offer.drafts])
    _show(offer, file.name, wanted_names)
    installs = allow_packages or _may_install(offer, wanted_names)
    offer = offer.model_copy(update={"installs": installs})
    if not yes:
        findings = [finding async for finding in engine.tool_import.judge(offer)]
        wanted_findings = [finding for finding in findings if finding.name in wanted_names]
        for finding in wanted_findings:
            say(_line(finding))
        passed = {finding.name for finding in wanted_findings if finding.outcome == "passed"}
        if not passed:
            say("There is nothing to add.")
            return int(any(finding.outcome in _REFUSED for finding in wanted_findings))
        if not _accepted(passed):
            say("Nothing was added.")
            return 1
    return await _add(engine, offer, file.name, wanted_names)


async def _add(engine: Engine, offer: ImportOffer, file: str, names: set[str]) -> int:
    outcomes: list[str] = []
    async for finding in engine.tool_import.add(offer, file, names):
        outcomes.append(finding.outcome)
        say(_line(finding))
    added, present, refused, asks = map(outcomes.count, ("added", "present", *_REFUSED))
    refused += asks
    say(f"{added} added, {present} already there, {refused} refused")
    return 1 if refused else 0


@app.command(epilog=example("selfeng publish ~/site/tools", "selfeng publish . count_words"))
@on_engine()
async def publish(
    engine: Engine,
    folder: Annotated[Path, typer.Argument(help="It gets index.json and a bundle of each tool.")],
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Tools; all by default.", autocompletion=tool_names),
    ] = None,
) -> None:
    """Write tools to a folder that others can follow, by its path, from git or a web server."""
    examples = partial(engine.conversations.examples, LOCAL)
    index = await engine.tool_export.publish(folder, names or [], examples)
    say(f"{folder} has {count(len(index.tools), 'tool')}; others follow it with")
    say(f"selfeng subscriptions add {folder}")


@subscriptions.callback(epilog=example("selfeng subscriptions list"))
def _subscriptions() -> None:
    """Subscriptions: indexes of other libraries, whose updates wait until you accept them."""


@subscriptions.command(
    epilog=example(
        "selfeng subscriptions add https://tools.example.org/index.json",
        "selfeng subscriptions add git+https://git.example.org/tools.git --name friends",
    )
)
@on_engine()
async def add(
    engine: Engine,
    place: Annotated[
        str, typer.Argument(help="A folder, https://…/index.json, or git+https://… or git+file://…")
    ],
    *,
    name: Annotated[str, typer.Option(help="By default of the place.")] = "",
) -> None:
    """Follow an index: the server asks its host for updates from time to time, and takes only what
    its present key signs.
    """
    subscription = await engine.updates.follow(LOCAL, place, name, local=True)
    say(f"{subscription.name} is followed; {subscription.fingerprint} has to sign its updates")
    say("`selfeng subscriptions update` looks for them now.")


@subscriptions.command("list", epilog=example("selfeng subscriptions list"))
@on_engine()
async def list_subscriptions(engine: Engine, *, as_json: AsJson = False) -> None:
    """List the subscriptions of the command line, with the problem of the last check."""
    print_listed(await engine.updates.list(LOCAL), _subscription_line, as_json=as_json)


@subscriptions.command(epilog=example("selfeng subscriptions update"))
@on_engine("embedder", "sandbox")
async def update(
    engine: Engine,
    name: Annotated[str, typer.Argument(help="The subscription; all by default.")] = "",
    *,
    allow_packages: AllowPackages = False,
) -> int:
    """Look for new versions. Those that pass the gate wait in `selfeng proposals`; nothing is
    replaced. Exit code 1 if one was refused.
    """
    outcomes: list[str] = []
    async for finding in engine.updates.check(LOCAL, name, installs=allow_packages):
        outcomes.append(finding.outcome)
        say(_line(finding))
    say(f"{count(outcomes.count('waits'), 'update')} for `selfeng proposals`")
    return int(any(outcome in _REFUSED for outcome in outcomes))


@subscriptions.command(epilog=example("selfeng subscriptions remove friends"))
@on_engine()
async def remove(
    engine: Engine, name: Annotated[str, typer.Argument(help="The subscription.")]
) -> None:
    """Follow an index no longer. The tools that it brought stay."""
    await engine.updates.leave(LOCAL, name)


@app.command(
    name="verify-receipt",
    epilog=example(
        "selfeng verify-receipt library.zip", "selfeng verify-receipt library.zip --sign signed.zip"
    ),
)
@on_engine("embedder", "sandbox")
async def verify_receipt(
    engine: Engine,
    file: Annotated[Path, typer.Argument(help="A bundle that `selfeng export` wrote.")],
    *,
    sign: Annotated[
        Path | None,
        typer.Option(help="Write the bundle here with your signature that you reproduced it."),
    ] = None,
    allow_packages: AllowPackages = False,
) -> int:
    """Put the tools of a bundle through the gate, whatever the library has, and compare what it
    finds with their receipts: tests, mutants, image. Nothing is added. Exit code 1 if one is not
    reproduced.
    """
    content = await asyncio.to_thread(_read, file, set())
    offer = await engine.tool_import.read(content, installs=allow_packages)
    say(f"{one_line(file.name)}: {count(len(offer.drafts), 'tool')}, {offer.signer}")
    for signer in offer.reproduced_by:
        say(f"  reproduced: {signer}")
    findings = [finding async for finding in engine.tool_import.judge(offer, alone=True)]
    for finding in findings:
        say(_line(finding))
    if any(finding.receipt != "reproduced" for finding in findings):
        say("Not every receipt is reproduced; nothing is signed.")
        return 1
    if sign:
        from selfeng.core.files import File

        signed = await asyncio.to_thread(engine.tool_import.reproduced, content)
        signed_file = File(name=sign.name, content=signed)
        say(f"written: {await asyncio.to_thread(_write, signed_file, sign)}")
    return 0


def _read(file: Path, library_names: set[str]) -> bytes:
    from selfeng.library.exchange.tool_bundle import LARGEST, folder_bundle

    try:
        if file.is_dir():
            return folder_bundle(file, library_names)
        with file.open("rb") as stream:
            return stream.read(LARGEST + 1)
    except OSError as error:
        raise RequestError(
            f"{file} can't be read: {error}", "name a file that `selfeng export` wrote"
        ) from error


def _subscription_line(subscription: Subscription) -> str:
    problem = subscription.problem and f"; {subscription.problem}"
    follows = f"{subscription.place}, {subscription.fingerprint}{problem}"
    return one_line(f"{subscription.name:24} {follows}")


def _show(offer: ImportOffer, file: str, wanted_names: set[str]) -> None:
    tools = [tool for tool in offer.tools if tool.name in wanted_names]
    say(f"{one_line(file)}: {count(len(tools), 'tool')}, {offer.signer}")
    for signer in offer.reproduced_by:
        say(f"  reproduced: {signer}")
    if offer.signer.status == "unknown":
        say(f"  `selfeng keys trust '{offer.signer.key}' NAME` trusts it from now on")
    for tool in tools:
        say("\n".join(map(one_line, ["", *_words(tool)])))
    say("")


def _words(tool: ToolWords) -> list[str]:
    """The lines that describe a tool to the person who accepts it."""
    lines = [tool.signature, f"  {tool.description}"]
    lines += [f"  {name}: {words}" for name, words in tool.parameters.items() if words]
    lines += [f"  found by: {request}" for request in tool.example_requests]
    lines += [
        f"  needs {', '.join(needs)}"
        for needs in (tool.imports, tool.packages, tool.network)
        if needs
    ]
    return [*lines, f"  written by {tool.model}"] if tool.model else lines


def _line(finding: ImportFinding) -> str:
    outcome_words = {
        "passed": "passes the gate",
        "present": "already there",
        "asks": "not checked (--allow-packages)",
        "waits": "waits for you",
    }
    detail = f": {one_line(finding.detail)}" if finding.detail else ""
    if finding.outcome == "added":
        detail += f" (receipt {finding.receipt})"
    return f"{outcome_words.get(finding.outcome, finding.outcome)}: {finding.name}{detail}"


def _may_install(offer: ImportOffer, names: set[str]) -> bool:
    """Ask the person about the packages that tools need; without a person to answer, they are not
    installed.
    """
    locks = [draft.lock for draft in offer.drafts if draft.name in names]
    packages = sorted({package.key for lock in locks if lock for package in lock.packages})
    if not packages or not sys.stdin.isatty():
        return False
    return typer.confirm(f"Install {', '.join(packages)} in the sandbox for the check?", err=True)


def _accepted(names: set[str]) -> bool:
    """Ask the person. Raises: RequestError: no person can answer."""
    if not sys.stdin.isatty():
        raise RequestError(
            f"{count(len(names), 'tool')} can't be accepted, as standard input is no terminal",
            "read what is shown, then add --yes",
        )
    return typer.confirm(
        f"Read the words above: the gate judges code, not words. Add {', '.join(sorted(names))}?",
        err=True,
    )
