"""Local copies of what a tool offers, built from descriptions: classes and objects that behave like
the tool's own.

The tests' side of the codec. A copy compares by values that were decoded here, or by identity, and
never asks the tool.
"""

import builtins
import collections
import copy
import dataclasses
import enum
import functools
import inspect
import json
import os
import pprint
import reprlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import pytest

from . import codec, tables
from .codec import NotPlain

_NEVER = {"unittest", "doctest", "bdb", "pdb", "_pytest", "pytest", "pluggy", "sandbox_worker"}
"""Modules whose exceptions control a test run; the tool can only raise look-alikes of them."""
_OF_PYTHON = {*sys.stdlib_module_names, "builtins"}

_ENUMS: dict[str, Any] = {
    c.__name__: c for c in (enum.IntFlag, enum.Flag, enum.StrEnum, enum.IntEnum, enum.Enum)
}


_SAFE = {*dir(object), "__class_getitem__", "__getnewargs__", "__len__", "__bool__"} - {
    *("__lt__", "__le__", "__gt__", "__ge__", "__format__")
}
"""Methods that do not depend on the content."""
_UNEQUAL: dict[str, Callable[..., Any]] = {
    "__eq__": lambda self, other: type(self).__name__ == type(other).__name__,
    "__ne__": lambda self, other: type(self).__name__ != type(other).__name__,
    "__bool__": lambda _: True,
    "__len__": lambda _: 1,
    "__hash__": object.__hash__,
}
_KIND_OF: Any = type(inspect.Parameter.VAR_KEYWORD)
_GENERIC = (
    *(str(module.__file__) for module in (json.encoder, copy, pprint, reprlib)),
    f"{Path(inspect.getfile(pytest.Module)).parent}/",
)
"""Files of what passes any content on, or shows it."""


class Looked(BaseException):
    """Raised when a test looks at the content of a watched value."""


class _Anything:
    """An object of which each attribute and item is the same value."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._value

    def __getitem__(self, key: Any) -> Any:
        return self._value


class Link(Protocol):
    """The connection to the tool's process."""

    def call(
        self, handle: int, args: tuple[Any, ...], kwargs: dict[str, Any], method: str = ""
    ) -> Any: ...

    def attribute(self, handle: int, name: str) -> Any: ...

    def next(self, handle: int) -> Any: ...


class Lent:
    """An object of the tool: a copy of its attributes and items, made when it was passed. Methods
    run in the tool's process. Equal to itself only.
    """

    def __init__(self, objects: "RemoteObjects", handle: int, text: str) -> None:
        self.__dict__.update(_lent=handle, _objects=objects, _text=text, _copy=None)

    def __repr__(self) -> str:
        return str(self.__dict__["_text"])

    def __getattr__(self, name: str) -> Any:
        objects, read = self.__dict__["_objects"], self.__dict__["_copy"]
        if name.startswith("__"):
            raise AttributeError(name)
        if read is None:  # of a library's class
            return objects.link.attribute(self.__dict__["_lent"], name)
        if name in read["fields"]:
            return objects.decode(read["fields"][name])
        if name not in read["methods"]:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return functools.partial(self._call, name)

    def __bool__(self) -> bool:
        return True

    def _call(self, method: str, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        objects, read = self.__dict__["_objects"], self.__dict__["_copy"]
        if read is None:
            return objects.link.attribute(self.__dict__["_lent"], method)(*args)
        if method.startswith("__") and method not in read["methods"]:
            raise TypeError(f"{type(self).__name__!r} object has no {method}")
        return objects.link.call(self.__dict__["_lent"], args, kwargs, method)

    def _items(self) -> Any:
        """The items of the copy, a list or a dict; None if it has none."""
        read = self.__dict__["_copy"]
        items = read.get("items") if read else None
        return None if items is None else self.__dict__["_objects"].decode(items)


class LentObject(Lent):
    """An instance of a class of the tool, or of a library."""

    def __iter__(self) -> Iterator[Any]:
        items = self._items()
        if items is None and self.__dict__["_copy"] is not None:
            raise TypeError(f"{type(self).__name__!r} object is not iterable")
        return iter(self._call("__iter__") if items is None else items)

    def __len__(self) -> int:
        items = self._items()
        return int(self._call("__len__")) if items is None else len(items)

    def __getitem__(self, key: Any) -> Any:
        items = self._items()
        return self._call("__getitem__", key) if items is None else items[key]

    def __contains__(self, item: Any) -> bool:
        items = self._items()
        return bool(self._call("__contains__", item)) if items is None else item in items


class LentIterator(Lent):
    """An iterator or generator of the tool; each value is fetched when it is needed."""

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self.__dict__["_objects"].link.next(self.__dict__["_lent"])


class RemoteObjects:
    """Decodes what the tool sends and encodes replies; one per run, so a class has one copy."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self._classes: dict[tuple[str, str], type] = {}
        self.lent: dict[int, Lent] = {}
        """The objects that have arrived, by their number: one of each."""
        self.touched = False
        """Whether a test looked at the content of a watched value; see `altering.odd`."""
        self._members: dict[enum.Enum, Any] = {}
        """The values of members of enums, as they were at first."""

    def copies(self) -> dict[int, tuple[Any, Any]]:
        """The texts and copies of all objects, by number."""
        return {
            n: (thing.__dict__["_text"], thing.__dict__["_copy"]) for n, thing in self.lent.items()
        }

    def restore(self, copies: dict[int, tuple[Any, Any]]) -> None:
        """Let objects be as they were; forget others."""
        self.lent = {n: thing for n, thing in self.lent.items() if n in copies}
        for n, thing in self.lent.items():
            thing.__dict__.update(_text=copies[n][0], _copy=copies[n][1])
        for member, value in self._members.items():
            member._value_ = value
        self.touched = False

    def encode(self, value: Any) -> Any:
        return codec.encode(value, self._give_back)

    def decode(self, data: Any) -> Any:
        return codec.decode(data, self._received)

    def _received(self, data: Any, depth: int) -> Any:
        tag, payload = data
        builders: dict[str, Callable[[Any], Any]] = {
            "exception": self._exception,
            "class": self._class,
            "member": self._member,
            "watch": self._watched,
            "any": _Anything,
            "record": self._record,
            "function": self._function,
            "iterator": self._iterator,
            "object": self._object,
            **{kind: functools.partial(self._table, kind) for kind in tables.KINDS},
        }
        if tag not in builders:
            raise NotPlain(f"what arrived has the unknown tag {tag!r}")
        return builders[tag](payload)

    def _give_back(self, value: Any, depth: int) -> Any:
        if isinstance(value, Lent):
            return ["lent", value.__dict__["_lent"]]
        if inspect.isfunction(value) and hasattr(value, "_lent"):
            return ["lent", value._lent]
        cls = type(value)
        if cls in self._classes.values():
            if isinstance(value, enum.Enum):
                return ["own_member", {"class": cls.__qualname__, "name": value.name}]
            names = getattr(value, "_fields", None) or [f.name for f in dataclasses.fields(value)]
            fields = [
                [n, codec.encode(getattr(value, n), self._give_back, depth + 1)] for n in names
            ]
            return ["own_record", {"class": cls.__qualname__, "fields": fields}]
        base = codec.plain_base(value)
        if base is NotImplemented and (table := tables.parts_of(value)):
            return [table[0], codec.encode(table[1], self._give_back, depth + 1)]
        if base is NotImplemented:
            raise NotPlain(
                f"an argument of type {cls.__name__} can't be passed to the tool; pass plain values"
            )
        return codec.encode(base, self._give_back, depth)

    def _class(self, described: dict[str, Any]) -> type:
        key = (str(described["module"]), str(described["qualname"]))
        if described["kind"] == "exception" and (exception := _known_exception(*key)):
            return exception
        if key not in self._classes:
            self._classes[key] = self._build(described)
        return self._classes[key]

    def _build(self, described: dict[str, Any]) -> type:
        match described["kind"]:
            case "exception":
                return self._exception_class(described)
            case "enum":
                members = [
                    (_name(name), self.decode(value))
                    for name, value in described["members"]
                    if not name.startswith("_")
                ]
                cls: type = _ENUMS[described["base"]](
                    described["name"], members, module=described["module"]
                )
            case "record":
                cls = self._record_class(described)
            case _:
                cls = self._object_class(described)
        cls.__qualname__ = described["qualname"]
        cls.__module__ = described["module"]
        return cls

    def _exception_class(self, described: dict[str, Any]) -> type:
        bases = tuple(self._class(b) for b in described["bases"]) or (Exception,)
        names = {
            "__module__": described["module"],
            "__qualname__": described["qualname"],
            "__str__": _exception_text,
        }
        return type(described["name"], bases, names)

    def _record_class(self, described: dict[str, Any]) -> type:
        names, default_nodes = described["fields"], dict(described["defaults"])
        if described["tuple"]:
            defaults = [self.decode(default_nodes[n]) for n in names if n in default_nodes]
            return collections.namedtuple(described["name"], names, defaults=defaults)
        fields: list[Any] = []
        for name in names:
            default = (
                functools.partial(self.decode, default_nodes[name])
                if name in default_nodes
                else None
            )
            fields.append(
                (name, object, dataclasses.field(default_factory=default))
                if default
                else (name, object)
            )
        return dataclasses.make_dataclass(
            described["name"],
            fields,
            eq=described["eq"],
            order=described["order"],
            frozen=described["frozen"],
        )

    def _object_class(self, described: dict[str, Any]) -> type:
        link, handle = self.link, described["handle"]

        def construct(cls: type, *args: Any, **kwargs: Any) -> Any:
            return link.call(handle, args, kwargs)

        return type(
            described["name"],
            (LentObject,),
            {"__new__": construct, "__init__": lambda self, *args, **kwargs: None},
        )

    def _member(self, payload: dict[str, Any]) -> Any:
        cls: Any = self._class(payload["class"])
        member = cls.__members__.get(payload["name"])
        if member is None:  # several flags together
            member = cls(self.decode(payload["value"]))
        if (value := payload.get("value")) is not None:
            self._members.setdefault(member, member._value_)
            member._value_ = self.decode(value)
        return member

    def _watched(self, kind: str) -> Any:
        """A value of a type that is equal to nothing, and records that a test looks at its
        content.
        """
        base: Any = object if kind == "NoneType" else vars(builtins)[kind]

        def looking(name: str) -> Callable[..., Any]:
            def look(*args: Any, **kwargs: Any) -> Any:
                if sys._getframe(1).f_code.co_filename.startswith(_GENERIC):
                    return getattr(base, name)(*args, **kwargs)
                self.touched = True
                raise Looked

            return look

        looks = {n: looking(n) for n in dir(base) if callable(getattr(base, n)) and n not in _SAFE}
        unequal = {
            n: answer for n, answer in _UNEQUAL.items() if hasattr(base, n) or n == "__bool__"
        }
        content = (
            [] if base is object else [{"float": 1.5, "dict": {"\u2603": 1}}.get(kind, "\u2603")]
        )
        return type("Watched", (base,), {**looks, **unequal})(*content)

    def _iterator(self, payload: dict[str, Any]) -> Iterator[Any]:
        if "items" in payload:
            return iter([self.decode(item) for item in payload["items"]])
        return LentIterator(self, payload["handle"], f"<{payload['type']}>")

    def _table(self, kind: str, content: Any) -> Any:
        return tables.rebuild(kind, self.decode(content))

    def _object(self, payload: dict[str, Any]) -> Lent:
        handle = payload["handle"]
        thing: Lent | None = self.lent.get(handle)
        if thing is None:
            thing = self.lent[handle] = object.__new__(self._class(payload["class"]))
            Lent.__init__(thing, self, handle, "")
        if "text" in payload:
            thing.__dict__["_text"] = payload["text"]
        if "fields" in payload:
            thing.__dict__["_copy"] = {**payload, "fields": dict(payload["fields"])}
            for _, field in payload["fields"]:  # objects within it have changed with it
                self.decode(field)
        return thing

    def _record(self, payload: dict[str, Any]) -> Any:
        cls: Any = self._class(payload["class"])
        values = {name: self.decode(value) for name, value in payload["fields"]}
        if issubclass(cls, tuple):
            return cls(**values)
        record = object.__new__(cls)
        for name, value in values.items():
            object.__setattr__(record, _name(name), value)
        return record

    def _exception(self, payload: dict[str, Any]) -> BaseException:
        cls: Any = self._class(payload["class"])
        args = tuple(self.decode(a) for a in payload["args"])
        try:
            error: BaseException = cls(*args)
        except Exception:  # noqa: BLE001 - a class of Python or a package may want other arguments than `args`
            error = cls.__new__(cls)
            error.args = args
        for name, value in payload["fields"]:
            _set(error, _name(name), self.decode(value))
        error.__dict__["_sandbox_text"] = str(payload["text"])
        error.__dict__["_sandbox_frames"] = [str(line) for line in payload["traceback"]]
        if payload["cause"] is not None:
            cause = self.decode(payload["cause"])
            error.__cause__ = cause if isinstance(cause, BaseException) else None
        return error

    def _function(self, payload: dict[str, Any]) -> Callable[..., Any]:
        link, handle = self.link, payload["handle"]

        def proxy(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            return link.call(handle, args, kwargs)

        proxy.__name__ = proxy.__qualname__ = str(payload["name"])
        proxy.__doc__ = payload["doc"] if isinstance(payload["doc"], str) else None
        proxy.__dict__["_lent"] = handle
        if payload["parameters"] is not None:
            proxy.__dict__["__signature__"] = inspect.Signature(
                [self._parameter(*p) for p in payload["parameters"]]
            )
        return proxy

    def _parameter(self, name: str, kind: int, optional: bool, default: Any) -> inspect.Parameter:
        default_value = self.decode(default) if optional else inspect.Parameter.empty
        return inspect.Parameter(name, _KIND_OF(kind), default=default_value)


def _name(name: Any) -> str:
    """The name of an ordinary attribute. A special method must never come from the tool: it could
    answer every comparison.
    """
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("__"):
        raise NotPlain(f"what arrived names an attribute {name!r}")
    return name


def _set(error: BaseException, name: str, value: Any) -> None:
    try:
        setattr(error, name, value)
    except (AttributeError, TypeError):
        error.__dict__[name] = value


def _exception_text(error: BaseException) -> str:
    return str(error.__dict__.get("_sandbox_text", BaseException.__str__(error)))


def _known_exception(name: str, qualname: str) -> type | None:
    """The real class, if it belongs to Python itself or an installed package, and the tests can
    name it. Tool and suite have no absolute file.
    """
    module, top = sys.modules.get(name), name.partition(".")[0]
    members = vars(module) if module and top not in _NEVER else {}
    cls, is_installed = members.get(qualname), os.path.isabs(members.get("__file__") or "")
    is_own = isinstance(cls, type) and issubclass(cls, BaseException) and cls.__module__ == name
    return cls if is_own and (is_installed or top in _OF_PYTHON) else None
