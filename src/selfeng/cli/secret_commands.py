"""The commands for secrets, which tools use without seeing them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from selfeng.cli.command import AsJson, example, on_engine, print_listed, say
from selfeng.core.owner import LOCAL

if TYPE_CHECKING:
    from selfeng.engine import Engine

app = typer.Typer(no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="In capitals, such as GITHUB_TOKEN.")]


@app.callback(epilog=example("selfeng secrets set GITHUB_TOKEN"))
def secrets() -> None:
    """Secrets that you let tools use: the app adds them to requests, and shows them nowhere."""


@app.command("set", epilog=example("selfeng secrets set GITHUB_TOKEN < token.txt"))
@on_engine()
async def set_secret(engine: Engine, name: Name) -> None:
    """Keep a secret. Its value is read from standard input, or asked for without showing it."""
    from selfeng.cli.standard_input import is_piped, read_bytes

    if is_piped():
        value = read_bytes().decode(errors="replace").strip()
    else:
        value = typer.prompt(f"Value of {name}", hide_input=True, err=True)
    engine.vault.set(name, value, LOCAL)
    say(f"{name} is kept")


@app.command(
    epilog=example(
        "selfeng secrets authorize GITHUB_TOKEN --client-id ID --scope repo "
        "--device-url https://github.com/login/device/code "
        "--token-url https://github.com/login/oauth/access_token"
    )
)
@on_engine()
async def authorize(
    engine: Engine,
    name: Name,
    *,
    device_url: Annotated[str, typer.Option(help="Where the service gives a code.")],
    token_url: Annotated[str, typer.Option(help="Where the service gives tokens.")],
    client_id: Annotated[str, typer.Option(help="What the service calls this program.")],
    scope: Annotated[str, typer.Option(help="What the token may be used for.")] = "",
) -> None:
    """Get a token by OAuth's device flow, and renew it when it expires. The secret of the client,
    if it has one, is read from standard input.
    """
    from selfeng.cli.standard_input import is_piped, read_bytes
    from selfeng.servers.oauth import DeviceFlow, OAuthClient

    engine.vault.check_name(name)
    client_secret = read_bytes().decode(errors="replace").strip() if is_piped() else ""
    client = OAuthClient(token_url=token_url, client_id=client_id, client_secret=client_secret)
    flow = await asyncio.to_thread(DeviceFlow.begin, client, device_url, scope)
    say(f"Open {flow.verification_uri} and enter {flow.user_code}")
    token = await asyncio.to_thread(flow.wait)
    engine.vault.set(name, token.model_dump_json(), LOCAL)
    say(f"{name} is kept")


@app.command("list", epilog=example("selfeng secrets list"))
@on_engine()
async def list_secrets(engine: Engine, *, json: AsJson = False) -> None:
    """List the names of the secrets, and those that must be entered again."""
    stored = engine.vault.list()
    print_listed(
        stored,
        lambda secret: f"{secret.name:32} {'' if secret.readable else 'enter it again'}".rstrip(),
        as_json=json,
    )
    if not stored and not json:
        say("No secret is stored.")


@app.command(epilog=example("selfeng secrets remove GITHUB_TOKEN"))
@on_engine()
async def remove(engine: Engine, name: Name) -> None:
    """Remove a secret."""
    engine.vault.remove(name)
    say(f"{name} is removed")
