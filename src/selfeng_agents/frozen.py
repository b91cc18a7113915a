"""The frozen value: a pydantic model with any fields, deeply immutable, identified by the hash of
its content.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from enum import Enum
from numbers import Number
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self
from uuid import UUID

from pydantic import BaseModel, ConfigDict, model_validator
from pydantic_core import to_jsonable_python

from selfeng_agents.promising_context import PromisingContext

PLAIN = (type(None), str, Number, bool, UUID, datetime, date, time, timedelta, Path, Enum, bytes)
"""Types that are immutable by themselves."""

SHORT_KEY = 40
"""Characters of a hash key, unless the context wants all 64."""


class Frozen(BaseModel):
    """A value with any fields: lists become tuples and dicts Frozen; sets and mutable objects are
    refused.

    Two values have the same `hash_key` if they have the same content, in whatever order their
    fields were given.
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    __slots__ = ("_digest", "_string")

    referred_by_key: ClassVar[bool] = False
    """Whether a value that contains this one refers to it by its hash key."""

    class_: str = ""
    """The name of the class, which is part of the content."""

    @model_validator(mode="after")
    def _validated(self) -> Self:
        return self._freeze()

    def _freeze(self) -> Self:
        """Raises: ValueError (pydantic makes it a ValidationError): a field can't be frozen."""
        values = self.__dict__
        for fields in (values, self.__pydantic_extra__):
            for name, value in (fields or {}).items():
                if type(value) is not str and value is not None:
                    fields[name] = freeze(value, name)  # type: ignore[index]  # empty ones have no items
        values["class_"] = type(self).__name__
        return self

    def fields(self) -> Iterator[tuple[str, Any]]:
        """Names and values, declared fields first."""
        values = self.__dict__
        yield from ((name, values[name]) for name in type(self).model_fields)
        if self.__pydantic_extra__:
            yield from self.__pydantic_extra__.items()

    def as_kwargs(self) -> dict[str, Any]:
        """Names and values without the class."""
        return {name: value for name, value in self.fields() if name != "class_"}

    def frozen_fields_and_values(self, exclude_class: bool = True) -> dict[str, Any]:
        """The same as `as_kwargs`, or with the class."""
        return self.as_kwargs() if exclude_class else dict(self.fields())

    def frozen_fields(self, exclude_class: bool = False) -> Iterator[str]:
        """The names of all fields."""
        return iter(self.frozen_fields_and_values(exclude_class))

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a field that may be missing."""
        return (
            self.__dict__[name]
            if name in type(self).model_fields
            else (self.__pydantic_extra__ or {}).get(name, default)
        )

    def __getitem__(self, name: str) -> Any:
        return (
            self.__dict__[name]
            if name in type(self).model_fields
            else (self.__pydantic_extra__ or {})[name]
        )

    def __contains__(self, name: object) -> bool:
        return name in type(self).model_fields or name in (self.__pydantic_extra__ or ())

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """A copy with other values for some fields, frozen like the original, without further
        validation.
        """
        return super().model_copy(update=update, deep=deep)._freeze()

    def serialize(self) -> dict[str, Any]:
        """The content as JSON data; messages inside by their hash keys."""
        return serialized_fields(self, by_key=True)

    @property
    def serialized(self) -> str:
        """`serialize()` as canonical JSON: sorted names, no escapes."""
        return json.dumps(self.serialize(), ensure_ascii=False, sort_keys=True)

    @property
    def full_json(self) -> str:
        """The whole content as compact JSON, nested messages included."""
        return json.dumps(
            serialized_fields(self, by_key=False), ensure_ascii=False, separators=(",", ":")
        )

    @property
    def hash_key(self) -> str:
        """The sha256 of `serialized`, in hexadecimal; its first 40 characters, unless the context
        has `longer_hash_keys`.
        """
        try:
            digest: str = self._digest
        except AttributeError:
            digest = hashlib.sha256(self.serialized.encode()).hexdigest()
            object.__setattr__(self, "_digest", digest)
        context = PromisingContext.find_current()
        return digest if context is not None and context.longer_hash_keys else digest[:SHORT_KEY]

    def __str__(self) -> str:
        try:
            string: str = self._string
        except AttributeError:
            string = self._as_string()
            object.__setattr__(self, "_string", string)
        return string

    @property
    def as_string(self) -> str:
        """The same as `str()`."""
        return str(self)

    def _as_string(self) -> str:
        """The text of the value; subclasses may override it."""
        return self.full_json

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Fields that no class declares."""


class JsonArray(tuple[Any, ...]):
    """A JSON array: equal to the tuple and to the list of the same items."""

    __slots__ = ()
    __hash__ = tuple.__hash__

    def __eq__(self, other: object) -> bool:
        return tuple.__eq__(self, tuple(other) if isinstance(other, list) else other)

    def __ne__(self, other: object) -> bool:
        return not self == other


def freeze(value: Any, name: str) -> Any:
    """The immutable form of a value. Raises: ValueError: there is none; names the field."""
    if isinstance(value, (Frozen, *PLAIN)):
        return value
    if isinstance(value, list | tuple):
        return tuple([freeze(item, name) for item in value])
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError(f"`{name}` has a key that is not text: {value!r}")
        return Frozen(**value)
    if isinstance(value, frozenset):
        return frozenset(freeze(item, name) for item in value)
    raise ValueError(
        f"`{name}` can't be frozen: it is a {type(value).__name__}; give text, numbers, dates, "
        "tuples, dicts or messages"
    )


def thaw(value: Any) -> Any:
    """Plain dicts and lists with the same content, without the names of classes; for code that does
    not know Frozen.
    """
    if isinstance(value, Frozen):
        return {name: thaw(item) for name, item in value.as_kwargs().items()}
    return [thaw(item) for item in value] if isinstance(value, tuple) else value


def freezable(values: dict[str, Any]) -> dict[str, Any]:
    """The values that can be frozen, in frozen form."""
    frozen = {}
    for name, value in values.items():
        with suppress(ValueError):
            frozen[name] = freeze(value, name)
    return frozen


def serialized_fields(frozen: Frozen, by_key: bool) -> dict[str, Any]:
    """The fields as JSON data; with `by_key`, messages among them by their hash keys."""
    plain: dict[str, Any] = {}
    for name, value in frozen.fields():
        if by_key and isinstance(value, Frozen) and value.referred_by_key:
            plain[f"{name}__hash_key"] = value.hash_key
        elif (
            by_key
            and type(value) is tuple
            and value
            and all(isinstance(item, Frozen) and item.referred_by_key for item in value)
        ):
            plain[f"{name}__hash_keys"] = JsonArray(item.hash_key for item in value)
        else:
            plain[name] = _serialized(value, by_key)
    return plain


def _serialized(value: Any, by_key: bool) -> Any:
    if isinstance(value, Frozen):
        return (
            {"hash_key": value.hash_key}
            if by_key and value.referred_by_key
            else serialized_fields(value, by_key)
        )
    if isinstance(value, tuple):
        return JsonArray(_serialized(item, by_key) for item in value)
    if isinstance(value, frozenset):
        return JsonArray(sorted((_serialized(item, by_key) for item in value), key=json.dumps))
    return value if type(value) is str or value is None else to_jsonable_python(value)
