"""Model servers that run on this machine without a key, at their usual ports."""

import asyncio
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from selfeng.core.status import LocalServer, LocalServerKind

if TYPE_CHECKING:
    import httpx2

PORTS: Mapping[int, LocalServerKind] = MappingProxyType(
    {11434: "ollama", 1234: "lmstudio", 8080: "llamacpp", 8000: "vllm", 1337: "jan"}
)
"""Where the usual servers are unless configured otherwise."""
_OWNERS: Mapping[str, LocalServerKind] = MappingProxyType(
    {"library": "ollama", "organization_owner": "lmstudio", "llamacpp": "llamacpp", "vllm": "vllm"}
)
"""The kinds of servers, by the owner that they name for their models."""
_SHARED = {8080, 8000}
"""Ports of many programs, which name no server."""
_HOSTS = ("127.0.0.1", "[::1]")
_PATIENCE = 0.2
"""Seconds."""
_OURS = "selfeng"
_NO_CHAT = re.compile(r"embed|rerank|whisper|\btts\b|\bbge\b|minilm", re.IGNORECASE)
"""In the names of models that don't chat."""


async def local_servers(
    ports: Mapping[int, LocalServerKind] = PORTS, patience: float = _PATIENCE
) -> tuple[LocalServer, ...]:
    """The servers that list at least one model within `patience` seconds, in the order of
    `ports`.
    """
    import httpx2  # takes as long to import as the rest of a start

    from selfeng.core.bounded_reply import bound

    hooks = {"response": [bound]}
    async with httpx2.AsyncClient(trust_env=False, verify=False, event_hooks=hooks) as client:
        places = [(port, host) for port in ports for host in _HOSTS]
        probes = [_probed(client, host, port, ports[port], patience) for port, host in places]
        answers = await asyncio.gather(*probes)
    first: dict[int, LocalServer] = {}
    for (port, _), server in zip(places, answers, strict=True):
        if server:
            first.setdefault(port, server)
    return tuple(first.values())


async def _probed(
    client: "httpx2.AsyncClient", host: str, port: int, usual: LocalServerKind, patience: float
) -> LocalServer | None:
    import httpx2

    try:
        async with asyncio.timeout(patience):
            response = await client.get(f"http://{host}:{port}/v1/models")
        listed: Any = response.json() if response.status_code == 200 else None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, ValueError, RecursionError):
        return None
    models = _models_in(listed)
    chatting = tuple(name for name in models if not _NO_CHAT.search(name))
    if not chatting or _OURS in models.values():
        return None
    owner_kind = next((_OWNERS[owner] for owner in models.values() if owner in _OWNERS), None)
    kind = owner_kind or ("other" if port in _SHARED else usual)
    host_name = "localhost" if host == _HOSTS[0] else host
    return LocalServer(kind=kind, address=f"http://{host_name}:{port}/v1", models=chatting)


def _models_in(listed: Any) -> dict[str, str]:
    """Owners of models by id, in a list as OpenAI's protocol has it; empty if it is none."""
    data = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        return {}
    if listed.get("object") != "list" and any(item.get("object") != "model" for item in data):
        return {}
    ids = [item.get("id") for item in data]
    if not all(isinstance(id, str) and id for id in ids):
        return {}
    return {item["id"]: str(item.get("owned_by")) for item in data}
