"""The value that a tool returned, kept whole: what kind it is, and how people and models see it."""

import csv
import hashlib
import io
import json
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Literal, NamedTuple

from selfeng.core.files import MB
from selfeng.core.value import Value
from selfeng.core.words import LEFT_OUT, count, for_people, shortened

LARGEST = 8 * MB
"""Characters of the JSON of a value that is kept."""
LONG = 400
"""Bytes of JSON; page and terminal show a longer value themselves, and the answer leaves it out."""
IN_SHORT = "in short:"
"""The words before the summary of a long value, for a model."""
NAMED = 5
"""Earlier values of a conversation that a request comes with, the newest ones, and at least as many
that it can refer to where there are.
"""
BEGINS = 200
_COLUMNS = 100
"""A table has at most as many, and what is known of it names them."""
_NAME = 80
_DESCRIBED = 20
"""Columns or members that a summary describes."""
_PART = 240
"""Characters of a part of a value in a summary."""
_TEXT = 800
_PRETTY: dict[str, Any] = {"ensure_ascii": False, "indent": 2}
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\d*\.?\d+(?:e[+-]?\d+)?$)", re.IGNORECASE)
"""How a text begins that a spreadsheet would run, which a number with a sign is not."""

ResultKind = Literal["nothing", "truth", "number", "text", "list", "table", "json"]
_KINDS: dict[type, ResultKind] = {
    type(None): "nothing",
    bool: "truth",
    int: "number",
    float: "number",
    str: "text",
    list: "list",
    dict: "json",
}
_OTHER_FORMS: dict[ResultKind, tuple[ResultKind, ...]] = {
    "table": ("list", "json"),
    "nothing": ("truth", "number", "text", "list", "json"),
}
"""Kinds that a right value may have instead of the wrong value's kind."""
_PARTS: dict[ResultKind, tuple[str, str]] = {
    "list": ("a list", "item"),
    "json": ("an object", "member"),
    "text": ("a text", "character"),
}
ResultFormat = Literal["csv", "json", "text"]


class ResultReference(Value):
    """The metadata of a value, without the value itself."""

    sha256: str
    """Of its canonical JSON: UTF-8, without spaces, members in their order."""
    kind: ResultKind
    size: int
    """Bytes of that JSON."""
    count: int = 0
    """Rows of a table, items of a list, members of an object, characters of a text."""
    columns: tuple[str, ...] = ()
    """Of a table, or of an object's only table."""
    exact: bool = True
    """Whether the JSON says exactly what the tool returned; otherwise text stands for dates, NaN
    and the like.
    """

    @property
    def long(self) -> bool:
        """Whether page and terminal show it themselves."""
        return self.size > LONG

    @property
    def referable(self) -> bool:
        """Whether arguments of later calls may refer to it; what is short is written out."""
        return self.kind in ("table", "list", "json") or self.long

    @property
    def shape(self) -> str:
        """Such as `a table of 360 rows and 4 columns`."""
        if self.kind == "table":
            return f"a table of {count(self.count, 'row')} and {count(len(self.columns), 'column')}"
        if self.kind not in _PARTS:
            return f"a {self.kind}" if self.kind == "number" else self.kind
        container, part = _PARTS[self.kind]
        return f"{container} of {count(self.count, part)}"


class Result(Value):
    """A value of a conversation."""

    reference: ResultReference
    content: str
    """Its canonical JSON."""

    @property
    def summary(self) -> str:
        """The summary of a long value for a model: its parts with their ranges, and both ends."""
        return summary(json.loads(self.content))

    def in_format(self, form: ResultFormat) -> str:
        """The value as a file for a person; a spreadsheet runs nothing of its CSV."""
        value = json.loads(self.content)
        if form == "csv":
            return _csv(value, _harmless)
        return as_text(value, form) + ("\n" if form == "json" else "")


class EarlierResult(Value):
    """A value that a tool returned before in the conversation."""

    id: str
    """Such as `r2`, for references to it."""
    turn_id: str
    request: str
    """Of the turn."""
    standalone: str = ""
    """The same, as the model rewrote it to stand alone; "" if it did not."""
    tool: str
    arguments: str = ""
    """JSON of what it was called with; "" if no record has them."""
    begins: str
    """The first characters of its JSON."""
    reference: ResultReference


class EarlierCall(Value):
    """A call of a tool whose value an earlier answer was written from. Private: it is its owner's,
    and ends with its conversation.
    """

    conversation_id: str
    turn_id: str
    request: str
    seq: int
    """Number of the event that brought the value."""
    arguments: str
    """JSON of an object; "" if no record has them."""
    content: str
    """The canonical JSON of the value."""
    at: datetime
    """When it returned, UTC."""


class ChangedAnswer(Value):
    """An earlier answer for whose call a tool returns something else now."""

    conversation_id: str
    turn_id: str
    request: str
    arguments: str
    before: str
    after: str
    """Both values begin as JSON; `after` may also say that the tool raises now."""


class RecomputedAnswers(Value):
    """A person's earlier answers of former versions of a tool, computed again by the newest one;
    nothing is rewritten.
    """

    tool: str
    version: int
    computed: int
    unknown: int
    """Those whose arguments or files are not kept."""
    changed: tuple[ChangedAnswer, ...]
    """The newest first."""


class TaughtRow(Value):
    """A call of a tool, and the value that a person says is right."""

    arguments: dict[str, Any]
    value: Any


class ToolEdit(Value):
    """How a person changes a tool."""

    code: str = ""
    """Python source; "" for the code as it is, and likewise below."""
    tests: str = ""
    rows: tuple[TaughtRow, ...] = ()
    """Each is a test of its own."""


class Dispute(Value):
    """A person's disagreement with an earlier result."""

    kind: Literal["dispute"] = "dispute"
    result: EarlierResult
    complaint: str
    """One sentence."""
    expected: str = ""
    """JSON of the right value; "" if the person does not give it as a value of that kind."""
    rows: tuple[TaughtRow, ...] = ()
    """Further calls with the right values."""

    @property
    def arguments(self) -> dict[str, Any] | None:
        """Those of the call, by parameter; None if no record has all of them."""
        text = self.result.arguments
        return json.loads(text) if text and LEFT_OUT not in text else None

    @property
    def requests(self) -> tuple[str, ...]:
        """The forms of the request that the result was for."""
        return tuple(filter(None, (self.result.request, self.result.standalone)))


def expected_value(kind: ResultKind, text: str) -> str:
    """JSON of the right value as a person writes it, as JSON or a text; "" if it is not of the kind
    that the tool returned.
    """
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if kind == "text" and not isinstance(value, str):
        value = text
    fits = value is not None and _KINDS[type(value)] in (kind, *_OTHER_FORMS.get(kind, ()))
    return canonical(value) if fits else ""


class Table(NamedTuple):
    columns: tuple[str, ...]
    rows: list[list[Any]]
    """A cell that a row lacks is None."""


def is_deep(value: Any, levels: int) -> bool:
    """Whether the lists and objects of JSON lie more than so many levels within each other."""
    level = [value]
    for _ in range(levels):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return any(isinstance(inner, dict | list) for inner in level)


def canonical(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def reference_to(value: Any, content: str, *, exact: bool = True) -> ResultReference:
    """The metadata of a value, from the value and its canonical JSON."""
    encoded, table, main = content.encode(), table_of(value), main_table(value)
    return ResultReference(
        sha256=hashlib.sha256(encoded).hexdigest(),
        kind="table" if table else _KINDS[type(value)],
        size=len(encoded),
        count=len(table.rows) if table else len(value) if hasattr(value, "__len__") else 0,
        columns=tuple(name[:_NAME] for name in main.columns) if main else (),
        exact=exact,
    )


def table_of(value: Any) -> Table | None:
    """The value as a table: rows as objects or as lists of one length, or columns by their names;
    None if it is nothing of that kind.
    """
    match value:
        case [dict(), *_] if all(isinstance(row, dict) for row in value):
            columns = tuple(dict.fromkeys(name for row in value for name in row))
            rows = [[row.get(name) for name in columns] for row in value]
        case [[_, _, *_], *_] if len({_width(row) for row in value}) == 1:
            head, body = value[0], value[1:]
            titled = len({*map(str, head)}) == len(head) and _is_title(head, body)
            columns = tuple(head) if titled else tuple(str(n + 1) for n in range(len(head)))
            rows = body if titled else value
        case dict() if len(value) > 1 and _are_columns(list(value.values())):
            columns = tuple(value)
            rows = [list(row) for row in zip(*value.values(), strict=True)]
        case _:
            return None
    return Table(columns, rows) if 0 < len(columns) <= _COLUMNS else None


def main_table(value: Any) -> Table | None:
    """The value as a table, or the only table among the members of an object."""
    parts = value.values() if isinstance(value, dict) else ()
    inner = [table for part in parts if (table := table_of(part))]
    return table_of(value) or (inner[0] if len(inner) == 1 else None)


def _width(row: Any) -> int:
    return len(row) if isinstance(row, list) else -1


def _is_title(head: Sequence[Any], body: Sequence[Sequence[Any]]) -> bool:
    """Whether the first row names the columns: it has only texts, and a later one has others."""
    return all(isinstance(cell, str) for cell in head) and any(
        not isinstance(cell, str) for row in body for cell in row
    )


def _are_columns(values: list[Any]) -> bool:
    return all(isinstance(column, list) for column in values) and len({*map(len, values)}) == 1


def summary(value: Any) -> str:
    """The summary of a long value for a model: its shape, its parts with their ranges, and both
    ends.
    """
    if table := table_of(value):
        return "\n".join(_of_table(table))
    match value:
        case str():
            return shortened(value, _TEXT)
        case list():
            return "\n".join([_described(value), *_ends("item", value)])
        case dict():
            members = list(value.items())[:_DESCRIBED]
            lines = [f"- {_part(name)}: {_brief(item)}" for name, item in members]
            inner = main_table(value)
            return "\n".join([*lines, *(_of_table(inner) if inner else ())])
        case _:
            return shortened(canonical(value), _TEXT)


def _of_table(table: Table) -> Iterable[str]:
    yield "columns:"
    for n, name in enumerate(table.columns[:_DESCRIBED]):
        yield f"- {name[:_NAME]}: {_described([row[n] for row in table.rows])}"
    yield from _ends("row", [dict(zip(table.columns, row, strict=True)) for row in table.rows])


def _ends(noun: str, parts: Sequence[Any]) -> Iterable[str]:
    yield from (f"{noun} {n + 1}: {_part(part)}" for n, part in enumerate(parts[:3]))
    if len(parts) > 3:
        yield f"{noun} {len(parts)}, the last: {_part(parts[-1])}"


def _described(cells: Sequence[Any]) -> str:
    """The kind of the cells, and their range."""
    values = [cell for cell in cells if cell is not None]
    empty = f", {len(cells) - len(values)} empty" if len(values) < len(cells) else ""
    numbers = [cell for cell in values if type(cell) in (int, float)]
    if numbers and len(numbers) == len(values):
        return f"numbers from {min(numbers)} to {max(numbers)}{empty}"
    if not (texts := dict.fromkeys(cell for cell in values if isinstance(cell, str))):
        return (
            f"{' and '.join(sorted({_KINDS[type(cell)] for cell in values})) or 'nothing'}{empty}"
        )
    mixed = f", {count(len(numbers), 'number')}" if numbers else ""
    return f"{len(texts)} different texts, such as {_part(next(iter(texts)))}{mixed}{empty}"


def _brief(value: Any) -> str:
    text = canonical(value)
    return text if len(text) <= _PART else f"{reference_to(value, text).shape}, {_part(value)}"


def _part(value: Any) -> str:
    text = canonical(value)
    return text if len(text) <= _PART else f"{text[:_PART]}…"


def in_line(value: Any) -> str:
    """A value in a line for people: its members by name, fractions as a sentence says them."""

    def part(item: Any) -> str:
        return f"({in_line(item)})" if isinstance(item, dict | list) else in_line(item)

    match value:
        case dict():
            return ", ".join(f"{name}: {part(item)}" for name, item in value.items())
        case list():
            return ", ".join(map(part, value))
        case float():
            return for_people(value).removeprefix("about ")
        case _:
            return as_text(value, "text")


def as_text(value: Any, form: ResultFormat) -> str:
    """A value as a text in a format; a text is in its own already, unless it shall be JSON."""
    if isinstance(value, str) and form != "json":
        return value
    return _csv(value, _cell) if form == "csv" else json.dumps(value, **_PRETTY)


def _csv(value: Any, cell: Callable[[Any], Any]) -> str:
    """Its main table; anything else in two columns or one."""
    table = main_table(value)
    if table is None:
        items = value if isinstance(value, list) else [value]
        table = (
            Table(("name", "value"), [[k, v] for k, v in value.items()])
            if isinstance(value, dict)
            else Table(("value",), [[item] for item in items])
        )
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(map(cell, table.columns))
    writer.writerows(map(cell, row) for row in table.rows)
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    """A cell of a CSV file."""
    return canonical(value) if isinstance(value, dict | list | bool) else value


def _harmless(value: Any) -> Any:
    """The same; a text that a spreadsheet would run as a formula begins with an apostrophe."""
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else _cell(value)
