"""A server that we call with a key, and how messages name it without the key."""

import logging
import re
from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qsl, unquote, unquote_plus, urlsplit, urlunsplit

from pydantic import Field

from selfeng.core.http import NetworkAccess, names_own_network
from selfeng.core.value import Value

_KEY_LIKE = re.compile(r"\b(?:sk|pk)-[\w*.-]{6,}|\bBearer \S+")
_SECRET = 12
"""The least number of characters of a key; shorter ones are placeholders such as `ollama` or
`lm-studio`.
"""
_SHOWN = 300
_AZURE = re.compile(
    r"\.(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|us|cn)$|\.azure-api\.net$"
)
_API_VERSION = "api-version"
"""The field of a query by which Azure and gateways before it name the API's version."""
_AZURE_KEY = "api-key"
HIDDEN = "***"
"""Shown instead of a value in a query, which may be a secret unless it is a version."""


OPENAI = "https://api.openai.com/v1"
APIS = ("auto", "chat", "responses")
"""How OpenAI-compatible servers are asked: by the API that they have, or by the named one."""


class ModelServer(Value):
    """The server, as error messages name it."""

    base_url: str = Field(repr=False)
    """May have a query, which is sent with every request."""
    model: str
    api_key: str = Field(repr=False)
    timeout: float
    headers: Mapping[str, str] = Field(default={}, repr=False)
    """Sent with every request; their values may be secrets."""
    api: str = "auto"
    """One of `APIS`, or a provider's name."""
    uses_tokens: bool = True
    """False if no model reads or writes: the cookbook of the offline model looks replies up."""

    @property
    def name(self) -> str:
        """The base URL without anything secret in it."""
        return shown_address(self.base_url)

    @property
    def sdk_options(self) -> dict[str, Any]:
        """How a client of the official SDK reaches it."""
        return {
            "base_url": urlunsplit(urlsplit(self.base_url)._replace(query="", fragment="")),
            "default_query": self._query,
            "default_headers": {"Accept-Encoding": "gzip", **self.headers},
            "api_key": self.api_key,
            "timeout": self.timeout,
        }

    @property
    def deployment(self) -> str:
        """The one model that an older address of Azure names; "" elsewhere."""
        match = re.search(r"/openai/deployments/([^/]+)", urlsplit(self.base_url).path)
        return unquote(match[1]) if match else ""

    @property
    def openai(self) -> bool:
        """Whether it is OpenAI itself."""
        return (urlsplit(self.base_url).hostname or "").endswith("openai.com")

    @property
    def azure(self) -> bool:
        """Whether it is Azure OpenAI, or a gateway before it."""
        return _API_VERSION in self._query or bool(
            _AZURE.search(urlsplit(self.base_url).hostname or "")
        )

    def sign(self, request: Any) -> None:
        """Put the key into an HTTP client's request where Azure wants it, and remove all secrets
        from a request that was redirected to another host. The SDK's own client for Azure adds a
        deployment to every path, which its newer addresses do not have.
        """
        header_names = {name.lower() for name in self.headers}
        if request.url.host != urlsplit(self.base_url).hostname:
            for name in (*header_names, _AZURE_KEY, "authorization"):
                request.headers.pop(name, None)
        elif self.azure and "authorization" not in header_names:
            request.headers.pop("authorization", None)
            request.headers[_AZURE_KEY] = self.api_key

    @property
    def _query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.base_url).query, keep_blank_values=True))

    @property
    def _secrets(self) -> tuple[str, ...]:
        hidden = (value for name, value in self._query.items() if _is_hidden(name))
        values = (self.api_key, *self.headers.values(), *hidden)
        return tuple(value for value in values if len(value) >= _SECRET)

    @property
    def local(self) -> bool:
        """Whether the URL is plain HTTP on this machine's loopback."""
        parts = urlsplit(self.base_url)
        host = parts.hostname or ""
        try:
            loopback = ip_address(host).is_loopback
        except ValueError:
            loopback = host == "localhost" or host.endswith(".localhost")
        return loopback and parts.scheme == "http"

    @property
    def near(self) -> bool:
        """Whether the URL names this machine or one of its own network, as far as its text says."""
        host = (urlsplit(self.base_url).hostname or "").rstrip(".")
        return host.endswith(".localhost") or names_own_network(host)

    def access(self, purpose: str) -> NetworkAccess:
        """The server as a host that a person may allow."""
        parts = urlsplit(self.base_url)
        return NetworkAccess.model_validate(
            {
                "host": parts.hostname,
                "scheme": parts.scheme,
                "port": parts.port or (443 if parts.scheme == "https" else 80),
                "methods": ("POST",),
                "path": parts.path or "/",
                "purpose": purpose,
            }
        )

    def tells(self, text: str) -> bool:
        """Whether the text contains a secret, such as the key."""
        return any(secret in text for secret in self._secrets)

    def clean(self, text: str) -> str:
        """The server's text, in one short line and without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, "(key)")
        line = _KEY_LIKE.sub("(key)", " ".join(text.split()))
        return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"


def shown_address(address: str) -> str:
    """The address without credentials, and with no value of its query but versions."""
    parts = urlsplit(address)
    query = "&".join(map(_shown_field, parts.query.split("&"))) if parts.query else ""
    plain = parts._replace(
        netloc=parts.netloc.rpartition("@")[2],
        path=parts.path.rstrip("/"),
        query=query,
        fragment="",
    )
    return urlunsplit(plain)


def hide_addresses(record: logging.LogRecord) -> bool:
    """A filter for the log of an HTTP client, which shows the addresses of requests in full."""
    if isinstance(record.args, tuple):
        record.args = tuple(
            shown_address(str(value)) if type(value).__name__ == "URL" else value
            for value in record.args
        )
    return True


logging.getLogger("httpx2").addFilter(hide_addresses)


def with_hidden_values(edited_address: str, address: str) -> str:
    """An address that was shown and perhaps changed, with the values that were not shown as the
    `address` has them, if it is the same server's.
    """
    parts, before = urlsplit(edited_address), urlsplit(address)
    if (parts.scheme, parts.netloc) != (before.scheme, before.netloc.rpartition("@")[2]):
        return edited_address
    fields_by_name = {field.partition("=")[0]: field for field in before.query.split("&")}
    fields = [
        fields_by_name.get(field.partition("=")[0], field)
        if field.endswith(f"={HIDDEN}")
        else field
        for field in parts.query.split("&")
    ]
    return urlunsplit(parts._replace(query="&".join(fields)))


def _is_hidden(name: str) -> bool:
    return not name.lower().endswith("version")


def _shown_field(field: str) -> str:
    name, equals, _ = field.partition("=")
    return f"{name}={HIDDEN}" if equals and _is_hidden(unquote_plus(name)) else field
