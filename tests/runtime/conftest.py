"""Clients of the two SDKs. Tests that need an SDK import it when they run: Anthropic's alone takes
as long as all else that pytest collects.
"""

from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING

import pytest

from tests.runtime.wire import Wire, serving

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI


@pytest.fixture(scope="session")
def shared_wire() -> Iterator[Wire]:
    with serving() as wire:
        yield wire


@pytest.fixture
def wire(shared_wire: Wire) -> Wire:
    shared_wire.replies.clear()
    shared_wire.asked.clear()
    return shared_wire


@pytest.fixture
async def openai_client(wire: Wire) -> AsyncIterator["AsyncOpenAI"]:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=wire.url, api_key="local", max_retries=0) as client:
        yield client


@pytest.fixture
async def anthropic_client(wire: Wire) -> AsyncIterator["AsyncAnthropic"]:
    from anthropic import AsyncAnthropic

    async with AsyncAnthropic(base_url=wire.url, api_key="local", max_retries=0) as client:
        yield client
