"""mcp.json: the other MCP servers, in the form of Claude Desktop."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from selfeng.core.server_tool import SEPARATOR
from selfeng.core.visible import one_line

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}", re.ASCII)
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_KINDS = (None, "stdio", "http", "streamable-http", "streamableHttp", "streamable_http")
_FORM = 'write {"mcpServers": {"NAME": {"command": "…", "args": […]}}} or {"url": "https://…"}'
_SHOWN = 40


class ServerConfig(BaseModel):
    """One entry: a command that speaks MCP on stdin and stdout, or the URL of a server. What other
    clients write beside that is ignored.
    """

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    command: str = ""
    args: list[str] = []
    env: dict[str, str] = Field({}, repr=False)
    """All that the command's environment has besides names such as PATH and HOME."""
    cwd: str | None = None
    url: str = ""
    headers: dict[str, str] = Field({}, repr=False)
    type: str | None = None
    disabled: bool = False

    @property
    def address(self) -> str:
        """What a person is shown: the command with its arguments, or the URL without secrets."""
        if self.command:
            return one_line(" ".join([self.command, *self.args]))
        parts = urlsplit(self.url)
        return one_line(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}")


class McpConfig(NamedTuple):
    """What the file says."""

    servers: Mapping[str, ServerConfig] = {}
    problems: Mapping[str, str] = {}
    """What is wrong and what to do, by the name of the entry; "" names the file."""


def read_mcp_config(file: Path, environment: Mapping[str, str] = os.environ) -> McpConfig:
    """Read the file; an entry that can't be used hides no other, and a missing file has none.
    Blocking.

    `${NAME}` and `${NAME:-default}` in the values of `env` and `headers`, in arguments and in the
    URL stand for variables of our `environment`.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return McpConfig()
    except OSError as error:
        return _unread(file, f"can't be read: {error.strerror}", "correct its permissions")
    except ValueError as error:  # of JSON, or of UTF-8
        return _unread(file, f"is not JSON: {error}", "correct it there")
    entries = content.get("mcpServers") if isinstance(content, dict) else None
    if not isinstance(entries, dict):
        return _unread(file, 'has no object "mcpServers"', _FORM)
    servers: dict[str, ServerConfig] = {}
    problems: dict[str, str] = {}
    for name, entry in entries.items():
        found = _entry(name, entry, environment)
        if isinstance(found, str):
            problems[one_line(name)[:_SHOWN]] = f"{found} (in {file})"
        elif not found.disabled:
            servers[name] = found
    return McpConfig(servers, problems)


def _unread(file: Path, problem: str, remedy: str) -> McpConfig:
    return McpConfig(problems={"": f"{file} {problem}; {remedy}"})


def _entry(name: str, entry: Any, environment: Mapping[str, str]) -> ServerConfig | str:
    """The entry, or what is wrong with it and what to do."""
    if not _NAME.fullmatch(name) or SEPARATOR in name or name.endswith("_"):
        return f"{name[:_SHOWN]!r} is no name: use up to 32 letters, digits, - and single _"
    try:
        config = ServerConfig.model_validate(entry)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the entry"
        return f"{name}: {place}: {first['msg']}; {_FORM}"
    if bool(config.command) == bool(config.url):
        return f'{name} needs "command" or "url", and one of them only; {_FORM}'
    if config.type not in _KINDS:
        kind = (config.type or "")[:_SHOWN]
        return f'{name}: the type {kind!r} is not spoken here; use "stdio" or "http"'
    try:
        config = _expanded(config, environment)
    except LookupError as error:
        return f"{name}: {error.args[0]} is not in the environment; set it, or write the value"
    if config.url and (problem := _url_problem(config.url)):
        return f"{name}: {problem}"
    return config


def _url_problem(url: str) -> str:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    return "" if valid else f"{url[:_SHOWN]!r} is no URL; write one such as https://example.com/mcp"


def _expanded(config: ServerConfig, environment: Mapping[str, str]) -> ServerConfig:
    """Raises: LookupError: no such variable."""

    def value(match: re.Match[str]) -> str:
        name, default = match.groups()
        found = environment.get(name, default)
        if found is None:
            raise LookupError(name)
        return found

    def of(text: str) -> str:
        return _VARIABLE.sub(value, text)

    return config.model_copy(
        update={
            "args": [of(text) for text in config.args],
            "url": of(config.url),
            "env": {name: of(text) for name, text in config.env.items()},
            "headers": {name: of(text) for name, text in config.headers.items()},
        }
    )
