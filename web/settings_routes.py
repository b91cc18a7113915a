"""The routes of the settings: read, changed and tried by anyone who has opened the page."""

import asyncio
import logging
import threading
from functools import partial
from typing import TYPE_CHECKING

from flask import Flask

from selfeng.core.daemon_threads import unwaited
from selfeng.core.errors import AgentError, NetworkRefused
from selfeng.provision.configuration import SettingsView
from selfeng.store.retention import StoredData
from selfeng.store.spending import SpendingReport, ToolAccounts
from web.bridge import Bridge
from web.middleware import owner
from web.operations import Done, ErrorDetail, operation
from web.payloads import AuthorizationRequest, SecretValue, SettingsChange, problem
from web.resources import Authorization, LocalServerList, ModelList, SecretList

if TYPE_CHECKING:
    from selfeng.engine import Engine
    from selfeng.servers.oauth import DeviceFlow
    from selfeng.servers.vault import Vault

log = logging.getLogger(f"selfeng.{__name__}")


class Authorizations:
    """Permissions that services are asked for by OAuth's device flow: of each secret the last one.
    Used on the engine's loop only.
    """

    def __init__(self, vault: "Vault") -> None:
        self._vault = vault
        self._states: dict[str, Authorization] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}

    def state(self, name: str) -> Authorization:
        return self._states.get(name) or Authorization(state="none")

    async def begin(self, name: str, request: AuthorizationRequest, person: str) -> Authorization:
        """Ask the service for a code, and wait for the person in the background. Raises:
        RequestError, NetworkRefused.
        """
        from selfeng.servers.oauth import DeviceFlow, OAuthClient  # imports authlib

        self._vault.check_name(name)
        client = OAuthClient(
            token_url=request.token_url,
            client_id=request.client_id,
            client_secret=request.client_secret.get_secret_value(),
        )
        flow = await asyncio.to_thread(DeviceFlow.begin, client, request.device_url, request.scope)
        if earlier := self._waiting.pop(name, None):
            earlier.cancel()
        self._states[name] = Authorization(
            state="waiting", user_code=flow.user_code, verification_uri=flow.verification_uri
        )
        self._waiting[name] = asyncio.create_task(self._wait(name, flow, person))
        return self._states[name]

    async def _wait(self, name: str, flow: "DeviceFlow", person: str) -> None:
        has_left = threading.Event()

        def pause(seconds: float) -> None:
            if has_left.wait(seconds):
                raise NetworkRefused("nobody waits for the permission", "begin again")

        try:
            token = await unwaited(partial(flow.wait, pause))
            await asyncio.to_thread(self._vault.set, name, token.model_dump_json(), person)
            self._states[name] = Authorization(state="kept")
        except Exception as error:  # the edge of a task
            if not isinstance(error, AgentError):
                log.exception("a permission was lost")
            detail = ErrorDetail.model_validate(problem(error))
            self._states[name] = Authorization(state="failed", error=detail)
        finally:
            has_left.set()


def add_settings_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the routes. No answer has a key or the value of a secret in it."""
    configuration, vault = engine.configuration, engine.vault
    authorizations = Authorizations(vault)

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
        return bridge.call(asyncio.to_thread(engine.spending.report, owner()))

    @app.get("/api/v1/spending/tools")
    @operation()
    def tool_accounts() -> ToolAccounts:
        """Show what each tool took to build, and what its reuse saved, for everybody."""
        return ToolAccounts(tools=bridge.call(asyncio.to_thread(engine.spending.tools)))

    @app.get("/api/v1/data")
    @operation()
    def data() -> StoredData:
        """Show everything that is stored, how much of it is yours, and for how long."""
        return bridge.call(asyncio.to_thread(engine.personal_data.report, owner()))

    @app.delete("/api/v1/data")
    @operation()
    def delete_data() -> StoredData:
        """Stop your turns and delete everything that is yours, with secrets that you entered and
        tools that only you made and used. Tools that others use keep their code and tests.
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
        value = body.value.get_secret_value()
        bridge.call(asyncio.to_thread(vault.set, name, value, owner()))
        return Done()

    @app.post("/api/v1/secrets/<name>/authorization")
    @operation()
    def authorize_secret(name: str, body: AuthorizationRequest) -> Authorization:
        """Ask a service for a token, which becomes the secret when the person has allowed it."""
        return bridge.call(authorizations.begin(name, body, owner()), 60)

    @app.get("/api/v1/secrets/<name>/authorization")
    @operation()
    def authorization(name: str) -> Authorization:
        """Show how far the last permission for this secret is."""
        return authorizations.state(name)

    @app.delete("/api/v1/secrets/<name>")
    @operation()
    def remove_secret(name: str) -> Done:
        """Remove a secret."""
        bridge.call(asyncio.to_thread(vault.remove, name))
        return Done()
