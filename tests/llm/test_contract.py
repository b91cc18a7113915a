"""The contract that `selfeng.testing` has for every provider of models."""

import json
from typing import Any

import pytest

from selfeng.llm_client import LLMClient
from selfeng.models.chat import ModelReply
from selfeng.testing import PROVIDER_CASES, ProviderCase
from selfeng_offline.completion import Completion
from selfeng_offline.wire import Rejection
from tests.llm.desk import Desk


class OpenAIBench:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @property
    def client(self) -> LLMClient:
        return self._desk.client

    def answer(self, *replies: ModelReply | int) -> None:
        self._desk.play(*map(_step, replies))


def _step(reply: ModelReply | int) -> Any:
    if isinstance(reply, int):
        return Rejection(reply, "Not now.", headers={"retry-after-ms": "1"})
    if reply.calls:
        call = reply.calls[0]
        return Completion(function=call.name, arguments=json.loads(call.arguments))
    return Completion(content=reply.text, finish_reason="length" if reply.cut_off else "stop")


@pytest.mark.parametrize("case", PROVIDER_CASES, ids=str)
async def test_openai_compatible_servers_keep_the_contract(case: ProviderCase, desk: Desk) -> None:
    await case.check(OpenAIBench(desk))
