"""The routes of the settings: read, changed and tried by whoever has opened the page."""

import asyncio
from typing import TYPE_CHECKING

from flask import Flask

from selfeng.provision.configuration import SettingsView
from selfeng.store.spending import SpendingReport
from selfeng.store.stored_data import StoredData
from web.bridge import Bridge
from web.middleware import owner
from web.operations import Done, operation
from web.payloads import SecretValue, SettingsChange
from web.resources import LocalServerList, ModelList, SecretList

if TYPE_CHECKING:
    from selfeng.engine import Engine


def add_settings_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the routes. No answer has a key or the value of a secret in it."""
    configuration, vault = engine.configuration, engine.vault

    @app.get("/api/v1/settings")
    @operation()
    def settings() -> SettingsView:
        """Show the settings of the page, without the key."""
        return configuration.view()

    @app.patch("/api/v1/settings")
    @operation()
    def change_settings(body: SettingsChange) -> SettingsView:
        """Change settings by their names; null takes a choice back.

        422 if a value is not allowed, with `error.fields` by name.
        """
        bridge.call(configuration.change(body.changes))
        return configuration.view()

    @app.get("/api/v1/spending")
    @operation()
    def spending() -> SpendingReport:
        """Show what your turns spent on models by month, and what the reuse of tools saved."""
        return bridge.call(engine.report_spending(owner()))

    @app.get("/api/v1/data")
    @operation()
    def data() -> StoredData:
        """Show what is stored of you, and for how long."""
        return bridge.call(asyncio.to_thread(engine.personal_data.report, owner()))

    @app.delete("/api/v1/data")
    @operation()
    def delete_data() -> StoredData:
        """Delete your conversations, projects, links, proposals, grants and spending, and what only
        your requests taught tools and lessons. Tools and secrets stay.
        """
        bridge.call(engine.delete_data(owner()))
        return bridge.call(asyncio.to_thread(engine.personal_data.report, owner()))

    @app.post("/api/v1/settings/servers")
    @operation()
    def servers() -> LocalServerList:
        """Look for model servers that run on the server's machine and need no key."""
        return LocalServerList(servers=bridge.call(configuration.look()))

    @app.post("/api/v1/settings/models")
    @operation()
    def models(body: SettingsChange) -> ModelList:
        """List the models that the model's server has, as it would be with these changes."""
        return ModelList(models=bridge.call(configuration.models(body.changes)))

    @app.get("/api/v1/secrets")
    @operation()
    def secrets() -> SecretList:
        """List the names of the secrets that tools may use."""
        return SecretList(secrets=bridge.call(asyncio.to_thread(vault.list)))

    @app.put("/api/v1/secrets/<name>")
    @operation()
    def set_secret(name: str, body: SecretValue) -> Done:
        """Keep a secret, in place of an earlier value."""
        bridge.call(asyncio.to_thread(vault.set, name, body.value.get_secret_value()))
        return Done()

    @app.delete("/api/v1/secrets/<name>")
    @operation()
    def remove_secret(name: str) -> Done:
        """Remove a secret."""
        bridge.call(asyncio.to_thread(vault.remove, name))
        return Done()
