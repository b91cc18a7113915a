"""The settings: one frozen object, read from the environment, `.env` and what people chose in the
page when `load_settings` is called.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from math import log2
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, get_args

from dotenv import dotenv_values
from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from selfeng.core.choices import CHOICES, read_choices
from selfeng.core.errors import ConfigurationError
from selfeng.core.files import MB, FileLimits, LargeFiles
from selfeng.core.places import HOME
from selfeng.core.private import close_to_others
from selfeng.core.visible import hidden, one_line

ENV_FILE = HOME / ".env"
CHANGEABLE = (
    "openai_base_url",
    "openai_api_key",
    "openai_model",
    "openai_timeout",
    "turn_max_seconds",
    "turn_max_calls",
    "turn_max_tokens",
    "turn_max_cost",
    "month_max_cost",
    "keep_days",
    "synthesis_candidates",
    "synthesis_max_repairs",
    "lessons_learn",
    "library_changes",
    "turns_max_running",
    "turns_max_per_person",
    "turns_max_waiting",
)
"""Settings that can be changed in the page, while the engine runs."""

_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:{_PART}(?::\d+)?/)?{_PART}(?:/{_PART})*(?::\w[\w.-]{{0,127}})?(@sha256:[0-9a-f]{{64}})?",
    re.ASCII,
)
_SQLITE = "sqlite:///"
_HOST = re.compile(r"(?:https?://)?(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])", re.ASCII | re.IGNORECASE)
_ENGINE = re.compile(r"(?:tcp|ssh)://[^\s/]+|unix:///\S+", re.ASCII)
_HEADER = re.compile(r"[\w!#$%&'*+.^`|~-]+", re.ASCII)
_OWN_HEADERS = {"host", "content-length", "content-type", "transfer-encoding", "connection"}
_NAME = r"^[a-z0-9][a-z0-9_.-]*$"
"""A name of an entry point."""
_SHOWN = 200
"""Characters of a value that an error shows."""
_LONGEST = 10_000
"""Characters of a text."""
_SHORTEST_TOKEN, _TOKEN_BITS = 16, 64
_DRAW = "python3 -c 'import secrets; print(secrets.token_urlsafe(24))'"


def _image(name: str) -> str:
    if not _IMAGE.fullmatch(name):
        raise ValueError(
            "should be the name of an image, such as self-eng-sandbox or "
            "registry.example:5000/team/sandbox:2"
        )
    return name


def _headers_in(setting: SecretStr | None) -> dict[str, str]:
    """Headers by name. Raises: ValueError: names the part by its number, and never a value."""
    text = setting.get_secret_value() if setting else ""
    if text.startswith("{"):
        try:
            fields = json.loads(text)
        except ValueError as error:
            raise ValueError(f"is not a JSON object: {error}") from None
        parts = list(fields.items())
    else:
        pairs = (part.partition(":") for part in re.split(r"[;\n]", text) if part.strip())
        parts = [(name.strip(), value.strip()) for name, _, value in pairs]
    for number, (name, value) in enumerate(parts, 1):
        if problem := _header_problem(name, value):
            raise ValueError(
                f"header {number} {problem}; write `Name: value; Other: value`, or a JSON object "
                'such as {"Name": "value"}, which may have a semicolon in a value'
            )
    return dict(parts)


def _header_problem(name: str, value: Any) -> str:
    if not _HEADER.fullmatch(name):
        return "has no name of letters, digits and hyphens before a colon"
    if not value:  # what looks like a name may be a secret
        return "has no value after a colon"
    if name.lower() in _OWN_HEADERS:
        return f"is {name}, which is set by the client"
    if not isinstance(value, str) or not (value.isascii() and value.isprintable()):
        return f"is {name}, whose value is not printable ASCII text"
    return ""


def _hidden(secret: re.Match[str]) -> str:
    return "//***@" if secret[0].startswith("//") else "?***"


def _bits(token: str) -> float:
    """How hard a token is to guess, as an estimate: characters that continue a sequence, a run or a
    repeated part add nothing.
    """
    kinds = [(str.isdigit, 10), (str.islower, 26), (str.isupper, 26)]
    alphabet = sum(size for is_kind, size in kinds if any(map(is_kind, token))) + 32 * (
        not token.isalnum()
    )
    bits, pairs, step = 0.0, set[str](), None
    for before, character in zip(token[:1] + token, token, strict=False):
        pair, last, step = (before + character).lower(), step, ord(character) - ord(before)
        bits += 0 if pair in pairs or step == last else log2(alphabet)
        pairs.add(pair)
    return bits


def _plain(value: Any, info: ValidationInfo) -> Any:
    """Texts, also secret ones, are short and have no characters that act; only the lines of
    OPENAI_HEADERS, which `_headers_in` reads, may end.
    """
    for item in value if isinstance(value, list | tuple) else (value,):
        text = item.get_secret_value() if isinstance(item, SecretStr) else str(item)
        if len(text) > _LONGEST:
            raise ValueError(f"has {len(text):,} characters, more than {_LONGEST:,}")
        if info.field_name == "openai_headers":
            text = text.replace("\n", "")
        if character := hidden(text, one_line):
            raise ValueError(f"has a character that acts or hides, such as {character}")
    return value


Image = Annotated[str, AfterValidator(_image)]
Folder = Annotated[Path, AfterValidator(lambda folder: HOME / folder)]


class Settings(BaseSettings):
    """All settings; each is the environment variable of the same name in capitals."""

    model_config = SettingsConfigDict(
        env_file=ENV_FILE,
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        allow_inf_nan=False,
    )

    openai_api_key: SecretStr | None = None
    """Key of the model's server; without it and OPENAI_BASE_URL: the offline model."""
    openai_base_url: str | None = Field(None, pattern=r"^https?://\S+$")
    """OpenAI-compatible server, such as Ollama, with its query if any; empty: OpenAI's."""
    openai_headers: SecretStr | None = None
    """Additional headers for the model's server: `Name: value; Other: value`, or a JSON object."""
    openai_model: str = Field("gpt-4", min_length=1)
    """Name of the model."""
    openai_api: str = Field("auto", pattern=_NAME)
    """`chat` completions, `responses`, or `auto`: responses at OpenAI and Azure's v1 address, else
    chat, or the one that exists. Or the name of a provider that an installed package has."""
    openai_timeout: float = Field(60.0, gt=0, le=3600)
    """Seconds to wait for a reply or its next piece."""
    openai_max_retries: int = Field(3, ge=0, le=10)
    """Retries after 429, 5xx or a broken connection."""

    turn_max_calls: int = Field(40, ge=1, le=100_000)
    """Model calls of one turn."""
    turn_max_tokens: int = Field(400_000, ge=1, le=10**9)
    """Input and output tokens of one turn."""
    turn_max_seconds: float = Field(600.0, gt=0, le=604_800)
    """Seconds after which a turn makes no further model call."""
    turn_max_cost: float | None = Field(None, ge=0, le=1_000_000)
    """US dollars of one turn; empty: no limit."""
    month_max_cost: float | None = Field(None, ge=0, le=1_000_000)
    """US dollars of all turns in a calendar month, UTC; empty: no limit."""
    keep_days: int = Field(0, ge=0, le=36_500)
    """Days that a conversation without new turns is kept, unless pinned; 0: no limit."""

    similarity_threshold: float = Field(0.75, ge=0, le=1)
    """Confidence that a tool needs where the model makes no choice."""
    embedder: Literal["minilm", "openai"] = "minilm"
    """The embedder of tools: `minilm` on this machine, `openai` at the model's server."""
    openai_embedding_model: str = Field("text-embedding-3-small", min_length=1, max_length=100)
    """Embedding model for EMBEDDER=openai."""
    openai_embedding_dimensions: int | None = Field(None, ge=1, le=10_000)
    """Length of its vectors; empty: known for OpenAI's models."""
    search_floor: float = Field(0.05, ge=0, le=1)
    """Confidence, below SIMILARITY_THRESHOLD, that a tool needs, if all better ones are wrong, for
    the model to choose it; 0: any."""
    synthesis_max_repairs: int = Field(3, ge=0, le=20)
    """Repairs of an implementation that fails its tests."""
    synthesis_candidates: int = Field(3, ge=1, le=8)
    """Implementations written in parallel to vote on the tests; 1: no vote."""
    synthesis_mutation_score: float = Field(0.5, ge=0, le=1)
    """Share of mutants that a suite should notice, or the model adds tests once; 0: no mutants."""

    library_changes: Literal["auto", "ask"] = "auto"
    """ask: new tools and versions wait until you accept them."""
    trust_after: int = Field(3, ge=1, le=100)
    """Different calls after which a tool is trusted."""
    retire_after: int = Field(3, ge=1, le=100)
    """Failures in a row after which a tool is retired."""

    services_check_hours: int = Field(24, ge=0, le=8760)
    """Hours after which services that tools use are asked again, by recorded probes, whether they
    still answer in the same form; 0: never."""

    lessons_learn: bool = True
    """Learn from turns in the background; `selfeng learn` always does."""
    lessons_shown: int = Field(4, ge=0, le=10)
    """Lessons that one agent sees."""
    lessons_max_calls: int = Field(3, ge=1, le=1000)
    """Model calls for learning from one turn."""
    lessons_max_tokens: int = Field(20_000, ge=1, le=10**9)
    """Input and output tokens for learning from one turn."""
    lessons_max_seconds: float = Field(120.0, gt=0, le=604_800)
    """Seconds for learning from one turn."""
    lessons_expire_days: int = Field(90, ge=1, le=36_500)
    """Days after which an unused lesson expires."""

    sandbox: str = Field("auto", pattern=_NAME)
    """Where generated code runs: `docker`, `bubblewrap`, or `auto` for the first that works. Or the
    name of a backend that an installed package has."""
    sandbox_runtime: str | None = Field(None, pattern=r"^[\w./-]+$")
    """Runtime of the Docker engine, such as `runsc` for gVisor; empty: its default."""
    docker_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    """Docker engines, comma-separated, such as tcp://a:2376,tcp://b:2376; empty: DOCKER_HOST. The
    least busy that answers is used."""
    docker_image_name: Image = "self-eng-sandbox"
    """Name of the sandbox image."""
    base_image: Image | None = None
    """Base of the sandbox image; empty: python:3.12-slim, or a local python:3.x-slim."""
    docker_timeout: float = Field(30.0, gt=0, le=3600)
    """Processor seconds of a run in the sandbox; it may wait three times as long."""
    call_max_seconds: float = Field(3600.0, gt=0, le=14_400)
    """Processor seconds that a person may allow one call of a tool."""

    files_max_count: int = Field(10, ge=1, le=100)
    """Files of a request, and of a tool's result, which has at most 8 MB."""
    file_max_mb: int = Field(100, ge=1, le=10_000)
    """Megabytes of one file of a request."""
    files_max_mb: int = Field(500, ge=1, le=100_000)
    """Megabytes of a request's files together."""

    chroma_persist_dir: Folder = Path("./chroma_db")
    """Folder of the search index; it is rebuilt if deleted."""
    chroma_url: str | None = Field(None, pattern=r"^https?://\S+$")
    """Chroma server for the index, such as http://chroma:8000, shared by several processes; empty:
    CHROMA_PERSIST_DIR."""
    tools_dir: Folder = Path("./tools")
    """Folder of the tools."""
    data_dir: Folder = Path("./data")
    """Folder of the database, models, sandbox packages and keys."""
    parts_dir: Folder | None = None
    """Folder of embedding model and sandbox packages, shared by several DATA_DIR; empty:
    DATA_DIR."""
    database_url: str = Field("", pattern=r"^(|sqlite:///.+|postgresql\+psycopg://.+)$")
    """SQLAlchemy URL, sqlite:///... or postgresql+psycopg://...; empty: SQLite in DATA_DIR."""

    flask_host: str = Field("0.0.0.0", min_length=1)  # noqa: S104 - the reference's default; the access token guards it
    """Address of the page; 127.0.0.1: this machine only."""
    flask_port: int = Field(5000, ge=0, le=65535)
    """Port of the page; 0: any free one."""
    https_certificate: Folder | None = None
    """Certificate of the page, a PEM file with those above it; empty: http."""
    https_key: Folder | None = None
    """Its private key, a PEM file; needed with HTTPS_CERTIFICATE."""
    access_token: SecretStr | None = None
    """Token that opens the page, at least 16 characters that are hard to guess; empty: a new one at
    each start."""
    allowed_hosts: Annotated[tuple[str, ...], NoDecode] = ()
    """More names or addresses of the page, comma-separated; `https://agent.example` allows only
    https."""
    connections_max_per_address: int = Field(128, ge=8, le=1_000_000)
    """Connections of one address other than this machine's; raise it for a proxy."""
    program_requests_per_minute: int = Field(6000, ge=0, le=10_000_000)
    """Requests of programs per process, on average and in a burst; 0: no limit."""
    hook_requests_per_minute: int = Field(0, ge=0, le=10_000_000)
    """Signed requests that begin runs of schedules, per process, at /hooks/; 0: none are taken."""
    watched_folders: Annotated[tuple[Folder, ...], NoDecode] = ()
    """Folders, comma-separated, whose new files may begin runs of schedules; empty: none."""
    turns_max_running: int = Field(24, ge=1, le=1000)
    """Requests that run at once in all processes on one database; more wait in a queue."""
    turns_per_process: int = Field(24, ge=0, le=1000)
    """Requests that one process runs at once; 0: leave all to `selfeng worker`."""
    worker_port: int = Field(5001, ge=0, le=65535)
    """Port of a worker's `/healthz`; 0: none."""
    turns_max_per_person: int = Field(16, ge=1, le=1000)
    """Requests of one person that run at once, two thirds of them in one conversation."""
    turns_max_waiting: int = Field(100, ge=1, le=1000)
    """Requests that may wait; one person has two thirds, a conversation two thirds of those."""
    async_mode: Literal["eventlet", "threading"] = "eventlet"
    """Server of Flask-SocketIO: `eventlet` or `threading`."""

    development: bool = False
    """Serve the page's sources for work on it, and `/gallery`."""

    mcp_tools: Literal["trusted", "all", "none"] = "trusted"
    """Tools that other programs' agents see by name, at most 40: `trusted`, `all` or `none`."""

    mcp_servers: Path | None = None
    """File with the MCP servers that the agent may use; empty: `mcp.json` in DATA_DIR."""
    mcp_timeout: float = Field(60.0, gt=0, le=3600)
    """Seconds that a call of another MCP server may take without progress."""

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "WARNING"
    """DEBUG, INFO, WARNING or ERROR, to stderr; INFO logs set-up, stages, model calls and library
    changes, without people's words."""

    _chosen_names: frozenset[str] = PrivateAttr(frozenset())

    @model_validator(mode="before")
    @classmethod
    def _strip(cls, values: Any) -> Any:
        """A blank value counts as not set."""
        stripped = {
            name: value.strip() if isinstance(value, str) else value
            for name, value in values.items()
        }
        return {name: value for name, value in stripped.items() if value != ""}

    _are_plain = field_validator("*", mode="before")(_plain)

    @field_validator("search_floor")
    @classmethod
    def _below_the_threshold(cls, floor: float, info: ValidationInfo) -> float:
        threshold = info.data.get("similarity_threshold", 1.0)
        if floor and floor >= threshold:
            raise ValueError(
                f"should be below SIMILARITY_THRESHOLD={threshold:g}, or 0 to always ask the model"
            )
        return floor

    @field_validator("database_url")
    @classmethod
    def _resolve(cls, url: str) -> str:
        path = url.removeprefix(_SQLITE)
        return f"{_SQLITE}{HOME / path}" if path not in {url, ":memory:"} else url

    @field_validator("allowed_hosts", "docker_hosts", "watched_folders", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        return (
            tuple(h.strip() for h in value.split(",") if h.strip())
            if isinstance(value, str)
            else value
        )

    @field_validator("allowed_hosts")
    @classmethod
    def _are_hosts(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        for host in hosts:
            if not _HOST.fullmatch(host):
                raise ValueError(
                    f"{host[:80]!r} should be a host such as agent.example or "
                    "https://agent.example, without a port or a path"
                )
        return hosts

    @field_validator("docker_hosts")
    @classmethod
    def _are_engines(cls, addresses: tuple[str, ...]) -> tuple[str, ...]:
        for address in addresses:
            if not _ENGINE.fullmatch(address):
                raise ValueError(
                    f"{address[:80]!r} should be an engine's address, such as tcp://a:2376, "
                    "ssh://user@a or unix:///run/docker.sock"
                )
        if len(set(addresses)) < len(addresses):
            raise ValueError("names an engine twice")
        return addresses

    @field_validator("access_token")
    @classmethod
    def _is_hard_to_guess(cls, token: SecretStr | None) -> SecretStr | None:
        if token and (
            len(token.get_secret_value()) < _SHORTEST_TOKEN
            or _bits(token.get_secret_value()) < _TOKEN_BITS
        ):
            short = len(token.get_secret_value()) < _SHORTEST_TOKEN
            problem = (
                f"has fewer than {_SHORTEST_TOKEN} characters" if short else "is too easy to guess"
            )
            raise ValueError(
                f"{problem}; leave it empty for a new one at each start, or make one: {_DRAW}"
            )
        return token

    @field_validator("openai_headers")
    @classmethod
    def _are_headers(cls, headers: SecretStr | None) -> SecretStr | None:
        _headers_in(headers)
        return headers

    @property
    def headers(self) -> dict[str, str]:
        """Additional headers of every request to the model's server; the values may be secrets."""
        return _headers_in(self.openai_headers)

    @property
    def chosen(self) -> dict[str, Any]:
        """The settings that people changed in the page, by name."""
        return {name: getattr(self, name) for name in CHANGEABLE if name in self._chosen_names}

    @property
    def fixed(self) -> frozenset[str]:
        """Those of `CHANGEABLE` that can't be chosen, because they were set otherwise. A line of
        `.env` that repeats a default, as in the template, fixes nothing; a key or a header fixes
        its server, as nobody else may get it.
        """
        explicit_names = self.model_fields_set - self._chosen_names
        fixed = {
            name
            for name in CHANGEABLE
            if name in explicit_names
            and getattr(self, name) != type(self).model_fields[name].default
        }
        bound = "openai_api_key" in fixed or self.openai_headers is not None
        return frozenset(fixed | ({"openai_base_url"} if bound else set()))

    def choose(self, choices: Mapping[str, Any]) -> "Settings":
        """The settings with these choices instead of earlier ones; what is fixed stays.

        Raises:
            ValidationError: a value is not allowed, or a setting can't be chosen.
        """
        free = {name: value for name, value in choices.items() if name not in self.fixed}
        values = dict(Choices.model_validate(free))
        defaults = {name: type(self).model_fields[name].default for name in self._chosen_names}
        changed = self.model_copy(update=defaults | {name: values[name] for name in free})
        changed._chosen_names = frozenset(free)
        return changed

    @property
    def file_limits(self) -> FileLimits:
        """How much may go into a turn."""
        size, each = self.files_max_mb * MB, self.file_max_mb * MB
        return FileLimits(count=self.files_max_count, size=size, each=min(size, each))

    @property
    def result_limits(self) -> FileLimits:
        """How much may come out of one call."""
        return FileLimits(count=self.files_max_count)

    @property
    def large_files(self) -> LargeFiles:
        """Where large files are; those unused for hours are removed."""
        return LargeFiles(self.data_dir / "files")

    @property
    def offline(self) -> bool:
        """Whether the built-in offline model is in use."""
        return self.openai_api_key is None and self.openai_base_url is None

    @property
    def parts(self) -> Path:
        """Folder of what set-up makes."""
        return self.parts_dir or self.data_dir

    @property
    def mcp_config(self) -> Path:
        """The file with the other MCP servers."""
        return HOME / (self.mcp_servers or self.data_dir / "mcp.json")

    @property
    def database(self) -> str:
        """SQLAlchemy URL of the database."""
        return self.database_url or f"{_SQLITE}{self.data_dir / 'agent.db'}"


_chosen_fields: dict[str, Any] = {
    name: (Settings.model_fields[name].annotation, Settings.model_fields[name])
    for name in CHANGEABLE
}
Choices = create_model(
    "Choices",
    __config__=ConfigDict(extra="forbid", allow_inf_nan=False),
    __validators__={"_are_plain": field_validator("*", mode="before")(_plain)},
    **_chosen_fields,
)
"""The values that people choose in the page, by the same rules."""


def load_settings(
    env_file: str | Path | None = ENV_FILE, given: Mapping[str, Any] = MappingProxyType({})
) -> Settings:
    """Read the settings from what is `given`, the environment, `env_file`, by default the
    project's, and what people chose in the page; the first wins.

    Raises:
        ConfigurationError: the file can't be read, a given setting is unknown, or a value is not
            allowed; names the variable, the value and what is allowed.
    """
    for name in given:
        if name not in Settings.model_fields:
            near = get_close_matches(name, Settings.model_fields, 1)
            raise ConfigurationError(
                f"there is no setting {name!r}",
                f"did you mean {near[0]}?" if near else "docs/usage.md lists the settings",
            )
    place = "in the environment or in .env; .env.example lists what is allowed"
    if given:
        place = f"in the arguments, {place}"
    try:
        with _readable(env_file):
            settings = Settings(_env_file=env_file, **given)
        place = f"or delete {settings.data_dir / CHOICES}"
        stored = read_choices(settings.data_dir)
        return settings.choose({name: stored[name] for name in CHANGEABLE if name in stored})
    except ValidationError as error:
        problems = []
        for detail in error.errors():
            variable = str(detail["loc"][0]).upper()
            value_text = (
                "(hidden)"
                if SecretStr in get_args(Settings.model_fields[variable.lower()].annotation)
                else re.sub(r"//[^/]*@|\?[^'\"]*", _hidden, repr(detail["input"]))[:_SHOWN]
            )
            problems.append(
                f"{variable}={value_text}: {detail['msg'].removeprefix('Value error, ')}"
            )
        raise ConfigurationError(
            "; ".join(problems),
            f"correct it {place}",
        ) from error


def export_env_file(env_file: Path = ENV_FILE) -> None:
    """Put the variables of `env_file` that are not settings, such as a proxy, into the environment
    of this process, for libraries and children; a variable that is set stays. For programs, which
    call it first; a library leaves the environment alone.

    Raises:
        ConfigurationError: the file can't be read.
    """
    with _readable(env_file):
        variables = dotenv_values(env_file)
    for name, value in variables.items():
        if value is not None and name.lower() not in Settings.model_fields:
            os.environ.setdefault(name, value)


@contextmanager
def _readable(env_file: str | Path | None) -> Iterator[None]:
    try:
        yield
    except UnicodeDecodeError as error:
        raise ConfigurationError(
            f"{env_file} is not UTF-8 text: {error.reason} at byte {error.start}",
            "save it as UTF-8",
        ) from error
    except OSError as error:
        raise ConfigurationError(
            f"{env_file} can't be read: {error.strerror}", "correct its permissions, or delete it"
        ) from error


def make_folders(settings: Settings) -> None:
    """Make the folders that are missing, check that they are writable, and keep other users out of
    DATA_DIR.

    Raises:
        ConfigurationError: one can't be used; names the variable and the folder.
    """
    for name in ("data_dir", "parts_dir", "tools_dir", "chroma_persist_dir"):
        folder: Path | None = getattr(settings, name)
        if folder is None:
            continue
        private = name in ("data_dir", "parts_dir")
        try:
            folder.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
            if private:
                close_to_others(folder)
        except (OSError, ValueError) as error:
            problem = (
                "is not a folder"
                if isinstance(error, FileExistsError)
                else getattr(error, "strerror", None) or str(error)
            )
            raise ConfigurationError(
                f"{name.upper()}={str(folder)!r} can't be used: {problem}",
                f"set {name.upper()} to a writable folder",
            ) from error
