"""Retrieval data sets: folders with `tools.jsonl`, `queries*.jsonl` and, optionally,
`example_requests.jsonl`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from selfeng.core.errors import ConfigurationError
from selfeng.core.signature import Parameter, Signature
from selfeng.core.tool import ToolDraft
from selfeng.library.fusion import split_words

_LONGEST_NAME = 200
_TOOLS, _QUERIES, _EXAMPLES = "tools.jsonl", "queries*.jsonl", "example_requests.jsonl"


class _ToolRow(BaseModel):
    id: str
    name: str
    description: str
    params: str | None = None


class _ExamplesRow(BaseModel):
    id: str
    """Id of a tool."""
    examples: tuple[str, ...]


class _QueryRow(BaseModel):
    query: str
    gold: tuple[str, ...]
    """Ids of tools."""


RowT = TypeVar("RowT", bound=BaseModel)


@dataclass(frozen=True)
class Query:
    request: str
    gold: frozenset[str]
    """Names of the tools that serve it; empty if none does."""


@dataclass(frozen=True)
class RetrievalSet:
    name: str
    ids: tuple[str, ...]
    """Ids of the tools in the data; they decide which tools are absent."""
    tools: tuple[ToolDraft, ...]
    """Drafts without code and tests, with unique names that are valid as file names."""
    queries: tuple[Query, ...]


def read_sets(folder: Path, names: Sequence[str] = ()) -> list[RetrievalSet]:
    """The sets in the folder, or in its subfolder `retrieval`; those of `names`, or all.

    Raises:
        ConfigurationError: there are no sets, or a file can't be read; names the file and the line.
    """
    roots = [folder / "retrieval", folder]
    for root in roots:
        found = sorted(
            path.parent for path in root.glob(f"*/{_TOOLS}") if any(path.parent.glob(_QUERIES))
        )
        if found:
            break
    else:
        raise ConfigurationError(
            f"{folder} holds no retrieval sets",
            f"name a folder of folders with {_TOOLS} and {_QUERIES}",
        )
    unknown = sorted(set(names) - {path.name for path in found})
    if unknown:
        raise ConfigurationError(
            f"no such set: {', '.join(unknown)}",
            f"choose from {', '.join(path.name for path in found)}",
        )
    return [_read(path) for path in found if not names or path.name in names]


def _read(folder: Path) -> RetrievalSet:
    file = folder / _EXAMPLES
    examples = {row.id: row.examples for row in _rows(file, _ExamplesRow)} if file.exists() else {}
    tools: dict[str, ToolDraft] = {}
    taken: set[str] = set()
    for row in _rows(folder / _TOOLS, _ToolRow):
        words = "_".join(split_words(row.name).split())[:_LONGEST_NAME] or "tool"
        words = (
            f"a_{words}" if words.startswith("test_") else words
        )  # `test_x.py` would be the tests of `x`
        name = next(
            n
            for n in chain([words], (f"{words}_{number}" for number in count(2)))
            if n not in taken
        )
        taken.add(name)
        tools[row.id] = _draft(name, row, examples.get(row.id, ()))
    queries = tuple(
        Query(row.query, frozenset(tools[tool].name for tool in row.gold if tool in tools))
        for file in sorted(folder.glob(_QUERIES))
        for row in _rows(file, _QueryRow)
    )
    return RetrievalSet(folder.name, tuple(tools), tuple(tools.values()), queries)


def _draft(name: str, row: _ToolRow, examples: tuple[str, ...]) -> ToolDraft:
    parameters = tuple(
        Parameter(name=p.strip(), description=said.strip())
        for p, said in _described(row.params or "").items()
    )
    signature = Signature(function=name, parameters=parameters)
    return ToolDraft(
        name=name,
        description=row.description,
        signature=signature,
        code="",
        tests="",
        example_requests=examples,
    )


def _described(parameters: str) -> Mapping[str, str]:
    """Descriptions by name, from `a: the first; b: the second` or from a JSON object."""
    with suppress(ValueError):
        if isinstance(described := json.loads(parameters), dict):
            return {name: str(description) for name, description in described.items()}
    return dict(part.partition(":")[::2] for part in parameters.split("; ") if part.strip())


def _rows(path: Path, form: type[RowT]) -> Iterator[RowT]:
    try:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    yield form.model_validate_json(line)
                except ValidationError as error:
                    problems = "; ".join(
                        ": ".join([*map(str, e["loc"]), e["msg"]]) for e in error.errors()
                    )
                    raise ConfigurationError(
                        f"{path}, line {number}: {problems}", "correct the line or delete it"
                    ) from error
    except OSError as error:
        raise ConfigurationError(
            f"{path} can't be read: {error.strerror}", "correct its permissions"
        ) from error
