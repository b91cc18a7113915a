"""ToolNetwork: what tools of the library need with consent: grants, probes and calls."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from selfeng.core.background import in_thread
from selfeng.core.errors import NetworkRefused, ResourceNotFound
from selfeng.core.files import File
from selfeng.core.http import Exchange, HttpRequest, HttpResponse, Network, NetworkAccess
from selfeng.core.owner import current_owner
from selfeng.core.package_lock import PackageLock, lock_packages
from selfeng.core.pictures import Sight
from selfeng.core.protocols import Sandbox
from selfeng.core.tool import Need, Tool
from selfeng.core.verdict import CallLimits, Execution, Killed, Raised, SandboxJob
from selfeng.store.grants import Grants


class Networks(Protocol):
    """Sends requests; see `Broker`."""

    def network(
        self, accesses: Sequence[NetworkAccess], on_exchange: Callable[[Exchange], None]
    ) -> Network: ...


class _WithRefusals:
    """A `Network` that keeps what it refused."""

    def __init__(self, network: Network) -> None:
        self._network, self.repeatable = network, network.repeatable
        self.refusals: list[NetworkRefused] = []

    async def send(self, request: HttpRequest) -> HttpResponse:
        try:
            return await self._network.send(request)
        except NetworkRefused as error:
            self.refusals.append(error)
            raise


class GrantedNetwork:
    """Implements `ToolNetwork`."""

    def __init__(
        self,
        sandbox: Sandbox,
        networks: Networks,
        grants: Grants,
        check: Callable[[CallLimits], object] = lambda limits: None,
    ) -> None:
        """`check` raises RequestError for limits that no call gets on this machine."""
        self._sandbox, self._networks, self._grants = sandbox, networks, grants
        self._check = check

    async def ungranted(self, tool: Tool | Sight) -> tuple[Need, ...]:
        return await asyncio.to_thread(self._grants.ungranted, _holder(tool), tool.needs)

    async def grant(self, tool: Tool | Sight, needs: Sequence[Need]) -> None:
        owner = current_owner()
        await asyncio.to_thread(self._grants.put, owner, _holder(tool), tool.version, needs)

    async def check_limits(self, limits: CallLimits) -> None:
        self._check(limits)

    async def lock(self, requirements: Sequence[str]) -> PackageLock:
        return await asyncio.to_thread(lock_packages, requirements)

    async def probe(self, accesses: Sequence[NetworkAccess], url: str) -> Exchange:
        exchanges: list[Exchange] = []
        network = self._networks.network(accesses, exchanges.append)
        await network.send(HttpRequest(method="GET", url=url))
        return exchanges[-1]

    async def execute(
        self,
        job: SandboxJob,
        arguments: Mapping[str, Any],
        files: Sequence[File],
        accesses: Sequence[NetworkAccess],
    ) -> Execution:
        exchanges: list[Exchange] = []
        hosts = {access.host for access in accesses}
        grants = [grant.need for grant in await self.grants(job.name)]
        redirects = [g for g in grants if isinstance(g, NetworkAccess) and g.after in hosts]
        allowed = tuple(dict.fromkeys([*accesses, *redirects]))
        network = _WithRefusals(self._networks.network(allowed, exchanges.append))
        live_job = replace(job, exchanges=())
        execution = await self._sandbox.execute(live_job, arguments, files, network)
        if isinstance(execution, Killed):
            return execution
        execution = execution.model_copy(update={"exchanges": tuple(exchanges)})
        if isinstance(execution, Raised) and network.refusals:
            refusal = network.refusals[-1]
            reason = {
                "type_name": "NetworkRefused",
                "message": str(refusal),
                "lacks": refusal.lacks,
            }
            return execution.model_copy(update=reason)
        return execution

    grants = in_thread("_grants", Grants.read)
    revoke = in_thread("_grants", Grants.revoke)

    async def allow(self, owner: str, tool: Tool, name: str = "") -> tuple[Need, ...]:
        """Grant a tool what it needs: the host, package or limit of this name, or all; returns it.

        Raises:
            ResourceNotFound: it does not need that.
            RequestError: no call gets as much on this machine.
        """
        needs = self.needed(tool, name)
        for need in needs:
            if isinstance(need, CallLimits):
                self._check(need)
        await asyncio.to_thread(self._grants.put, owner, tool.name, tool.version, needs)
        return needs

    def needed(self, tool: Tool, name: str = "") -> tuple[Need, ...]:
        """The needs that `allow` grants. Raises: as `allow`."""
        listed = [need for need in tool.for_calls([{}]).needs if name in ("", need.name)]
        hosts = [its for access in tool.network if access.argument for its in access.at(name)]
        needs = tuple(listed or hosts)
        if not needs:
            names = ", ".join(need.name for need in tool.needs) or "nothing"
            raise ResourceNotFound(
                f"{tool.name} does not need {name!r}" if name else f"{tool.name} needs no consent",
                f"what it needs: {names}",
            )
        return needs

    async def with_granted(self, tool: Tool) -> Tool:
        """The tool with the granted hosts of its calls, and of redirects, in addition to those that
        it always needs.
        """
        grants = await self.grants(tool.name) if tool.network else ()
        hosts = [grant.need for grant in grants if isinstance(grant.need, NetworkAccess)]
        if not any(access.argument for access in tool.network):
            hosts = [host for host in hosts if host.after]
        network = tuple(dict.fromkeys([*tool.network, *hosts]))
        return tool.model_copy(update={"network": network})


def _holder(tool: Tool | Sight) -> str:
    """The holder of a grant: a tool, for everybody, as the library is shared; pictures, for a
    person.
    """
    return f"{tool.name} of {current_owner()}" if isinstance(tool, Sight) else tool.name
