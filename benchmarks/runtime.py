"""The cost of agents next to bare asyncio, a task plus a queue each: `python -m benchmarks.runtime
[ROUNDS] [--beside PYTHON]`.

Everything is measured in turns, in seconds of the processor, so that what else the machine does is
not measured:

call          one agent is called with a message and its reply awaited
token         one token of an agent's reply is read, when all are there at once
woken_token   the same when each comes alone, so that the reader waits for it
agents        10,000 agents wait at the same time, and then reply
chain         100 agents, each of which streams the 1,000 tokens of the one before it on

`memory` is what an agent takes while it waits. The last line is one JSON object, in which
`agents_10k_s` is by the clock. `--beside` names the Python of an environment with the package
`miniagents` (`make bench-runtime-miniagents` makes one), for the same rows. The exit code is 1 if a
goal is missed.

One round on two cores:

               bare asyncio  here      ratio  miniagents 0.0.35
call           14.0 us       31.8 us   2.3    633 us
token          0.59 us       0.42 us   0.7    2.5 us
woken_token    9.3 us        9.5 us    1.0    17.0 us
agents         27.1 us       42.4 us   1.6    1270 us
chain          3.5 us        5.1 us    1.5    16.5 us
memory                       2.7 KB           39.6 KB
"""

import argparse
import asyncio
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from benchmarks import runtime_rows
from benchmarks.goals import report
from benchmarks.runtime_rows import (
    AGENTS,
    CALLS,
    CHAIN,
    CHAIN_TOKENS,
    TOKENS,
    Agents,
    Bare,
    measure,
)
from selfeng_agents import Message, MiniAgents, miniagent

ROWS = {
    "call": CALLS,
    "token": TOKENS,
    "woken_token": TOKENS // 10,
    "agents": AGENTS,
    "chain": CHAIN * CHAIN_TOKENS,
}
"""The rows, and how many of the thing that they are named after each has."""
GOALS = {
    "call_ratio": 3.0,
    "token_ratio": 1.0,
    "woken_token_ratio": 1.3,
    "agents_ratio": 2.0,
    "chain_ratio": 2.0,
    "kb_per_agent": 3.5,
}
"""The largest allowed figures."""


class Peer:
    """The rows in another environment."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603  the Python that was named on the command line
            [python, "-E", str(Path(runtime_rows.__file__))],  # the package, not the alias
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )

    def measure(self, name: str) -> tuple[float, float]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{name}\n")
        worked, took = stdout.readline().split()
        return float(worked), float(took)

    def close(self) -> None:
        self._process.communicate()


Times = dict[str, list[tuple[float, float]]]
"""By who was measured, what each round took of the processor and by the clock."""


def main(rounds: int, beside: str | None) -> int:
    ours = Agents(SimpleNamespace(MiniAgents=MiniAgents, message=Message, miniagent=miniagent))
    who: dict[str, Callable[[str], tuple[float, float]]] = {
        "bare": lambda name: asyncio.run(measure(Bare(), name)),
        "ours": lambda name: asyncio.run(measure(ours, name)),
    }
    peer = Peer(beside) if beside else None
    if peer:
        who["miniagents"] = peer.measure
    times: dict[str, Times] = {name: {one: [] for one in who} for name in ROWS}
    for _ in range(rounds):
        for name, taken in times.items():
            for one, take in who.items():
                taken[one].append(take(name))
    memory = {one: take("memory")[0] for one, take in who.items() if one != "bare"}
    if peer:
        peer.close()
    figures = _result(times, memory)
    return report(figures, GOALS)


def _result(times: dict[str, Times], memory: dict[str, float]) -> dict[str, float]:
    worked = {
        name: {one: statistics.median(t[0] for t in taken) for one, taken in row.items()}
        for name, row in times.items()
    }
    for name, row in worked.items():
        each = "   ".join(
            f"{one} {seconds / ROWS[name] * 1e6:8.2f} µs" for one, seconds in row.items()
        )
        sys.stdout.write(f"{name:12} {each}   ratio {row['ours'] / row['bare']:5.2f}\n")
    sys.stdout.write(
        "memory       "
        + "   ".join(f"{one} {size / 1024:.1f} KB" for one, size in memory.items())
        + "\n"
    )
    result: dict[str, float] = {}
    for one, size in memory.items():
        prefix = "" if one == "ours" else f"{one}_"
        result |= {
            f"{prefix}{name}_ratio": round(row[one] / row["bare"], 2)
            for name, row in worked.items()
        }
        result[f"{prefix}agents_10k_s"] = round(
            statistics.median(t[1] for t in times["agents"][one]), 3
        )
        result[f"{prefix}kb_per_agent"] = round(size / 1024, 2)
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--beside", metavar="PYTHON")
    arguments = parser.parse_args()
    sys.exit(main(arguments.rounds, arguments.beside))
