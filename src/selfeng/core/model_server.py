"""A server that we call with a key: how it is named to people, without the key."""

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

from pydantic import Field

from selfeng.core.value import Value

_KEY_LIKE = re.compile(r"\b(?:sk|pk)-[\w*.-]{6,}|\bBearer \S+")
_SECRET = 12
"""Characters from which a key is one; shorter ones are placeholders such as `ollama` or
`lm-studio`.
"""
_SHOWN = 300


class ModelServer(Value):
    """The server in the words of an error message."""

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
        """Whether the URL is one of plain HTTP on this machine's loopback."""
        parts = urlsplit(self.base_url)
        host = parts.hostname or ""
        try:
            loopback = ip_address(host).is_loopback
        except ValueError:
            loopback = host == "localhost" or host.endswith(".localhost")
        return loopback and parts.scheme == "http"

    def tells(self, text: str) -> bool:
        """Whether the text has the key in it."""
        return len(self.api_key) >= _SECRET and self.api_key in text

    def clean(self, text: str) -> str:
        """What the server says, in one short line and without the key."""
        plain = text.replace(self.api_key, "(key)") if self.tells(text) else text
        line = _KEY_LIKE.sub("(key)", " ".join(plain.split()))
        return line if len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
