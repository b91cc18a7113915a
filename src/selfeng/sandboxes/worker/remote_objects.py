"""Local copies of what a tool offers, built from descriptions: classes and objects that behave like
the tool's own.

The tests' side of the codec. A copy compares by values that were decoded here, or by identity, and
never asks the tool.
"""

import collections
import dataclasses
import enum
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from . import codec
from .codec import NotPlain

_NEVER = {"unittest", "doctest", "bdb", "pdb"}
"""Modules whose exceptions control a test run; the tool can only raise look-alikes of them."""

_ENUMS: dict[str, Any] = {
    c.__name__: c for c in (enum.IntFlag, enum.Flag, enum.StrEnum, enum.IntEnum, enum.Enum)
}


class Link(Protocol):
    """The connection to the tool's process."""

    def call(self, handle: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def attribute(self, handle: int, name: str) -> Any: ...

    def next(self, handle: int) -> Any: ...

    def doubt(self, reason: str) -> None:
        """Make the running test fail: a value of the tool decides itself whether it is right."""
        ...


_PLAIN = frozenset(
    name for kind in codec.KINDS for name in dir(kind) if not name.startswith("_")
) | {"all", "any", "equals"}
"""Methods that plain values have."""


class Lent:
    """An object that lives in the tool's process. Equal to itself only."""

    asked_for = False
    """Whether the suite names the class, and so expects an object of it, not a plain value."""

    def __init__(self, link: Link, handle: int, text: str) -> None:
        self.__dict__.update(_lent=handle, _link=link, _text=text)

    def __repr__(self) -> str:
        return str(self.__dict__["_text"])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.__dict__["_link"].attribute(self.__dict__["_lent"], name)
        if name in _PLAIN and callable(value):
            self._answers(f"`{name}`")
        return value

    def __bool__(self) -> bool:
        return True

    def __contains__(self, item: Any) -> bool:
        self._answers("`in`")
        return any(item == value for value in iter(self))

    def _answers(self, what: str) -> None:
        if not self.asked_for:
            self.__dict__["_link"].doubt(
                f"the tool returned an object ({self!r:.100}) whose {what} is its own; return a "
                "plain value"
            )

    def _special(self, name: str) -> Any:
        try:
            return self.__dict__["_link"].attribute(self.__dict__["_lent"], name)
        except AttributeError:
            raise TypeError(f"{type(self).__name__!r} object has no {name}") from None


class LentObject(Lent):
    """An instance of a class of the tool."""

    def __iter__(self) -> Iterator[Any]:
        return iter(self._special("__iter__")())

    def __len__(self) -> int:
        return int(self._special("__len__")())

    def __getitem__(self, key: Any) -> Any:
        return self._special("__getitem__")(key)


class LentIterator(Lent):
    """An iterator or generator of the tool; each value is fetched when it is needed."""

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return self.__dict__["_link"].next(self.__dict__["_lent"])


class RemoteObjects:
    """Decodes what the tool sends and encodes replies; one per run, so a class has one copy."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._classes: dict[tuple[str, str], type] = {}

    def encode(self, value: Any) -> Any:
        return codec.encode(value, self._give_back)

    def decode(self, data: Any) -> Any:
        return codec.decode(data, self._received)

    def _received(self, data: Any, depth: int) -> Any:
        tag, payload = data
        builders: dict[str, Callable[[Any], Any]] = {
            "exception": self._exception,
            "class": self._class,
            "member": lambda p: self._class(p["class"])[p["name"]],  # type: ignore[index]
            "record": self._record,
            "function": self._function,
            "iterator": lambda p: LentIterator(self._link, p["handle"], f"<{p['type']}>"),
            "object": self._object,
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
        if base is NotImplemented:
            raise NotPlain(
                f"an argument of type {cls.__name__} can't be passed to the tool; pass plain values"
            )
        return codec.encode(base, self._give_back, depth)

    def _class(self, described: dict[str, Any]) -> type:
        key = (str(described["module"]), str(described["qualname"]))
        if key not in self._classes:
            self._classes[key] = self._build(described)
        return self._classes[key]

    def _build(self, described: dict[str, Any]) -> type:
        match described["kind"]:
            case "exception":
                return _known_exception(described) or self._exception_class(described)
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
        names, given = described["fields"], dict(described["defaults"])
        if described["tuple"]:
            defaults = [self.decode(given[n]) for n in names if n in given]
            return collections.namedtuple(described["name"], names, defaults=defaults)
        fields: list[Any] = []
        for name in names:
            default = functools.partial(self.decode, given[name]) if name in given else None
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
        link, handle = self._link, described["handle"]

        def construct(cls: type, *args: Any, **kwargs: Any) -> Any:
            return link.call(handle, args, kwargs)

        return type(
            described["name"],
            (LentObject,),
            {"__new__": construct, "__init__": lambda self, *args, **kwargs: None},
        )

    def _object(self, payload: dict[str, Any]) -> Lent:
        thing: Lent = object.__new__(self._class(payload["class"]))
        Lent.__init__(thing, self._link, payload["handle"], payload["text"])
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
        except Exception:  # noqa: BLE001 - a class of the standard library may want other arguments than `args`
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
        link, handle = self._link, payload["handle"]

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
        given = self.decode(default) if optional else inspect.Parameter.empty
        return inspect.Parameter(name, inspect._ParameterKind(kind), default=given)


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


def _known_exception(described: dict[str, Any]) -> type | None:
    """The real class, if it belongs to Python itself and the tests can name it."""
    top = described["module"].partition(".")[0]
    if top not in sys.stdlib_module_names and top != "builtins":
        return None
    module = sys.modules.get(described["module"])
    cls = getattr(module, described["qualname"], None) if module and top not in _NEVER else None
    return cls if isinstance(cls, type) and issubclass(cls, BaseException) else None
