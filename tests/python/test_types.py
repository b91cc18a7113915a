"""Type checkers see the types of the package."""

import subprocess
import sys

import pytest

PROGRAM = """
import asyncio

from selfeng import Agent, AsyncAgent, File, Reply
from selfeng.core.events import Record
from selfeng.core.tool import Candidate, Tool


def main() -> None:
    with Agent("folder", model="gpt-4", turn_max_calls=20) as agent:
        reply: Reply = agent.ask("Hello!", files=[File(name="a.txt", content=b"a"), "b.txt"])
        number: int = agent.call("f", {"a": 1}, returns=int)
        tools: tuple[Tool, ...] = agent.tools()
        found: tuple[Candidate, ...] = agent.search("f")
        for record in agent.stream("Hello!"):
            seq: int = record.seq
    reveal_type(reply.text)
    reveal_type(agent.stream("Hello!"))
    reveal_type(agent.build("f"))
    reveal_type(agent.call("f", returns=list[str]))


async def asynchronous() -> None:
    async with AsyncAgent() as agent:
        reveal_type(await agent.ask("Hello!"))
        async for record in agent.stream("Hello!"):
            reveal_type(record)


asyncio.run(asynchronous())
"""


@pytest.mark.everywhere
def test_mypy_accepts_a_strict_program_and_sees_no_any(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    shown = [line.partition("note: ")[2] for line in done.stdout.splitlines()]
    assert (done.returncode, shown) == (
        0,
        [
            'Revealed type is "str"',
            'Revealed type is "typing.Generator[selfeng.core.events.Record, None, None]"',
            'Revealed type is "selfeng.core.tool.Tool"',
            'Revealed type is "list[str]"',
            'Revealed type is "selfeng.python.reply.Reply"',
            'Revealed type is "selfeng.core.events.Record"',
        ],
    ), done.stdout
