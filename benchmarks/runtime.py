"""What agents cost beside bare asyncio, a task plus a queue each: `python -m benchmarks.runtime [ROUNDS] [--beside PYTHON]`.

Everything is measured in turns, so that what else the machine does hits all alike:

call          one agent is called with a message and its reply awaited
token         one token of an agent's reply is read, when all are there at once
woken_token   the same when each comes alone, so that the reader waits for it
agents        10,000 agents wait at the same time, and then reply
chain         100 agents, each of which streams the 1,000 tokens of the one before it on

`memory` is what an agent takes while it waits. The last line is one JSON object. `--beside` names the Python of an environment with the
package `miniagents` (`make bench-runtime-miniagents` makes one), for the same rows.
"""

import argparse
import asyncio
import json
import statistics
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from benchmarks import runtime_rows
from benchmarks.runtime_rows import AGENTS, CALLS, CHAIN, CHAIN_TOKENS, TOKENS, Agents, Bare, measure
from src.runtime import Message, MiniAgents, miniagent

ROWS = {"call": CALLS, "token": TOKENS, "woken_token": TOKENS // 10, "agents": AGENTS, "chain": CHAIN * CHAIN_TOKENS}
"""The rows, and how many of the thing that they are named after each has."""


class Peer:
    """The rows in another environment."""

    def __init__(self, python: str) -> None:
        self._process = subprocess.Popen(  # noqa: S603  the Python that was named on the command line
            [python, str(Path(runtime_rows.__file__))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )

    def measure(self, name: str) -> float:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(f"{name}\n")
        return float(stdout.readline())

    def close(self) -> None:
        self._process.communicate()


def main(rounds: int, beside: str | None) -> None:
    ours = Agents(SimpleNamespace(MiniAgents=MiniAgents, message=Message, miniagent=miniagent))
    peer = Peer(beside) if beside else None
    seconds: dict[str, dict[str, list[float]]] = {name: {"bare": [], "ours": [], "miniagents": []} for name in ROWS}
    for _ in range(rounds):
        for name, times in seconds.items():
            times["bare"].append(asyncio.run(measure(Bare(), name)))
            times["ours"].append(asyncio.run(measure(ours, name)))
            if peer:
                times["miniagents"].append(peer.measure(name))
    memory = {"ours": asyncio.run(measure(ours, "memory"))}
    if peer:
        memory["miniagents"] = peer.measure("memory")
        peer.close()
    sys.stdout.write(json.dumps(_result(seconds, memory)) + "\n")


def _result(seconds: dict[str, dict[str, list[float]]], memory: dict[str, float]) -> dict[str, float]:
    median = {name: {who: statistics.median(times) for who, times in all_times.items() if times} for name, all_times in seconds.items()}
    for name, middle in median.items():
        each = "   ".join(f"{who} {middle[who] / ROWS[name] * 1e6:8.2f} µs" for who in middle)
        sys.stdout.write(f"{name:12} {each}   ratio {middle['ours'] / middle['bare']:5.2f}\n")
    sys.stdout.write("memory       " + "   ".join(f"{who} {size / 1024:.1f} KB" for who, size in memory.items()) + "\n")
    return {
        **{f"{name}_ratio": round(middle["ours"] / middle["bare"], 2) for name, middle in median.items()},
        "agents_10k_s": round(median["agents"]["ours"], 3),
        "kb_per_agent": round(memory["ours"] / 1024, 2),
        **{f"miniagents_{name}_ratio": round(m["miniagents"] / m["bare"], 2) for name, m in median.items() if "miniagents" in m},
        **({"miniagents_agents_10k_s": round(median["agents"]["miniagents"], 3)} if "miniagents" in median["agents"] else {}),
        **({"miniagents_kb_per_agent": round(memory["miniagents"] / 1024, 2)} if "miniagents" in memory else {}),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", type=int, nargs="?", default=5)
    parser.add_argument("--beside", metavar="PYTHON")
    arguments = parser.parse_args()
    main(arguments.rounds, arguments.beside)
