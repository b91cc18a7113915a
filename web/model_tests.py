"""Tests of a model's server that pages have asked for, one a page at a time."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from selfeng.core.errors import AgentError
from web.payloads import plain, problem

if TYPE_CHECKING:
    from selfeng.provision.configuration import Configuration
    from selfeng.store.spending import Spending

log = logging.getLogger(f"selfeng.{__name__}")

Tell = Callable[[dict[str, Any]], None]


class ModelTests:
    """Used on the engine's loop only."""

    def __init__(self, configuration: "Configuration", spending: "Spending") -> None:
        self._configuration, self._spending = configuration, spending
        self._tests: dict[str, asyncio.Task[None]] = {}

    async def begin(self, owner: str, page: str, changes: Mapping[str, Any], tell: Tell) -> None:
        """Test the server that the settings name with these changes. `tell` gets each `ability`,
        and last what they mean together as `suitability`, or an `error`. The `owner` pays.
        """
        await self.stop(page)
        test = self._tests[page] = asyncio.create_task(self._test(owner, changes, tell))
        test.add_done_callback(
            lambda _: self._tests.pop(page) if self._tests.get(page) is test else None
        )

    async def stop(self, page: str) -> None:
        """Stop the page's test, if one runs; it reports nothing more."""
        if test := self._tests.pop(page, None):
            test.cancel()

    async def _test(self, owner: str, changes: Mapping[str, Any], tell: Tell) -> None:
        results = []
        try:
            async with (
                self._spending.outside_turns(owner) as budget,
                aclosing(self._configuration.abilities(changes, budget)) as abilities,
            ):
                async for ability in abilities:
                    results.append(ability)
                    tell({"ability": plain(ability)})
        except Exception as error:  # the edge of a task
            if not isinstance(error, AgentError):
                log.exception("a test of the model's server failed")
            tell({"error": problem(error)})
        else:
            from selfeng.models.abilities import suitability  # imports the SDK

            means = suitability(results)
            tell({"suitability": {**plain(means), "usable": means.usable}})
