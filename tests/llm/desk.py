"""The parts of a test of the client: a client, a budget, and the one real server whose script it
writes.
"""

import asyncio
from typing import Any

from pydantic import BaseModel

from selfeng.core.prompt import ChatMessage, FunctionCall, FunctionSchema, Prompt
from selfeng.core.turn import Budget
from selfeng.llm_client import LLMClient
from selfeng.models.pricing import free
from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.server import OfflineServer
from tests.script import Script

KEY = "local-0123456789abcdef"
PROMPT = Prompt(
    name="decide",
    messages=(
        ChatMessage(role="system", content="# Task: choose a tool"),
        ChatMessage(role="user", content="What is 15 percent of 300?"),
    ),
)
WIRE_PROMPT = [{"role": message.role, "content": message.content} for message in PROMPT.messages]


class Desk:
    """The server's author, passing on to the script of the test that runs."""

    def __init__(self) -> None:
        self.server = OfflineServer(self, api_key=KEY, delay=0)

    def complete(self, request: CompletionRequest) -> Completion:
        return self.script.complete(request)

    def clear(self) -> None:
        """Begin a test."""
        self.script, self.budget = Script(), Budget()
        self.server.left.clear()
        self._clients: list[LLMClient] = []
        self.use()

    def play(self, *steps: Any, **options: Any) -> None:
        self.script = Script(*steps, **options)

    def use(self, **options: Any) -> None:
        """Go on with another client."""
        usual = {
            "model": "offline",
            "base_url": self.server.base_url,
            "api_key": KEY,
            "timeout": 10,
            "max_retries": 2,
            "price": free,
            "unopened": False,
        }
        self.client = LLMClient(**{**usual, **options})
        self._clients.append(self.client)

    async def aclose(self) -> None:
        for client in self._clients:
            await client.aclose()

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The requests that the server saw."""
        return [request.body for request in self.script.requests]

    @property
    def asked(self) -> tuple[Prompt, Budget]:
        return PROMPT, self.budget

    async def collect(self) -> list[str]:
        return [piece async for piece in self.client.stream(*self.asked)]

    async def collect_into(self, pieces: list[str]) -> None:
        async for piece in self.client.stream(*self.asked):
            pieces.append(piece)  # one by one: they are looked at after an error

    async def structured(self, reply: type[BaseModel]) -> BaseModel:
        return await self.client.structured(PROMPT, reply, self.budget)

    async def choose(self, *functions: FunctionSchema) -> FunctionCall:
        return await self.client.choose(PROMPT, functions, self.budget)

    async def client_left(self) -> bool:
        """Wait until the server noticed that its client left."""
        return await asyncio.to_thread(self.server.left.wait, 5)
