"""A tool of another MCP server: what the server claims of it, within limits."""

import hashlib
import json
import re
from typing import Any, Literal

from selfeng.core.value import Value

SEPARATOR = "__"
LONGEST_DESCRIPTION = 1_000
"""Characters that are kept of what a server says of a tool or of a parameter."""
LARGEST_SCHEMA = 20_000
"""Characters of the JSON of an input schema."""
_LONGEST_NAME = 64
_DIGEST = 8

ServerState = Literal["idle", "connecting", "connected", "failed"]


class ServerTool(Value):
    """A tool of another server. The texts are the server's, and no instructions."""

    server: str
    """The server's name in mcp.json."""
    address: str
    """Its command with arguments, or its URL, as written in mcp.json."""
    entry: str = ""
    """sha256 of the server's whole entry."""
    tool: str
    """The tool's name on the server."""
    description: str
    input_schema: dict[str, Any]
    """A valid JSON Schema of an object, with `properties`."""
    read_only: bool = False
    """The server's claim that a call changes nothing."""
    repeatable: bool = False
    """The server's claim that a second call changes nothing more."""

    @property
    def name(self) -> str:
        """`server__tool`, as models see it: letters, digits, `_` and `-`, 64 at most. A name that
        does not fit ends with a digest of it.
        """
        full_name = f"{self.server}{SEPARATOR}{self.tool}"
        plain = re.sub(r"[^a-zA-Z0-9_-]", "_", full_name)
        if plain == full_name and len(full_name) <= _LONGEST_NAME:
            return full_name
        digest = hashlib.sha256(full_name.encode()).hexdigest()[:_DIGEST]
        return f"{plain[: _LONGEST_NAME - _DIGEST - 1]}_{digest}"

    @property
    def digest(self) -> str:
        """sha256 of all that a person consents to: another address, description or schema is
        another tool.
        """
        text = json.dumps(self.model_dump(), sort_keys=True)
        return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()

    @property
    def required(self) -> tuple[str, ...]:
        """Names of the parameters without which it can't be called."""
        names = self.input_schema.get("required", ())
        return tuple(name for name in names if name in self.input_schema["properties"])


class ServerStatus(Value):
    """A server of mcp.json."""

    name: str
    address: str = ""
    state: ServerState = "idle"
    """idle: it was not needed so far."""
    problem: str = ""
    """Why it can't be used, or which of its tools can't, and what to do; "" if nothing is wrong."""


class ListedServerTool(Value):
    """A tool that a server listed, and whether a person always allows it."""

    tool: ServerTool
    allowed: bool


class ServerCandidate(Value):
    """A tool of another server that a search found; as `Candidate`."""

    tool: ServerTool
    similarity: float
    confidence: float
