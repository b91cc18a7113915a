"""Descriptions of what a tool offers beyond plain values: exceptions, records, enums, functions,
iterators, objects.

The tool's side of the codec. An object of a class of the tool is read once, whole, when it is
passed: its attributes, properties, items and text. Only its methods are called here later, by its
number. Objects of a library's classes stay here, except tables and arrays, which pass as values.
"""

import contextlib
import dataclasses
import enum
import inspect
import itertools
import sys
import traceback
from types import ModuleType, SimpleNamespace
from typing import Any

from . import codec, tables
from .codec import NotPlain
from .library import LIBRARY

_CAUSES = 3
_FRAMES = 8
_LINE = 300
_ENUMS = (enum.IntFlag, enum.Flag, enum.StrEnum, enum.IntEnum, enum.Enum)
_TEXT = 2000
_BUILT_IN = ("filename", "filename2", "name", "path", "code")
_MADE_BY_CODE = 1 << 9
"""The flag of classes that are made while code runs (`Py_TPFLAGS_HEAPTYPE`)."""
_ITEMS = 10_000
"""Items of an iterator or an object that are read."""


class SharedObjects:
    """Encodes for the tests' side, and decodes what it sends."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module
        self._lent: dict[int, Any] = {}
        self._read: set[int] = set()
        """The objects that this message contains already."""
        self._lazy = False

    def encode(self, value: Any, lazy: bool = False) -> Any:
        """`lazy`: an iterator stays here, and its values are fetched one by one.

        Raises:
            NotPlain: the value can't pass.
        """
        self._read, self._lazy = set(), lazy
        return codec.encode(value, self._describe)

    def decode(self, data: Any) -> Any:
        return codec.decode(data, self._resolve)

    def lent(self, handle: int) -> Any:
        return self._lent[handle]

    def exception(self, error: BaseException, depth: int = 0, causes: int = _CAUSES) -> Any:
        """The exception as data: its class, plain arguments and fields, its text, and where in the
        tool it was raised.
        """
        cause = error.__cause__
        return [
            "exception",
            {
                "class": self._class(type(error)),
                "args": [self._or_text(a, depth) for a in error.args],
                "fields": [[k, self._or_text(v, depth)] for k, v in _fields(error).items()],
                "text": text_of(error, str),
                "traceback": own_frames(error, self._module),
                "cause": self.exception(cause, depth + 1, causes - 1)
                if cause is not None and causes
                else None,
            },
        ]

    def _describe(self, value: Any, depth: int) -> Any:
        if isinstance(value, BaseException):
            return self.exception(value, depth)
        if isinstance(value, type):
            return ["class", self._class(value)]
        if isinstance(value, enum.Enum):
            member = {"class": self._class(type(value)), "name": value.name}
            return ["member", {**member, "value": self._or_text(value.value, depth)}]
        if names := record_fields(type(value)):
            fields = [
                [n, codec.encode(getattr(value, n, None), self._describe, depth + 1)] for n in names
            ]
            return ["record", {"class": self._class(type(value)), "fields": fields}]
        base = codec.plain_base(value)
        if base is not NotImplemented:
            return codec.encode(base, self._describe, depth)
        if table := tables.parts_of(value):
            return [table[0], codec.encode(table[1], self._describe, depth + 1)]
        if inspect.isroutine(value) or (callable(value) and hasattr(value, "__wrapped__")):
            return ["function", self._function(value)]
        if hasattr(type(value), "__next__"):
            return self._iterator(value, depth)
        described = {"class": self._class(type(value)), "handle": self._lend(value)}
        if not self._is_own(type(value)):
            return ["object", {**described, "text": text_of(value, repr)}]
        if id(value) in self._read:
            return ["object", described]
        self._read.add(id(value))
        return ["object", {**described, "text": text_of(value, repr), **self._copy(value, depth)}]

    def _iterator(self, value: Any, depth: int) -> Any:
        name = type(value).__name__
        if self._lazy and not depth:
            return ["iterator", {"handle": self._lend(value), "type": name}]
        return ["iterator", {"items": self._items(value, depth), "type": name}]

    def _items(self, value: Any, depth: int) -> list[Any]:
        items = list(itertools.islice(value, _ITEMS + 1))
        if len(items) > _ITEMS:
            raise NotPlain(
                f"a {type(value).__name__} has more than {_ITEMS} values; annotate what returns it "
                "with `Iterator`, and they are fetched one by one"
            )
        return [codec.encode(item, self._describe, depth + 1) for item in items]

    def _is_own(self, cls: type) -> bool:
        """Whether a class is the tool's, whatever it says of itself; one that only holds attributes
        counts as such.
        """
        is_made_by_code = cls.__flags__ & _MADE_BY_CODE or cls is SimpleNamespace
        if issubclass(cls, ModuleType) or not is_made_by_code:
            return False
        there: Any = sys.modules.get(cls.__module__)
        in_tool = there is self._module or cls.__module__ in LIBRARY.names
        for part in cls.__qualname__.split("."):
            there = getattr(there, part, None)
        return in_tool or there is not cls or cls is SimpleNamespace

    def _copy(self, value: Any, depth: int) -> dict[str, Any]:
        """The readable parts of an object: attributes and properties by name, and its items, with
        their keys if it has such. `methods` are called by name.
        """
        fields, methods = {}, []
        for name in dict.fromkeys([*getattr(value, "__dict__", ()), *dir(type(value))]):
            if name.startswith("__"):
                continue
            with contextlib.suppress(Exception):  # a property of the tool may raise anything
                member = getattr(value, name)
                if inspect.isroutine(member):
                    methods.append(name)
                else:
                    fields[name] = codec.encode(member, self._describe, depth + 1)
        kind = type(value)
        copied: dict[str, Any] = {"fields": [[n, v] for n, v in fields.items()]}
        if hasattr(kind, "keys") and hasattr(kind, "__getitem__"):
            pairs = [(key, value[key]) for key in itertools.islice(value.keys(), _ITEMS)]
            copied["items"] = codec.encode(dict(pairs), self._describe, depth + 1)
        elif hasattr(kind, "__iter__"):
            copied["items"] = ["list", self._items(iter(value), depth)]
        methods += [n for n in ("__getitem__", "__contains__", "__len__") if hasattr(kind, n)]
        return {**copied, "methods": methods}

    def _resolve(self, data: Any, depth: int) -> Any:
        tag, payload = data
        if tag == "lent":
            return self._lent[payload]
        if tag == "own_member":
            return getattr(self._own_class(payload["class"]), payload["name"])
        if tag in tables.KINDS:
            return tables.rebuild(tag, codec.decode(payload, self._resolve))
        if tag != "own_record":
            raise NotPlain(f"what arrived has the unknown tag {tag!r}")
        cls = self._own_class(payload["class"])
        values = {k: codec.decode(v, self._resolve) for k, v in payload["fields"]}
        if issubclass(cls, tuple):
            return cls(*values.values())
        record = object.__new__(cls)
        for key, value in values.items():
            object.__setattr__(record, key, value)
        return record

    def _own_class(self, qualname: str) -> type:
        member: Any = self._module
        for part in qualname.split("."):
            member = getattr(member, part)
        if not isinstance(member, type):
            raise NotPlain(f"{qualname} is no class of the tool")
        return member

    def _class(self, cls: type) -> dict[str, Any]:
        """A class as data: enough for the other side to build a copy of it."""
        described: dict[str, Any] = {
            "module": cls.__module__,
            "qualname": cls.__qualname__,
            "name": cls.__name__,
            "kind": "object",
        }
        if issubclass(cls, BaseException):
            bases = [self._class(b) for b in cls.__bases__ if issubclass(b, BaseException)]
            return {**described, "kind": "exception", "bases": bases}
        if issubclass(cls, enum.Enum):
            base = next(b.__name__ for b in _ENUMS if issubclass(cls, b))
            members = [[name, self._or_text(m.value, 0)] for name, m in cls.__members__.items()]
            return {**described, "kind": "enum", "base": base, "members": members}
        if names := record_fields(cls):
            return {
                **described,
                "kind": "record",
                "fields": names,
                "defaults": self._defaults(cls),
                **_record_kind(cls),
            }
        return {**described, "handle": self._lend(cls)}

    def _defaults(self, cls: Any) -> list[list[Any]]:
        if issubclass(cls, tuple):
            defaults = dict(cls._field_defaults)
        else:
            defaults = {}
            for field in dataclasses.fields(cls):
                if field.default is not dataclasses.MISSING:
                    defaults[field.name] = field.default
                elif field.default_factory is not dataclasses.MISSING:
                    defaults[field.name] = field.default_factory()
        return [[name, self._or_text(value, 0)] for name, value in defaults.items()]

    def _function(self, function: Any) -> dict[str, Any]:
        described = {
            "handle": self._lend(function),
            "name": getattr(function, "__name__", "function"),
            "doc": getattr(function, "__doc__", None),
        }
        try:
            parameters = inspect.signature(function).parameters.values()
        except (ValueError, TypeError):
            return {**described, "parameters": None}
        shape = [
            [p.name, int(p.kind), p.default is not p.empty, self._or_text(p.default, 0)]
            for p in parameters
        ]
        return {**described, "parameters": shape}

    def _or_text(self, value: Any, depth: int) -> Any:
        try:
            return codec.encode(value, self._describe, depth + 1)
        except NotPlain:
            return text_of(value, repr)

    def _lend(self, value: Any) -> int:
        self._lent[id(value)] = value
        return id(value)


def _fields(error: BaseException) -> dict[str, Any]:
    """An exception's fields except its arguments; built-in ones keep some outside `__dict__`."""
    attributes = {name: getattr(error, name, None) for name in _BUILT_IN}
    built_in_fields = {
        name: value for name, value in attributes.items() if isinstance(value, str | int)
    }
    return built_in_fields | {k: v for k, v in vars(error).items() if not k.startswith("__")}


def record_fields(cls: Any) -> list[str]:
    if dataclasses.is_dataclass(cls):
        return [f.name for f in dataclasses.fields(cls)]
    return list(cls._fields) if issubclass(cls, tuple) and hasattr(cls, "_fields") else []


def _record_kind(cls: Any) -> dict[str, Any]:
    if issubclass(cls, tuple):
        return {"tuple": True}
    options = cls.__dataclass_params__
    return {"tuple": False, "eq": options.eq, "order": options.order, "frozen": options.frozen}


def text_of(value: Any, show: Any, limit: int = _TEXT) -> str:
    """`show(value)`, cut at `limit`; a note if the value can't be shown."""
    try:
        text = str.__str__(show(value))
    except Exception as error:  # noqa: BLE001 - the tool's own code runs here and may do anything
        return f"<{type(value).__name__} that can't be shown: {type(error).__name__}>"
    return text if len(text) <= limit else text[:limit] + "..."


def own_frames(error: BaseException, module: ModuleType) -> list[str]:
    """The traceback's lines in the tool, or in a tool that it imports; the innermost last."""
    tool_files = LIBRARY.files | {module.__file__}
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in tool_files]
    lines = [
        f"{f.filename}, line {f.lineno}, in {f.name}: {(f.line or '')[:_LINE]}" for f in frames
    ]
    return (
        lines
        if len(lines) <= _FRAMES
        else [*lines[:2], f"... {len(lines) - _FRAMES} more ...", *lines[2 - _FRAMES :]]
    )
