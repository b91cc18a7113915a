"""A server that we call with a key, and how messages name it without the key."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from pydantic import Field

from selfeng.core.value import Value

_KEY_LIKE = re.compile(r"\b(?:sk|pk)-[\w*.-]{6,}|\bBearer \S+")
_SECRET = 12
"""The least number of characters of a key; shorter ones are placeholders such as `ollama` or
`lm-studio`.
"""
_SHOWN = 300


class ModelServer(Value):
    """The server, as error messages name it."""

    base_url: str
    model: str
    api_key: str = Field(repr=False)
    timeout: float

    @property
    def name(self) -> str:
        """The base URL without anything secret in it."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"

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

    def tells(self, text: str) -> bool:
        """Whether the text contains the key."""
        return len(self.api_key) >= _SECRET and self.api_key in text

    def clean(self, text: str) -> str:
        """What the server says, in one short line and without the key."""
        plain = text.replace(self.api_key, "(key)") if self.tells(text) else text
        line = _KEY_LIKE.sub("(key)", " ".join(plain.split()))
        return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
