"""Altered outcomes: other things that a call of the tool might have returned, changed, raised,
printed or written.

An outcome is a reply of the tool's process, as data, with the files that the call wrote. A part of
it is named by its path. Nothing here runs the tool.
"""

import ast
import json
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from math import isfinite
from pathlib import PurePath
from string import ascii_letters, digits
from typing import Any
from uuid import UUID

from . import codec
from .frames import Message

Path = tuple[str | int, ...]
Alteration = tuple[str, Message]
"""The change, as the end of a sentence whose subject is the outcome, and the changed outcome."""

_PARTS = 300
"""Parts of an outcome that are looked at."""
_LEAVES = 8
"""Parts without parts that are changed, one at a time."""
_POOL = 40
_SPOTS = 4
_TURNED = ascii_letters[1:] + ascii_letters[:1] + digits[1:] + digits[:1]
_NEXT = str.maketrans(ascii_letters + digits, _TURNED)
"""Each letter and digit becomes the next one."""
_SMALL = 0.1
"""Smaller numbers than this may be tolerances."""
_LONGEST = 100_000
"""Characters of a text that is looked into."""
_LISTS = {"list", "tuple", "set", "frozenset", "deque", "dict_keys", "dict_values"}
_MAPPINGS = {"dict", "OrderedDict", "defaultdict", "Counter", "dict_items"}
_NUMBERS = {"float", "complex", "Decimal"}
_DATA = {"ndarray": (1, 1, 2), "Index": (1, 1, 2), "Series": (1, 1, 3)}
"""Where tables have their values."""
_TOKEN = re.compile(r"(?<![\w.])([-+]?(?:nan|inf(?:inity)?)|none|null|nat|n/a)(?![\w.])", re.I)
OTHER_TYPE = "is of another type"
EMPTIED = "comes back empty"
ODD = "\u2603"


def at(node: Any, path: Path) -> Any:
    for step in path:
        node = node[step]
    return node


def replaced(node: Any, path: Path, new: Any) -> Any:
    """A copy with another part."""
    if not path:
        return new
    copy: Any = list(node) if isinstance(node, list) else dict(node)
    copy[path[0]] = replaced(node[path[0]], path[1:], new)
    return copy


def arguments(request: Message) -> list[Any]:
    """The arguments of a call, by position and by name; none of other requests."""
    return [*request.get("args", ()), *request.get("kwargs", {}).values()]


def places(node: Any) -> list[Any]:
    """The keys of a list or a mapping of JSON."""
    return list(node) if isinstance(node, dict) else list(range(len(node)))


def parts(node: Any, path: Path) -> Iterator[Path]:
    """The path of a part of an outcome, and those of all parts within it."""
    waiting, remaining = [path], _PARTS
    while waiting and remaining:
        here = waiting.pop(0)
        remaining -= 1
        yield here
        waiting += [here + inner for inner in _inner(at(node, here))]


def _inner(node: Any) -> list[Path]:
    if not isinstance(node, list):
        return []
    tag, payload = node
    if tag in _LISTS:
        return [(1, n) for n in range(len(payload))]
    if tag in _MAPPINGS:
        return [(1, n, 1) for n in range(len(payload))]
    if tag in _DATA:
        return [_DATA[tag]]
    if tag == "DataFrame":
        return [(1, 1, 2, 1, n, 1, 1) for n in range(len(at(node, (1, 1, 2, 1))))]
    if not isinstance(payload, dict):
        return []
    paths: list[Path] = [(1, "items")] if payload.get("items") and tag == "object" else []
    paths += [(1, "fields", n, 1) for n in range(len(payload.get("fields", ())))]
    paths += [(1, "args", n) for n in range(len(payload.get("args", ())))]
    if tag == "iterator":
        return [(1, "items", n) for n in range(len(payload.get("items", ())))]
    field_names: dict[str, tuple[str, ...]] = {"exception": ("text", "cause")}
    if tag == "member" and is_degenerate(payload.get("value")):
        field_names["member"] = ("value",)
    return paths + [(1, name) for name in field_names.get(tag, ()) if payload.get(name) is not None]


def is_degenerate(node: Any) -> bool:
    """Whether a part is empty, None, infinite or not a number."""
    if node is None or node == "":
        return True
    if not isinstance(node, list):
        return False
    tag, payload = node
    if tag == "iterator":
        return not payload.get("items", True)
    if tag in _NUMBERS:
        return any(map(_is_odd_number, [payload] if type(payload) is str else payload))
    empty_range = tag == "range" and not bool(codec.decode(node))
    return empty_range or payload == "" or (isinstance(payload, list) and not payload)


def _is_odd_number(text: str) -> bool:
    try:
        return not isfinite(float(text))
    except ValueError:  # a signalling NaN
        return True


class Alternatives:
    """The values in a suite and in the arguments of a call that can replace a degenerate part."""

    def __init__(self, suite: str) -> None:
        self._literals: list[Any] = []
        for node in ast.walk(ast.parse(suite)):
            if isinstance(node, ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set):
                with suppress(ValueError, TypeError, codec.NotPlain, RecursionError):
                    self._add(self._literals, codec.encode(ast.literal_eval(node)))

    def _add(self, to: list[Any], node: Any) -> None:
        if not is_degenerate(node) and node not in to and type(node) is not bool:
            to.append(node)

    def elements(self, request: Message) -> list[Any]:
        """Values of some different shapes, none of them degenerate."""
        offered: list[Any] = []
        for argument in arguments(request):
            for path in parts(argument, ()):
                self._add(offered, at(argument, path))
        argument_parts, literals = spread(offered, _POOL // 2), spread(self._literals, _POOL // 2)
        texts = [n for n in (*argument_parts, *literals) if type(n) is str]
        basic = [1, 0, -1, 2.5, 1000, "a", "A1", ["list", [1]], ["list", ["a"]]]
        values: list[Any] = []
        shaped = self._shaped(
            [n for n in (*argument_parts, *literals) if type(n) in (int, float)], texts
        )
        for node in (
            *argument_parts,
            *literals,
            *basic,
            *shaped,
            *dict.fromkeys("".join(texts)[:12]),
        ):
            if node not in values:
                values.append(node)
        return values

    def _shaped(self, numbers: list[Any], texts: list[str]) -> Iterator[Any]:
        """Pairs, triples, mappings with every key that the suite names, and objects with any
        attribute.
        """
        keys = [n for n in self._literals if type(n) is str and n.isidentifier()]
        for n, t in zip((1, *numbers[:2]), ("a", *texts[:1], "b"), strict=False):
            yield from (["tuple", list(items)] for items in ((t, n), (n, t), (n, n), (t, t)))
            yield from (["tuple", list(items)] for items in ((t, n, n), (t, t, n), (n, n, n)))
            yield from (["dict", [[key, value] for key in keys]] for value in (n, t))
            yield from (["any", value] for value in (n, t))


def spread(items: list[Any], most: int) -> list[Any]:
    step = max(1, -(-len(items) // most))
    return items[::step]


def alternatives(node: Any, elements: list[Any]) -> Iterator[Any]:
    """Parts of the same kind that are not degenerate."""
    tag = node[0] if isinstance(node, list) else type(node).__name__
    texts = [e for e in elements if type(e) is str]
    numbers = [e for e in elements if type(e) in (int, float)]
    if tag == "NoneType":
        yield from (element for element in elements if element != 0)
    elif tag == "str":
        words = [word for text in texts for word in text.split()[:2] if word != text]
        yield from dict.fromkeys([*words, *texts, *map(str, numbers)])
    elif tag in _LISTS:
        yield from ([tag, e[1]] for e in elements if isinstance(e, list) and e[0] in _LISTS)
        yield from ([tag, [e]] for e in elements)
    elif tag in _MAPPINGS:
        yield from ([tag, e[1]] for e in elements if isinstance(e, list) and e[0] in _MAPPINGS)
        yield from ([tag, [[k, e]]] for k in texts[:4] for e in elements[:10])
    elif tag == "iterator":
        yield from ([tag, {**node[1], "items": [e]}] for e in elements)
    elif tag == "float":
        yield from map(float, numbers)
    elif tag == "complex":
        yield from ([tag, [repr(n), "0.0"]] for n in numbers)
    elif tag == "Decimal":
        yield from ([tag, str(n)] for n in numbers)
    elif tag in ("bytes", "bytearray"):
        yield from ([tag, t.encode("utf-8", "replace").hex()] for t in texts)


def odd(node: Any) -> Any:
    """A part in whose place any look at its content is noticed."""
    return ["watch", node[0] if isinstance(node, list) else type(node).__name__]


def spots(node: Any) -> list[Callable[[Any], Any]]:
    """The degenerate places within a text or bytes; each makes a new text of what to put there."""
    if isinstance(node, list) and node[0] in ("bytes", "bytearray"):
        data = bytes.fromhex(node[1])
        with suppress(UnicodeDecodeError):
            inner = spots(data.decode())
            return [_as_bytes(node[0], spot) for spot in inner]
        return [_packed(node[0], data, *place) for place in _odd_numbers(data)][:_SPOTS]
    if type(node) is not str or len(node) > _LONGEST:
        return []
    return (_json_spots(node) or [*_cells(node), *_tokens(node)])[:_SPOTS]


def is_odd_text(element: Any) -> bool:
    """Whether a text is blank, or stands for nothing or for a number that is not finite."""
    return type(element) is str and (not element.strip() or bool(_TOKEN.fullmatch(element)))


def _as_bytes(tag: str, spot: Callable[[Any], str]) -> Callable[[Any], Any]:
    return lambda element: [tag, spot(element).encode("utf-8", "replace").hex()]


def _odd_numbers(data: bytes) -> Iterator[tuple[int, str]]:
    """Where a packed number is not finite, and its form."""
    for form in ("<d", ">d", "<f", ">f"):
        size = struct.calcsize(form)
        for start in range(0, min(len(data), 4096) - size + 1, 4):
            if not isfinite(struct.unpack_from(form, data, start)[0]):
                yield start, form


def _packed(tag: str, data: bytes, start: int, form: str) -> Callable[[Any], Any]:
    def spot(element: Any) -> Any:
        number = struct.pack(form, float(element) if type(element) in (int, float) else 7.5)
        return [tag, (data[:start] + number + data[start + len(number) :]).hex()]

    return spot


def _json_spots(text: str) -> list[Callable[[Any], str]]:
    if text.strip()[:1] not in ("{", "["):
        return []
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return []
    return [
        lambda element, path=path: json.dumps(
            replaced(value, path, _filled(at(value, path), element))
        )  # type: ignore[misc]
        for path in _json_paths(value)
        if at(value, path) in (None, "", [], {}) or _is_odd(at(value, path))
    ]


def _json_paths(value: Any) -> Iterator[Path]:
    waiting: list[Path] = [()]
    while waiting:
        path = waiting.pop(0)
        node = at(value, path)
        yield path
        if isinstance(node, dict | list):
            waiting += [(*path, key) for key in places(node)][:_PARTS]


def _is_odd(value: Any) -> bool:
    return isinstance(value, float) and not isfinite(value)


def _filled(value: Any, element: Any) -> Any:
    plain = element if not isinstance(element, list) else _plain(element)
    match value:
        case []:
            return [plain]
        case {}:
            return {"key": plain}
        case "":
            return str(plain)
        case None:
            return plain
    return plain if type(plain) in (int, float) else 7.5


def _plain(node: Any) -> Any:
    """An encoded value as JSON can hold it."""
    try:
        value = codec.decode(node)
        json.dumps(value)
    except (codec.NotPlain, TypeError, ValueError):
        return ODD
    return value


def _table(text: str) -> tuple[str, list[list[str]]]:
    """The delimiter and the cells of a table in text; no cells if it is none."""
    lines = text.splitlines()
    delimiter = next((d for d in (",", ";", "\t", "|") if lines and d in lines[0]), "")
    is_table = delimiter and len({line.count(delimiter) for line in lines}) == 1
    return delimiter, [line.split(delimiter) for line in lines] if is_table else []


def first_row(node: Any) -> Callable[[Any], str] | None:
    """Makes the first row of a table that has nothing but a header; None for any other part."""
    if type(node) is not str or len(node) > _LONGEST:
        return None
    delimiter, rows = _table(node)
    if len(rows) != 1 or not all(re.fullmatch(r"[\w .\-]+", cell) for cell in rows[0]):
        return None
    return lambda element: f"{node.rstrip()}\n{delimiter.join(_row(element, len(rows[0])))}\n"


def _cells(text: str) -> list[Callable[[Any], str]]:
    """The empty cells of a table in text."""
    delimiter, rows = _table(text)
    empty = [(r, c) for r, row in enumerate(rows) for c, cell in enumerate(row) if not cell.strip()]

    def spot(place: Path) -> Callable[[Any], str]:
        return lambda element: "\n".join(
            map(delimiter.join, [*replaced(rows, place, str(_plain(element))), [""]])
        )

    return list(map(spot, empty))


def _row(element: Any, width: int) -> list[str]:
    """A row of a table, made of a value's own parts where there are as many."""
    plain = _plain(element)
    parts = list(plain.values()) if isinstance(plain, dict) else plain
    fits = isinstance(parts, list | tuple) and len(parts) == width
    return list(map(str, parts if fits else [plain] * width))


def _tokens(text: str) -> list[Callable[[Any], str]]:
    return [
        lambda element, m=m: text[: m.start()] + str(_plain(element)) + text[m.end() :]  # type: ignore[misc]
        for m in _TOKEN.finditer(text)
    ]


def alterations(outcome: Message, root: Path, elements: Sequence[Any] = ()) -> Iterator[Alteration]:
    """Changes of a part of an outcome that is not degenerate, the plainest first; `elements` may be
    added to it.
    """
    node = at(outcome, root)
    inner = list(parts(outcome, root))
    leaves = [p for p in inner if not _inner(at(outcome, p))] or [root]
    for path in spread(leaves, _LEAVES):
        for number, new in enumerate(_changed(at(outcome, path))):
            yield f"{_place(path)} is another one ({number})", replaced(outcome, path, new)
    for path in [p for p in inner if p not in leaves and at(outcome, p)[0] != "object"][:3]:
        for what, new in _of_other_items(at(outcome, path), elements):
            yield f"{_place(path)} {what}", replaced(outcome, path, new)
    if emptied := without_content(node):
        yield EMPTIED, replaced(outcome, root, emptied[0])
    for new in _of_another_type(node):
        yield OTHER_TYPE, replaced(outcome, root, new)
    texts = spread([element for element in elements if type(element) is str], 2 * _LEAVES)
    for path in spread(leaves, _LEAVES):
        if type(leaf := at(outcome, path)) is str:
            for text in texts:
                longer = replaced(outcome, path, leaf + text)
                yield f"{_place(path)} has a text of the suite at its end", longer


def alike(node: Any, elements: Sequence[Any]) -> Iterator[Any]:
    """Values of the same form, with one leaf changed: a number for another one of its sign, a text
    for one with letters and digits in the same places. None for truth values, what is next to
    nothing, such as a tolerance, and keys, unless there is nothing else.
    """
    leaves = [p for p in parts(node, ()) if not _inner(at(node, p))]
    keys = [
        (*p, 1, n, 0)
        for p in parts(node, ())
        if (part := at(node, p)) and isinstance(part, list) and part[0] in _MAPPINGS
        for n in range(len(part[1]))
    ]
    changes = [(p, new) for p in spread(leaves, _LEAVES) for new in _alike(at(node, p), elements)]
    changes = changes or [(p, new) for p in keys for new in _alike(at(node, p), elements)]
    return (replaced(node, path, new) for path, new in changes)


def _alike(leaf: Any, elements: Sequence[Any]) -> list[Any]:
    same = [e for e in elements if type(e) is type(leaf) and e != leaf]
    if type(leaf) in (int, float) and not 0 < abs(leaf) < _SMALL:
        sign = (leaf > 0) - (leaf < 0)
        numbers = [*same, leaf + sign, leaf * 1000] if leaf else [1, -1]
        return [n for n in numbers if not leaf or (n > 0) - (n < 0) == sign]
    if type(leaf) is str:
        variants = [re.sub("[a-z]", "q", leaf), re.sub("[0-9]", "7", leaf), leaf.translate(_NEXT)]
        form = _form(leaf)
        return [t for t in (*variants, *(e for e in same if _form(e) == form)) if t != leaf]
    return []


def _form(text: str) -> str:
    return re.sub("[0-9]+", "0", re.sub(r"[^\W\d_]+", "a", text))


def _of_another_type(node: Any) -> Iterator[Any]:
    """Almost the same value."""
    match node:
        case bool() | float():
            yield int(node)
        case int():
            yield float(node)
        case str():
            yield ["bytes", node.encode("utf-8", "replace").hex()]
        case ["list", items]:
            yield ["tuple", items]
        case [("tuple" | "set" | "frozenset"), items]:
            yield ["list", items]
        case ["dict", pairs]:
            yield ["list", [["tuple", pair] for pair in pairs]]


def without_content(node: Any) -> list[Any]:
    """The same part, empty; no element if it can't be."""
    if type(node) is str:
        return [""]
    if isinstance(node, list) and (node[0] in _LISTS or node[0] in _MAPPINGS):
        return [[node[0], []]]
    if isinstance(node, list) and node[0] in ("bytes", "bytearray"):
        return [[node[0], ""]]
    if isinstance(node, list) and node[0] == "iterator" and "items" in node[1]:
        return [["iterator", {**node[1], "items": []}]]
    return []


def _place(path: Path) -> str:
    """A path, the same for all items of a list."""
    return ".".join("*" if isinstance(step, int) else step.rpartition("/")[2] for step in path)


def _of_other_items(node: Any, elements: Sequence[Any]) -> Iterator[tuple[str, Any]]:
    """A list or a mapping that lacks an item, has it twice or has another one, or another order."""
    tag, payload = node
    items = payload["items"] if tag == "iterator" else payload
    if not isinstance(items, list) or tag not in _LISTS | _MAPPINGS | {"iterator"} or not items:
        return
    added = list(elements[:_LEAVES])
    if tag in _MAPPINGS:
        texts = [element for element in elements if type(element) is str]
        added = [[key, items[0][1]] for key in (ODD, *texts[:_SPOTS])]
    ordered = tag not in _MAPPINGS and tag not in ("set", "frozenset")
    for what, changed in (
        ("lacks its first item", items[1:]),
        ("lacks its last item", items[:-1]),
        *([("is in another order", items[::-1]), ("has items twice", items * 2)] * ordered),
        *(("has another item", [*items, element]) for element in added),
    ):
        if changed != items:
            yield what, [tag, {**payload, "items": changed} if tag == "iterator" else changed]


def _changed(node: Any) -> Iterator[Any]:
    """Other values of the same type."""
    match node:
        case bool():
            yield not node
        case int() | float():
            yield node + 1
            yield -node - 1000
            yield node * 1000 + 10**6
        case "" | None:
            return
        case str():
            yield from _changed_text(node)
        case ["int", str(number)]:
            yield ["int", hex(int(number, 16) + 1)]
        case ["object", _]:
            yield None
        case [("bytes" | "bytearray") as tag, str(data)] if data:
            yield [tag, f"{int(data[:2], 16) ^ 1:02x}{data[2:]}"]
            yield [tag, "00" * (len(data) // 2)]
            yield [tag, data[:-2]]
        case ["member", {"class": described, "name": name}]:
            names = [member for member, _ in described["members"] if member != name]
            yield from (["member", {**node[1], "name": n, "value": None}] for n in names[:1])
            for value in _changed(node[1].get("value")):
                yield ["member", {**node[1], "value": value}]
        case [str(tag), _] if codec.BY_NAME.get(tag) in codec.ATOMS:
            yield from _changed_atom(node)


def _changed_text(text: str) -> Iterator[str]:
    if text.strip()[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            value = json.loads(text)
            leaves = [p for p in _json_paths(value) if not isinstance(at(value, p), dict | list)]
            for path in spread(leaves, _SPOTS):
                leaf = at(value, path)
                new = (
                    not leaf
                    if type(leaf) is bool
                    else leaf + 1
                    if type(leaf) in (int, float)
                    else f"{leaf}~"
                )
                yield json.dumps(replaced(value, path, new))
    yield f"~{text[1:]}"
    yield text[:-1]
    yield f"{ODD} {text}" * 20
    yield re.sub(r"[^\w\s]", "", text)
    yield text.swapcase() if text.swapcase() != text else f" {text}"
    lines = text.splitlines(keepends=True)
    if len(lines) > 1:
        yield "".join(lines[:-1])
        yield "".join([lines[0], *lines[2:]])
    if numbers := list(re.finditer(r"\d+", text)):
        last = numbers[-1]
        yield f"{text[: last.start()]}{int(last[0][:15]) + 1}{text[last.end() :]}"


def _changed_atom(node: Any) -> Iterator[Any]:
    value = codec.decode(node)
    with suppress(ArithmeticError, ValueError, TypeError):
        match value:
            case datetime() | date():
                yield codec.encode(value + timedelta(days=1))
            case time():
                yield codec.encode(value.replace(hour=(value.hour + 1) % 24))
            case timedelta():
                yield codec.encode(value + timedelta(seconds=61))
            case range():
                yield codec.encode(value[1:])
            case UUID():
                yield codec.encode(UUID(int=value.int ^ 1))
            case PurePath():
                yield codec.encode(value.with_name(f"{value.name}~"))
            case _:
                yield codec.encode(value + 1)
