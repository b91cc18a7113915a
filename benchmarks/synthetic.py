"""Libraries of any size, for measuring: tools that nobody wrote, put straight into SQL and files.

`CapabilityRegistry.add` would take 10 ms a tool, most of it for the disk, which is 20 minutes for
100,000; what it leaves behind is the same. Names and descriptions are sentences of everyday words,
so that every request shares words with many tools; vectors lie around those of real sentences,
since random ones would be equally far from everything, which no request ever is.
"""

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import islice, product
from pathlib import Path

import numpy as np
import sqlalchemy as sa

from selfeng.core.protocols import Embedder
from selfeng.core.provenance import Provenance
from selfeng.core.signature import parse_signature
from selfeng.core.tool import Tool, ToolDraft
from selfeng.library import lexical, records, versions
from selfeng.library.fusion import Vector
from selfeng.library.tool_files import code_file, source_digest, tests_file
from selfeng.store.database import writing
from selfeng.store.schema import (
    properties,
    tool_changes,
    tool_vectors,
    tool_versions,
    tool_words,
    tools,
)

_VERBS = """
compute convert count find list sort filter merge split format parse validate compare extract estimate round scale plot rank
summarize group rename encode decode clean check predict schedule translate describe
""".split()  # noqa: E501
_THINGS = """
amount average balance price date time zone period interest loan mortgage invoice tax discount salary budget currency rate
temperature pressure distance speed volume weight length area angle energy power voltage frequency percentage ratio median
variance matrix vector polynomial prime fraction sequence table column row record json csv text word sentence paragraph letter
name address phone number email url path file folder color pixel image histogram recipe calorie dose pulse score grade team match
route station flight hotel ticket order shipment parcel product customer supplier contract project task deadline meeting calendar
reminder
""".split()  # noqa: E501
_QUALITIES = """
monthly daily yearly weighted rounded compound simple nested missing duplicate sorted random normal linear local remote average
maximal minimal total partial recent expected valid invalid common unique signed annual decimal binary roman metric imperial
hidden public shared empty long short early late exact rough
""".split()  # noqa: E501
_FIELDS = """
finance cooking travel sports medicine school geometry physics chemistry weather music language law farming shipping energy
insurance marketing housing gaming astronomy statistics gardening accounting networking security logistics printing fishing sewing
""".split()  # noqa: E501
_PURPOSES = (
    "so that it can be compared with others",
    "and return it as text",
    "for a report",
    "with the given number of digits",
    "in a table",
)
_NAMES = [
    "".join(parts).capitalize()
    for parts in product(
        ("ba", "ce", "dor", "fin", "gal", "hex", "jun", "kor", "lum", "mar", "nov", "ori"), repeat=3
    )
]
_NAME_WEIGHTS = [1 / (rank + 10) for rank in range(len(_NAMES))]
"""Services that tools speak to: a few have many tools, most have few, as words do in any text."""
_NOISE = 0.05
"""Standard deviation of each coordinate around the vector of a sentence; tools of one sentence have
cosines of about 0.5.
"""
_BATCH = 2_000


def sentence(rng: random.Random) -> str:
    """A possible task of one of the tools."""
    verb, thing, quality = rng.choice(_VERBS), rng.choice(_THINGS), rng.choice(_QUALITIES)
    other, field, purpose = rng.choice(_THINGS), rng.choice(_FIELDS), rng.choice(_PURPOSES)
    return f"{verb} the {quality} {thing} of a {other} in {field} with {_name(rng)} {purpose}"


def _name(rng: random.Random) -> str:
    return rng.choices(_NAMES, _NAME_WEIGHTS)[0]


def requests(count: int) -> list[str]:
    rng = random.Random(7)
    forms = (
        "what is the {q} {t} of my {u}?",
        "please {v} the {t} for the {u} in {f}",
        "how do I {v} a {q} {t} with {n}",
        "{n} {t} {q} {u}",
    )
    words = {"v": _VERBS, "t": _THINGS, "u": _THINGS, "q": _QUALITIES, "f": _FIELDS}
    made = []
    for _ in range(count):
        chosen = {key: rng.choice(values) for key, values in words.items()}
        made.append(rng.choice(forms).format(n=_name(rng), **chosen))
    return made


def fill(engine: sa.Engine, tools_dir: Path, embedder: Embedder, count: int) -> None:
    """Make a library of so many tools in an empty database and folder."""
    tools_dir.mkdir(parents=True)
    rng = random.Random(count)
    centres = embedder.embed([sentence(rng) for _ in range(300)])
    vectors = np.random.default_rng(count)
    drafted = _drafts(rng, count)
    with writing(engine) as connection:
        while batch := list(islice(drafted, _BATCH)):
            _insert(connection, batch, _around(centres, vectors, len(batch)), embedder.id)
            for tool in batch:
                (tools_dir / code_file(tool.name)).write_text(tool.code)
                (tools_dir / tests_file(tool.name)).write_text(tool.tests)
        connection.execute(
            properties.update()
            .where(properties.c.name == "library_revision")
            .values(value=str(count))
        )


def _drafts(rng: random.Random, count: int) -> Iterator[Tool]:
    now = datetime.now(UTC)
    parameters = [(a, b) for a in _THINGS for b in _THINGS if a != b]
    signatures = [
        parse_signature(f"def f({a}: str, {b}: float) -> str: ...", "f", {a: f"The {a}."})
        for a, b in rng.sample(parameters, 500)
    ]
    for number in range(count):
        described = sentence(rng)
        name = "_".join(described.split()[i] for i in (0, 2, 3)) + f"_{number}"
        signature = rng.choice(signatures).model_copy(update={"function": name})
        code = (
            f'def {signature}:\n    """{described}"""\n'
            + "    # much of a tool is its code\n" * 20
            + "    return ''\n"
        )
        tests = (
            f"from {name} import {name}\n\n\n"
            + f"def test_{name}():\n    assert {name}('', 1.0) == ''\n" * 10
        )
        asked = tuple(
            described.replace("the", rng.choice(("my", "this", "an", "some")), 1) for _ in range(2)
        )
        draft = ToolDraft(
            name=name,
            description=f"{described}.",
            signature=signature,
            code=code,
            tests=tests,
            example_requests=asked,
        )
        yield Tool(**dict(draft), created_at=now, digest=source_digest(code, tests))


def _around(centres: Vector, rng: np.random.Generator, count: int) -> Vector:
    chosen = centres[rng.integers(0, len(centres), count)]
    vectors = chosen + rng.normal(0, _NOISE, chosen.shape).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def _insert(connection: sa.Connection, batch: list[Tool], vectors: Vector, embedder: str) -> None:
    first = connection.execute(sa.select(sa.func.count()).select_from(tools)).scalar_one()
    names = [tool.name for tool in batch]
    connection.execute(
        tools.insert(), [{**records.columns(tool), "state": "active"} for tool in batch]
    )
    connection.execute(
        tool_versions.insert(), [versions.columns(tool, Provenance()) for tool in batch]
    )
    stored = [
        {"name": name, "embedder": embedder, "vector": vector.astype("<f4").tobytes()}
        for name, vector in zip(names, vectors, strict=True)
    ]
    connection.execute(tool_vectors.insert(), stored)
    connection.execute(
        tool_words.insert(),
        [{"name": tool.name, "words": lexical.text(tool, ())} for tool in batch],
    )
    noted = [
        {"name": name, "embedder": "", "revision": first + place}
        for place, name in enumerate(names, 1)
    ]
    connection.execute(tool_changes.insert(), noted)
