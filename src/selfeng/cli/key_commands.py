"""The commands for the keys that sign bundles: this instance's own, and the trusted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from selfeng.cli.command import AsJson, example, finish, on_settings, print_json, say

if TYPE_CHECKING:
    from selfeng.core.settings import Settings
    from selfeng.library.exchange.signing import SigningKeys

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback(
    epilog=example(
        "selfeng keys",
        "selfeng keys trust 'ssh-ed25519 AAAAC3Nza…' Ada",
        "selfeng keys distrust Ada",
    )
)
def keys(context: typer.Context, *, json: AsJson = False) -> None:
    """List the public key of this instance, which signs its bundles, and the trusted keys."""
    if context.invoked_subcommand:
        return

    def work() -> int:
        from selfeng.core.settings import load_settings
        from selfeng.library.exchange.signing import fingerprint, read_key

        signing_keys = _keys(load_settings())
        own_key, trusted = signing_keys.own_key(), signing_keys.trusted()
        own_fingerprint = fingerprint(read_key(own_key))
        if json:
            trusted_keys = [key.model_dump() for key in trusted]
            print_json(
                {"own": {"key": own_key, "fingerprint": own_fingerprint}, "trusted": trusted_keys}
            )
            return 0
        say(f"The key of this instance, {own_fingerprint}:")
        typer.echo(own_key)
        say("Trusted keys:" if trusted else "No other key is trusted.")
        for key in trusted:
            typer.echo(f"{key.key} {key.name}")
        return 0

    finish(work)


@app.command(epilog=example("selfeng keys trust 'ssh-ed25519 AAAAC3Nza…' Ada"))
@on_settings
async def trust(
    settings: Settings,
    key: Annotated[str, typer.Argument(help="The line that `selfeng keys` prints at its owner's.")],
    name: Annotated[str, typer.Argument(help="Whose it is; shown wherever it has signed.")],
) -> int:
    """Trust a key, after you have compared its fingerprint with its owner."""
    trusted = _keys(settings).trust(key, name)
    say(f"{trusted.name} is trusted: {trusted.fingerprint}")
    return 0


@app.command(epilog=example("selfeng keys distrust Ada"))
@on_settings
async def distrust(
    settings: Settings,
    which: Annotated[str, typer.Argument(help="Its name, fingerprint or key.")],
) -> int:
    """Stop trusting a key. Tools that it has signed stay."""
    key = _keys(settings).distrust(which)
    say(f"{key.name} is not trusted any more: {key.fingerprint}")
    return 0


def _keys(settings: Settings) -> SigningKeys:
    from selfeng.library.exchange.signing import SigningKeys

    return SigningKeys(settings.data_dir)
