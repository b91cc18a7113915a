"""mcp.json: the other MCP servers, in the form of Claude Desktop."""

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from selfeng.core.secrets import Masker, without_secrets
from selfeng.core.server_tool import SEPARATOR
from selfeng.core.value import first_problem
from selfeng.core.visible import one_line

_NAME = re.compile(r"[A-Za-z0-9_-]{1,32}", re.ASCII)
_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_KINDS = (None, "stdio", "http", "streamable-http", "streamableHttp", "streamable_http")
_FORM = 'write {"mcpServers": {"NAME": {"command": "…", "args": […]}}} or {"url": "https://…"}'
_SHOWN = 40


class ServerConfig(BaseModel):
    """One entry as it is written: a command that speaks MCP on stdin and stdout, or the URL of a
    server. Other fields are ignored. `${NAME}` and `${NAME:-default}` in the values of `env` and
    `headers`, in arguments and in the URL stand for variables of our environment; only a connection
    looks them up.
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
        """For people: the command with its arguments, or the URL without user and query."""
        if self.command:
            return without_secrets(one_line(" ".join([self.command, *self.args])))
        scheme, _, remainder = self.url.partition("://")
        host, slash, path = remainder.partition("/")
        public_url = f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
        return without_secrets(one_line(re.split(r"[?#]", public_url)[0]))

    @property
    def digest(self) -> str:
        """sha256 of all that a person consents to: the whole entry as it is written."""
        entry = json.dumps(self.model_dump(exclude={"disabled"}), sort_keys=True)
        return hashlib.sha256(entry.encode(errors="surrogatepass")).hexdigest()

    def variables(self, environment: Mapping[str, str]) -> dict[str, str]:
        """The variables that the entry stands for, with their values.

        Raises:
            LookupError: no such variable.
        """
        texts = [self.command, *self.args, self.cwd or "", self.url]
        texts += [*self.env.values(), *self.headers.values()]
        values: dict[str, str] = {}
        for name, default in (m.groups() for text in texts for m in _VARIABLE.finditer(text)):
            if (value := environment.get(name, default)) is None:
                raise LookupError(name)
            values[name] = value
        return values

    def expanded(self, environment: Mapping[str, str]) -> "ServerConfig":
        """The entry with the values of its variables. Raises: LookupError: no such variable."""
        values = self.variables(environment)

        def of(text: str) -> str:
            return _VARIABLE.sub(lambda m: values[m[1]], text)

        return self.model_copy(
            update={
                "command": of(self.command),
                "args": [of(text) for text in self.args],
                "cwd": self.cwd and of(self.cwd),
                "url": of(self.url),
                "env": {name: of(text) for name, text in self.env.items()},
                "headers": {name: of(text) for name, text in self.headers.items()},
            }
        )


_KNOWN = {"HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "PWD", "TMPDIR"}
"""Variables that every command gets, and that are not secret."""


def masker_of(variables: Mapping[str, str]) -> Masker:
    """A masker of the values of variables, except those that every command gets."""
    return Masker({name: value for name, value in variables.items() if name not in _KNOWN})


class McpConfig(NamedTuple):
    """The content of the file."""

    servers: Mapping[str, ServerConfig] = {}
    problems: Mapping[str, str] = {}
    """The problem and its remedy, by the name of the entry; "" names the file."""


def read_mcp_config(file: Path, environment: Mapping[str, str] = os.environ) -> McpConfig:
    """Read the file; an entry that can't be used hides no other, and a missing file has none.
    Blocking. `environment`: where the variables of entries must be.
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
        if isinstance((server_or_problem := _entry(name, entry, environment)), str):
            problems[one_line(name)[:_SHOWN]] = f"{server_or_problem} (in {file})"
        elif not server_or_problem.disabled:
            servers[name] = server_or_problem
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
        return f"{name}: {first_problem(error, 'the entry', secret=True)}; {_FORM}"
    if bool(config.command) == bool(config.url):
        return f'{name} needs "command" or "url", and one of them only; {_FORM}'
    if config.type not in _KINDS:
        kind = (config.type or "")[:_SHOWN]
        return f'{name}: the type {kind!r} is not spoken here; use "stdio" or "http"'
    try:
        url = config.expanded(environment).url
    except LookupError as error:
        return f"{name}: {error.args[0]} is not in the environment; set it, or write the value"
    if config.url and not _is_url(url):
        return (
            f"{name}: {config.url[:_SHOWN]!r} is not a URL; write one such as "
            "https://example.com/mcp"
        )
    return config


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
