"""The seed tools: functions written by hand, with their tests, that a new library starts with."""

import json
from base64 import b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from selfeng.core.http import Exchange, HttpRequest, HttpResponse, NetworkAccess
from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.seeds.recipe_file import RecipeFile, read_recipes

FOLDER = Path(__file__).parent
"""Holds a recipe file for each seed, with what people, the search and the offline model need to
know.
"""
_RECORDED = datetime(2026, 11, 29, tzinfo=UTC)
"""When somebody wrote the exchanges of seeds, with hosts that don't exist."""


def load_seeds() -> tuple[ToolDraft, ...]:
    """All seed tools, by name.

    Raises:
        SignatureError: the code of a seed does not define the function it is named after.
    """
    return tuple(map(_draft, read_recipes(FOLDER)))


def _draft(seed: RecipeFile) -> ToolDraft:
    return ToolDraft(
        name=seed.name,
        description=seed.head["description"],
        signature=parse_signature(seed.code, seed.name, seed.head["parameters"]),
        code=seed.code,
        tests=seed.tests,
        example_requests=tuple(seed.head["requests"]),
        network=tuple(map(NetworkAccess.model_validate, _listed(seed, "network.json"))),
        exchanges=tuple(map(_exchange, _listed(seed, "exchanges.json"))),
    )


def _listed(seed: RecipeFile, file: str) -> Any:
    return json.loads(seed.files.get(file, "[]"))


def _exchange(fields: Mapping[str, Any]) -> Exchange:
    """`url`, `status`, `type`, other `headers`, and `text` or `base64`."""
    headers = {"content-type": fields.get("type", ""), **fields.get("headers", {})}
    response = HttpResponse(
        status=fields.get("status", 200),
        headers=tuple((name, value) for name, value in headers.items() if value),
        body=fields.get("base64") or b64encode(fields.get("text", "").encode()).decode(),
        url=fields["url"],
    )
    request = HttpRequest(method="GET", url=fields["url"])
    return Exchange(request=request, response=response, at=_RECORDED)
