"""The contract of a service: how it answered when its exchanges were recorded, and what is
different about an answer now.

Compared is the form, not the values, of which any may be null: status, content type, encoding, the
types of a JSON value by path with the keys that every object has, and the columns of a CSV file or
of HTML tables.
"""

import asyncio
import csv
import json
import logging
import re
from base64 import b64decode
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from html.parser import HTMLParser
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from selfeng.core.errors import AgentError, NetworkRefused
from selfeng.core.events import ToolStandingChanged
from selfeng.core.http import Exchange, HttpResponse
from selfeng.core.protocols import ToolLibrary, ToolNetwork
from selfeng.core.tool import Tool
from selfeng.core.value import Value
from selfeng.core.verdict import Raised, Returned
from selfeng.core.visible import one_line

log = logging.getLogger(__name__)

SERVICE_CHANGED, SERVICE_UNAVAILABLE = "ServiceChanged", "ServiceUnavailable"
OF_SERVICES = (SERVICE_CHANGED, SERVICE_UNAVAILABLE, "NetworkRefused")
"""Failures of calls for which hosts are the cause."""
_LOOK = 600.0
"""Seconds between two looks whether services are to be asked again."""
_LARGEST = 1_000_000
"""Characters of a body that are read."""
_ROWS = 500
"""Rows of a table, and items of a list, that are read."""
_DEPTH = 20
_NAMED = 5
"""Differences that a sentence names."""
_INPUT_STATUS = (400, 404, 422)
"""Statuses that may be about what the call asked for."""
_FORMS = {
    "an empty text": r"",
    "a number as text": r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?",
    "a number with a decimal comma": r"[+-]?\d[\d.]*,\d+",
    "a day as text": r"\d{4}-\d\d-\d\d",
    "a moment as text": r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*",
    "a day in another order": r"\d{1,2}[./-]\d{1,2}[./-]\d{2,4}",
    "an amount with a unit": r"([^\W\d_]{1,4}|[$€£¥])? ?[+-]?\d[\d.,]* ?(\D{1,6})?",
    "an address": r"https?://\S+",
}
"""The forms of texts; any other is `a text`, where any text may follow."""
_KEY_OF_DATA = re.compile(r".*\d.*|[A-Z]{2,5}")
_MEDIA = re.compile(r"[\w.+-]+/[\w.+-]+")
_CHARSET = re.compile(r"charset=[\"']?([\w-]+)", re.IGNORECASE)

Kind = Literal["JSON", "a table", "HTML tables", "text", "nothing"]


class AnswerForm(Value):
    """The form of one answer, or of several together."""

    media: frozenset[str]
    charsets: frozenset[str]
    kinds: frozenset[Kind]
    types: Mapping[str, frozenset[str]]
    """By path, such as `rates[].day`; `{}` stands for the keys of an object whose keys are data."""
    required: frozenset[str]
    """Paths that every object above them has."""
    columns: Mapping[str, tuple[str, ...]]
    """Names of columns by table."""


def changes(recorded: Sequence[Exchange], now: Exchange) -> tuple[str, ...]:
    """How a service answers otherwise than it was recorded, in words; empty if it does not, or if
    no recorded exchange is with the same endpoint.
    """
    alike = _alike(recorded, now)
    if not alike:
        return ()
    status = now.response.status
    same_class = [e for e in alike if e.response.status // 100 == status // 100]
    if not same_class:
        is_known = any(e.request.url == now.request.url for e in alike)
        if status in _INPUT_STATUS and not is_known:
            return ()
        return (f"its status is {status} instead of {alike[0].response.status}",)
    if status >= 400:
        return ()
    if status == 204 and all(e.response.status != 204 for e in same_class):
        return ("it has no content",)
    return tuple(_differences(contract_of(same_class), _form(now.response)))[:_NAMED]


def service_failure(tool: Tool, execution: Returned | Raised) -> Raised | None:
    """The failure of a tool's call that is due to the services that it asked; None if there is
    none: an answer is of another form than recorded, or the tool raised as a service is out of
    order.
    """
    for exchange in execution.exchanges:
        host, status = urlsplit(exchange.request.url).hostname, exchange.response.status
        if isinstance(execution, Raised) and (status == 429 or status >= 500):
            problem = f"{host} answers with the status {status} now ({execution.message})"
            return execution.model_copy(
                update={"type_name": SERVICE_UNAVAILABLE, "message": problem}
            )
        if differences := changes(tool.exchanges, exchange):
            return Raised(
                type_name=SERVICE_CHANGED,
                message=f"{host} answers otherwise than recorded: {'; '.join(differences)}",
                traceback=execution.traceback if isinstance(execution, Raised) else "",
                stdout=execution.stdout,
                exchanges=execution.exchanges,
                seconds=execution.seconds,
            )
    return None


class DriftAlarm:
    """Asks the services of tools again, as probes did, and suspects the tools to which one answers
    otherwise.
    """

    def __init__(
        self,
        library: ToolLibrary,
        network: ToolNetwork,
        claim: Callable[[str, timedelta], bool],
        hours: Callable[[], int],
        *,
        then: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        """`claim`: whether a task of this name is due after a pause and this process should do it;
        blocks. `hours`: the pause; 0: never. `then` is done after each check.
        """
        self._library, self._network, self._claim, self._hours = library, network, claim, hours
        self._then = then

    async def run(self) -> None:
        """Check whenever it is due."""
        while True:
            await asyncio.sleep(_LOOK)
            with suppress(AgentError):  # the database is away
                pause = timedelta(hours=self._hours())
                claim = partial(self._claim, "services_checked", pause)
                if pause > timedelta() and await asyncio.to_thread(claim):
                    await self.check()
                    if self._then:
                        await self._then()

    async def check(self) -> tuple[ToolStandingChanged, ...]:
        """Ask now; returns which tools are suspect since then."""
        tools = await self._library.tools()
        outcomes = [await self._check(t) for t in tools if t.standing not in ("retired", "suspect")]
        return tuple(filter(None, outcomes))

    async def _check(self, tool: Tool) -> ToolStandingChanged | None:
        for url in [e.request.url for e in tool.replays if e.request.method == "GET"]:
            bound = tool.for_calls([{access.argument: url for access in tool.network}])
            lacking = await self._network.ungranted(bound)
            accesses = [access for access in bound.network if access not in lacking]
            with suppress(NetworkRefused):  # it is not allowed, or does not answer
                now = await self._network.probe(accesses, url)
                failure = service_failure(
                    tool, Raised(type_name="", message="", exchanges=(now,), seconds=0.0)
                )
                if failure and failure.type_name == SERVICE_CHANGED:
                    problem = one_line(failure.message)
                    log.warning("%s is suspect: %s", tool.name, problem)
                    return await self._library.record_change(tool.name, tool.version, problem)
        return None


def contract_of(exchanges: Sequence[Exchange]) -> AnswerForm:
    """The form of all these answers together."""
    forms = [_form(exchange.response) for exchange in exchanges]
    types: dict[str, frozenset[str]] = defaultdict(frozenset)
    for form in forms:
        for path, its in form.types.items():
            types[path] |= its
    required = {
        path
        for path in frozenset().union(*(form.required for form in forms))
        if all(path in form.required for form in forms if _above(path) in form.types)
    }
    return AnswerForm(
        media=frozenset().union(*(form.media for form in forms)),
        charsets=frozenset().union(*(form.charsets for form in forms)),
        kinds=frozenset().union(*(form.kinds for form in forms)),
        types=types,
        required=frozenset(required),
        columns=forms[0].columns,
    )


def _differences(contract: AnswerForm, form: AnswerForm) -> Iterator[str]:
    if not form.media <= contract.media:
        yield f"its content type is {_either(form.media)} instead of {_either(contract.media)}"
    if not form.charsets <= contract.charsets:
        yield f"its encoding is {_either(form.charsets)} instead of {_either(contract.charsets)}"
    if not form.kinds <= contract.kinds:
        yield f"it is {_either(form.kinds)} instead of {_either(contract.kinds)}"
        return
    yield from _moved_columns(contract, form)
    for path in sorted(contract.required - form.required):
        if _above(path) in form.types and not path.startswith(tuple(contract.columns)):
            yield f"{path} is missing"
    for path, types in sorted(contract.types.items()):
        new_types = form.types.get(path, frozenset()) - types - {"null"}
        if types == {"null"}:
            continue
        if "a text" in types:
            new_types -= {"a text", *_FORMS}
        if new_types:
            yield f"{path} is {_either(new_types)} instead of {_either(types)}"


def _moved_columns(contract: AnswerForm, form: AnswerForm) -> Iterator[str]:
    for table, columns in contract.columns.items():
        new = form.columns.get(table, ())
        if missing := [name for name in columns if name not in new]:
            yield f"{table} lacks {', '.join(missing)}"
        elif new[: len(columns)] != columns:
            yield f"the columns of {table} are in another order"


def _either(words: Iterable[str]) -> str:
    return " or ".join(sorted(words)) or "none"


def _alike(recorded: Sequence[Exchange], now: Exchange) -> list[Exchange]:
    """Those with the endpoint of an exchange: the same path, or else one with as many segments of
    which at least half are the same; and if there are some, those with the same names in the query.
    """
    its = urlsplit(now.request.url)
    ranked: dict[int, list[Exchange]] = defaultdict(list)
    for exchange in recorded:
        parts = urlsplit(exchange.request.url)
        pairs = [*zip(parts.path.split("/")[1:], its.path.split("/")[1:], strict=False)]
        count = sum(a == b for a, b in pairs)
        if (
            exchange.request.method == now.request.method
            and parts.netloc == its.netloc
            and parts.path.count("/") == its.path.count("/")
            and (parts.path == its.path or (count > 0 and 2 * count >= len(pairs)))
        ):
            ranked[count].append(exchange)
    best = ranked[max(ranked)] if ranked else []
    names = parse_qs(its.query, keep_blank_values=True).keys()
    queries = [(e, parse_qs(urlsplit(e.request.url).query, keep_blank_values=True)) for e in best]
    return [e for e, query in queries if query.keys() == names] or best


def _form(response: HttpResponse) -> AnswerForm:
    declared = dict(response.headers).get("content-type", "")
    media, charset = _MEDIA.search(declared), _CHARSET.search(declared)
    content = b64decode(response.body)
    encoding = (charset[1] if charset else "utf-8").lower().replace("_", "-")
    try:
        text = content[:_LARGEST].decode(encoding if charset else "utf-8", "strict")
    except UnicodeDecodeError as error:
        if error.start < _LARGEST - 4:
            encoding = f"not {encoding}"
        text = content[:_LARGEST].decode("latin-1")
    except LookupError:
        text = content[:_LARGEST].decode("latin-1")
    facts = _Facts()
    kind = facts.read(text.removeprefix("\ufeff"), media[0] if media else "")
    return AnswerForm(
        media=frozenset({media[0].lower()} if media else ()),
        charsets=frozenset({encoding}),
        kinds=frozenset({kind}),
        types={path: frozenset(types) for path, types in facts.types.items()},
        required=frozenset(facts.required()),
        columns=facts.columns,
    )


class _Facts:
    """The facts about a body."""

    def __init__(self) -> None:
        self.types: dict[str, set[str]] = defaultdict(set)
        self.columns: dict[str, tuple[str, ...]] = {}
        self._objects: dict[str, int] = defaultdict(int)
        self._keys: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))

    def required(self) -> Iterator[str]:
        for path, keys in self._keys.items():
            yield from (
                f"{path}.{key}" for key, count in keys.items() if count == self._objects[path]
            )

    def read(self, text: str, media: str) -> Kind:
        start = text.lstrip()[:200].lower()
        if not start:
            return "nothing"
        if start.startswith(("{", "[")) or "json" in media:
            try:
                self._add("value", json.loads(text), 0)
                return "JSON"
            except (ValueError, RecursionError):
                if "json" in media and not start.startswith("<"):
                    return "text"
        if start.startswith("<"):
            parser = _Tables()
            parser.feed(text)
            tables = [rows for rows in parser.tables if rows]
            for number, rows in enumerate(tables, 1):
                self._add_table(f"table {number}", rows)
            return "HTML tables" if tables else "text"
        rows = _rows(text)
        if rows:
            self._add_table("the table", rows)
        return "a table" if rows else "text"

    def _add_table(self, name: str, rows: Sequence[Sequence[str]]) -> None:
        header, *values = rows[: _ROWS + 1]
        self.columns[name] = tuple(cell.strip() for cell in header)
        self.types[name].add("rows" if values else "no rows")
        for row in values:
            for column, cell in zip(self.columns[name], row, strict=False):
                self.types[f"{name}: {column}"].add(_type(cell.strip()))

    def _add(self, path: str, value: Any, depth: int) -> None:
        self.types[path].add(_type(value))
        if depth == _DEPTH:
            return
        match value:
            case list():
                for item in value[:_ROWS]:
                    self._add(f"{path}[]", item, depth + 1)
            case dict() if value and _has_keys_of_data(value):
                for item in [*value.values()][:_ROWS]:
                    self._add(f"{path}{{}}", item, depth + 1)
            case dict():
                self._objects[path] += 1
                for key, item in value.items():
                    self._keys[path][key] += 1
                    self._add(f"{path}.{key}", item, depth + 1)


def _has_keys_of_data(value: Mapping[str, Any]) -> bool:
    return all(map(_KEY_OF_DATA.fullmatch, value)) and len({*map(type, value.values())}) == 1


def _type(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "a truth value"
        case int() | float():
            return "a number"
        case list():
            return "a list" if value else "an empty list"
        case dict():
            return "an object"
    return next(
        (form for form, pattern in _FORMS.items() if re.fullmatch(pattern, value)), "a text"
    )


def _above(path: str) -> str:
    return path.rpartition(".")[0]


def _rows(text: str) -> list[list[str]]:
    """The rows of a delimited text; empty if it is none."""
    lines = [line for line in text.splitlines() if line.strip()][: _ROWS + 1]
    for delimiter in ",;\t|":
        rows = [*csv.reader(lines, delimiter=delimiter)]
        if rows and len(rows[0]) > 1 and len({len(row) for row in rows}) == 1:
            return rows
    return []


class _Tables(HTMLParser):
    """The cells of the tables of a page, by row."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th") and self.tables and self.tables[-1]:
            self.tables[-1][-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "tr", "table"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.tables[-1][-1][-1] += data
