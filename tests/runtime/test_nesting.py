"""Nests of everything that can be sent, made at random: every reader gets the texts in the order in
which they were sent.
"""

import asyncio
import random

import pytest

from selfeng_agents import Message, MessageSequence, MiniAgents, miniagent
from tests.runtime.reading import texts


@miniagent
async def relay(ctx):
    ctx.reply(ctx.message_promises)


@miniagent
async def sender(ctx, nest, sends):
    for message in sends:
        await nest.perhaps_switch()
        ctx.reply(message)


class Nest:
    """Makes messages of every kind, and notes their texts."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.texts: list[str] = []
        self._kinds = [
            self._text,
            self._text,
            self._streamed,
            list,
            self._source,
            self._sequence,
            self._sent,
            self._relayed,
        ]

    def make(self, depth):
        kind = self._random.choice(self._kinds if depth else self._kinds[:3])
        if kind in self._kinds[:3]:
            self.texts.append(f"text {len(self.texts)}")
            return kind(self.texts[-1])
        return kind([self.make(depth - 1) for _ in range(self._random.randrange(4))])

    def coin(self) -> bool:
        return self._random.random() < 0.5

    async def perhaps_switch(self) -> None:
        if self.coin():
            await asyncio.sleep(0)

    def _text(self, text):
        return text if self.coin() else {"text": text}

    def _streamed(self, text):
        async def tokens(_):
            for token in text:
                await self.perhaps_switch()
                yield token

        return Message.promise(message_token_streamer=tokens, start_asap=self.coin())

    async def _source(self, messages):
        for message in messages:
            await self.perhaps_switch()
            yield message

    def _sequence(self, messages):
        with MessageSequence(start_asap=self.coin()) as sequence:
            sequence.append(messages)
        return sequence.sequence_promise

    def _sent(self, messages):
        return sender.inquire(nest=self, sends=messages, start_asap=self.coin())

    def _relayed(self, messages):
        return relay.inquire(messages, start_asap=self.coin())


async def streamed_texts(sequence):
    return ["".join([token async for token in promise]) async for promise in sequence]


@pytest.mark.parametrize("seed", range(40))
async def test_every_reader_gets_every_text_in_order(seed):
    nest = Nest(seed)
    async with MiniAgents(start_everything_asap_by_default=nest.coin()):
        replies = sender.inquire(nest=nest, sends=[nest.make(depth=4) for _ in range(5)])
        read = await asyncio.gather(
            streamed_texts(replies), texts(replies), streamed_texts(replies)
        )
    assert read == [nest.texts] * 3
