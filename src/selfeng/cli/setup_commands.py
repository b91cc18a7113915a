"""The commands that set up the machine, check the parts of the engine, and back up its data."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from selfeng.cli.command import example, on_settings, opened, say
from selfeng.cli.shell_completion import tool_names
from selfeng.core.words import count

if TYPE_CHECKING:
    from selfeng.core.settings import Settings

app = typer.Typer()

_TOLD = {"conversations": "conversation", "tools": "tool", "lessons": "lesson"}
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
