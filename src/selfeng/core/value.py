"""The base of every value that crosses a module: frozen, typed, closed against unknown fields."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import PydanticUseDefault

from selfeng.core.errors import RequestError

T = TypeVar("T")
V = TypeVar("V", bound="Value")

_SHOWN = 20
"""Characters of a text that an error repeats."""


class Value(BaseModel):
    """A frozen pydantic model that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


TextCode = Literal[
    "", "consent", "network", "pictures", "witness", "readings", "example", "request", "values",
    "refused", "failed",
    "tool_stays", "suite_stays", "drawn", "declined", "contradiction", "known", "maybe_known",
    "red", "own_call_none", "own_call_right", "own_call_differs", "own_call_agrees", "proposed",
    "twin", "meanwhile", "faster", "empty_library", "far", "doubtful", "unsure", "alone",
    "schedule", "scheduled", "not_scheduled", "disputed", "none_fits", "needs", "unfit", "no_tool",
]  # fmt: skip
"""Texts of the engine for people, other than errors; "" for text of a model, a tool or another
server.
"""


class Coded(Value):
    """Has English text for programs and terminals. The page writes the sentence of `code` instead
    (web/static/locales), with `values` in their places.
    """

    code: TextCode = ""
    values: Mapping[str, str | float] = {}


def _null_is_left_out(value: object) -> object:
    if value is None:
        raise PydanticUseDefault
    return value


StrictlyOptional = Annotated[
    T,
    Field(json_schema_extra=lambda schema: schema.pop("default", None)),
    BeforeValidator(_null_is_left_out),
]
"""A field with a default that its schema omits, because strict schemas for models allow none. A
null, which models write where nothing fits, means the default.
"""


_IN_JSON = {
    "dict_type": "Input should be an object",
    "mapping_type": "Input should be an object",
    "tuple_type": "Input should be a list",
}
"""Errors by their types, where the library's words are those of Python."""


def first_problem(error: ValidationError, root_name: str, *, secret: bool = False) -> str:
    """The first thing that is wrong, after its place, with a short text that stands there, unless
    it may be `secret`; `root_name` names the place that is all of it, if that has a name.
    """
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))[:80] or root_name
    value = first["input"]
    excerpt = (
        f"={value!r}" if isinstance(value, str) and len(value) <= _SHOWN and not secret else ""
    )
    return f"{place}{excerpt}{': ' if place else ''}{_IN_JSON.get(first['type'], first['msg'])}"


def validated(
    kind: type[V], fields: Mapping[str, Any], root_name: str = "the arguments", remedy: str = ""
) -> V:
    """A value of these fields; `remedy` by default names those that it may have. Raises:
    RequestError: what is wrong with them.
    """
    try:
        return kind.model_validate(dict(fields))
    except ValidationError as error:
        remedy = remedy or f"give {', '.join(kind.model_fields)}"
        raise RequestError(first_problem(error, root_name), remedy) from error
