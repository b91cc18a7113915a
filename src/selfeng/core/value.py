"""The base of every value that crosses a module: frozen, typed, closed against unknown fields."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticUseDefault

T = TypeVar("T")


class Value(BaseModel):
    """A frozen pydantic model that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _without_default(schema: dict[str, Any]) -> None:
    schema.pop("default", None)


def _null_is_left_out(value: object) -> object:
    if value is None:
        raise PydanticUseDefault
    return value


StrictlyOptional = Annotated[
    T, Field(json_schema_extra=_without_default), BeforeValidator(_null_is_left_out)
]
"""A field with a default that its schema omits, because strict schemas for models allow none. A
null, which models write where nothing fits, means the default.
"""
