"""The commands that set up the machine, check the parts of the engine, and back up its data."""

from __future__ import annotations

import asyncio
import os
import platform
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from selfeng.cli.command import AsJson, example, on_settings, opened, print_json, say
from selfeng.cli.shell_completion import tool_names
from selfeng.core.places import VERSION
from selfeng.core.words import count

if TYPE_CHECKING:
    from selfeng.core.settings import Settings
    from selfeng.library.composition.reverification import Rehearsed

app = typer.Typer()

_TOLD = {"conversations": "conversation", "tools": "tool", "lessons": "lesson"}
_FOLDERS = ("DATA_DIR", "TOOLS_DIR", "CHROMA_PERSIST_DIR")
_LINES = 3
"""Of a failure, that are shown."""
_PARTS = ("embedder", "front-end", "sandbox")
_CHECKED = (
    "model",
    "llm_client",
    "capability_registry",
    "sandbox",
    "executor",
    "response_synthesizer",
    "synthesis_engine",
    "orchestrator",
)


@app.command(epilog=example("selfeng setup", "selfeng setup sandbox"))
@on_settings
async def setup(
    settings: Settings,
    parts: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Any of {', '.join(_PARTS)}; all by default.", autocompletion=lambda: [*_PARTS]
        ),
    ] = None,
) -> int:
    """Set up what the machine lacks. Exit code 1 if a part failed."""
    from selfeng.provision.parts import PARTS, provision

    return 1 if await asyncio.to_thread(provision, settings, say, tuple(parts or PARTS)) else 0


@app.command(epilog=example("selfeng backup selfeng.tar.gz"))
@on_settings
async def backup(
    settings: Settings,
    file: Annotated[
        Path, typer.Argument(help="The .tar.gz to write; one that is there is replaced.")
    ],
) -> int:
    """Write everything that can't be made again to one file: conversations, tools, lessons,
    projects. The server may run meanwhile.
    """
    from selfeng.bootstrap import back_up

    size = await asyncio.to_thread(back_up, settings, file)
    say(f"Wrote {file}, {size / 1000:,.0f} kB. It is as private as the conversations.")
    return 0


@app.command(epilog=example("selfeng restore selfeng.tar.gz", "selfeng restore slugify_text"))
@on_settings
async def restore(
    settings: Settings,
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|NAME", help="A backup, or a retired tool.", autocompletion=tool_names
        ),
    ],
) -> int:
    """Replace everything by what is in a backup, once the server has ended; what was there is
    backed up first. Or, by its name, offer a retired tool again.
    """
    file = Path(what)
    if what.isidentifier() and not await asyncio.to_thread(file.exists):
        async with opened(settings) as engine:
            say(f"{what} is {(await engine.library.restore(what)).standing}.")
        return 0
    from selfeng.bootstrap import restore as restored

    before = settings.data_dir / f"before-restore-{datetime.now():%Y%m%d-%H%M%S}.tar.gz"
    counts = await asyncio.to_thread(restored, settings, file, before)
    count_texts = [count(counts[name], noun) for name, noun in _TOLD.items()]
    say(f"Restored {', '.join(count_texts)}. What was there before is in {before}.")
    return 0


@app.command(
    epilog=example(
        "selfeng rehearse --image python:3.13-slim",
        "selfeng rehearse --python ~/new/.venv/bin/python --json",
    )
)
@on_settings
async def rehearse(
    settings: Settings,
    *,
    python: Annotated[
        Path | None,
        typer.Option(help="Run this command by a Python that has selfeng, maybe a newer one."),
    ] = None,
    image: Annotated[str, typer.Option(help="A base image for the sandbox on Docker.")] = "",
    as_json: AsJson = False,
) -> int:
    """Verify all tools in a copy, with the Python, image and selfeng that you think of changing to,
    and list those that would break. Nothing is changed. Exit code 1 if one breaks.
    """
    if python:
        command = [str(python), "-m", "selfeng", "rehearse", *(["--json"] if as_json else [])]
        if image:
            command += ["--image", image]
        folders = {name: str(getattr(settings, name.lower())) for name in _FOLDERS}
        process = await asyncio.create_subprocess_exec(*command, env={**os.environ, **folders})
        return await process.wait()
    from selfeng.bootstrap import rehearsal

    outcomes: list[Rehearsed] = []
    with rehearsal(settings, image) as changed:
        async with opened(changed, "sandbox") as engine:
            say(f"selfeng {VERSION}, Python {platform.python_version()}: {changed.sandbox} sandbox")
            async for outcome in engine.upkeep.rehearse():
                outcomes.append(outcome)
                if outcome.problem and not as_json:
                    lines = outcome.problem.strip().splitlines()[:_LINES]
                    about = f"{outcome.name}, version {outcome.version}: {outcome.test}".rstrip(
                        ": "
                    )
                    say("\n  ".join([about, *lines]))
    broken = [outcome for outcome in outcomes if outcome.problem]
    if as_json:
        print_json([outcome.model_dump(mode="json") for outcome in broken])
    say(f"{len(broken)} of {count(len(outcomes), 'tool')} would break")
    return int(bool(broken))


@app.command(epilog=example("selfeng check model"))
@on_settings
async def check(
    settings: Settings,
    part: Annotated[
        str, typer.Argument(help="One of those above.", autocompletion=lambda: [*_CHECKED])
    ],
) -> int:
    """Check one part: model (what its server can do), llm_client, capability_registry, sandbox,
    executor, response_synthesizer, synthesis_engine or orchestrator. Exit code 1 if it does not
    work.
    """
    from selfeng.cli.part_checks import run_check

    return await run_check(settings, part, typer.echo)
