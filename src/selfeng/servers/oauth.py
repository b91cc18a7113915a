"""OAuth 2 for the vault: a person allows this program on a page of the service (the device flow,
RFC 8628), and the access token is renewed when it expires.

authlib sends the requests to the addresses that the person entered. Everything blocks.
"""

import time
from collections.abc import Callable
from typing import Any, Literal
from urllib.parse import urlsplit

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.requests_client import OAuth2Session
from pydantic import ValidationError
from requests import RequestException

from selfeng.core.errors import NetworkRefused, RequestError
from selfeng.core.network import system_store
from selfeng.core.value import Value

_DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
_SECONDS = 30
"""Patience with one request."""
_EARLY = 60
"""Seconds before its end at which a token is renewed."""
_SLOWER = 5
"""Seconds that a service adds when it is asked too often."""
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class OAuthClient(Value):
    """This program, as a service knows it."""

    token_url: str
    client_id: str
    client_secret: str = ""
    """"" where the service needs none, which is usual for programs."""

    def _session(self) -> OAuth2Session:
        method = "client_secret_basic" if self.client_secret else "none"
        session = OAuth2Session(
            self.client_id, self.client_secret or None, token_endpoint_auth_method=method
        )
        session.verify = system_store() or True
        return session

    def _token(self, ask: Callable[[OAuth2Session], Any]) -> "OAuthToken":
        """Raises: AuthlibBaseError, NetworkRefused."""
        began = time.time()
        try:
            token = ask(self._session())
            lasts = token.get("expires_in")
            return OAuthToken(
                **self.model_dump(),
                access_token=token["access_token"],
                refresh_token=token.get("refresh_token") or "",
                expires_at=began + float(lasts) if lasts else None,
            )
        except (RequestException, KeyError, ValueError) as error:
            raise NetworkRefused(
                f"{urlsplit(self.token_url).hostname} gave no token: {error}", "try again later"
            ) from error


class OAuthToken(OAuthClient):
    """An access token, as the vault keeps it."""

    kind: Literal["oauth"] = "oauth"
    access_token: str
    refresh_token: str = ""
    expires_at: float | None = None
    """Seconds since 1970; None: never, as far as the service says."""

    @property
    def expired(self) -> bool:
        return self.expires_at is not None and time.time() > self.expires_at - _EARLY

    def renewed(self) -> "OAuthToken":
        """The next token.

        Raises:
            NetworkRefused: the service gives none; the person must allow it again.
        """
        client = OAuthClient(**self.model_dump(include=set(OAuthClient.model_fields)))
        options = {"refresh_token": self.refresh_token, "timeout": _SECONDS}
        try:
            token = client._token(lambda session: session.refresh_token(self.token_url, **options))
        except AuthlibBaseError as error:
            raise NetworkRefused(
                f"{urlsplit(self.token_url).hostname} does not renew the token: {error}",
                "allow it again with `selfeng secrets authorize`",
            ) from error
        return token.model_copy(update={"refresh_token": token.refresh_token or self.refresh_token})


class DeviceFlow(OAuthClient):
    """A permission that a person is asked for on a page of the service."""

    device_code: str
    user_code: str
    """The code that the person enters there."""
    verification_uri: str
    interval: float = 5
    """Seconds between two looks."""
    expires_in: float = 900
    """Seconds for the person to answer."""

    @classmethod
    def begin(cls, client: OAuthClient, device_url: str, scope: str = "") -> "DeviceFlow":
        """Ask the service for a code.

        Raises:
            RequestError: an address is not https.
            NetworkRefused: the service gives no code.
        """
        for url in (device_url, client.token_url):
            if (parts := urlsplit(url)).scheme != "https" and parts.hostname not in _LOOPBACK:
                raise RequestError(f"{url[:100]!r} is not an https address", "enter another one")
        fields = {"client_id": client.client_id, **({"scope": scope} if scope else {})}
        names = {*cls.model_fields} - {*OAuthClient.model_fields}
        try:
            reply = client._session().post(
                device_url, data=fields, withhold_token=True, timeout=_SECONDS,
                headers={"Accept": "application/json"},
            )  # fmt: skip
            reply.raise_for_status()
            answer = {name: value for name, value in reply.json().items() if name in names}
            return cls(**client.model_dump(), **answer)
        except (RequestException, ValidationError, ValueError, AttributeError) as error:
            raise NetworkRefused(
                f"{urlsplit(device_url).hostname} gave no code: {error}", "check address and client"
            ) from error

    def wait(self, sleep: Callable[[float], object] = time.sleep) -> OAuthToken:
        """Wait until the person has allowed it.

        Raises:
            NetworkRefused: the person refused, or did not answer in time.
        """
        end, interval = time.monotonic() + self.expires_in, self.interval
        client = OAuthClient(**self.model_dump(include=set(OAuthClient.model_fields)))
        options = {"grant_type": _DEVICE, "device_code": self.device_code, "timeout": _SECONDS}
        while time.monotonic() < end:
            sleep(interval)
            try:
                return client._token(lambda session: session.fetch_token(self.token_url, **options))
            except AuthlibBaseError as error:
                if error.error == "slow_down":
                    interval += _SLOWER
                elif error.error != "authorization_pending":
                    raise NetworkRefused(
                        f"the service refused: {str(error).rstrip(': ')}", "begin again"
                    ) from error
        raise NetworkRefused("the person did not answer in time", "begin again")


def token_of(value: str) -> OAuthToken | None:
    """The token that the value of a secret is; None if it is another secret."""
    if not value.startswith("{"):
        return None
    try:
        return OAuthToken.model_validate_json(value)
    except ValidationError:
        return None
