"""Whether a wrong tool gets itself a green verdict: `python -m benchmarks.forging [--backend NAME
...] [--mechanism LETTER ...] [--name NAME ...]`; the last line is JSON.

Every wrong tool and every hostile suite that the tests know goes through the whole chain, on each
backend of this machine: hostile ones, which try to escape or to forge a report, and wrong tools
with suites that a model might write, by mechanism (`tests/sandbox/forgeries`). `tried` counts them
over all backends, `admitted` those that passed the chain, `weak_suite_admitted` the hostile ones
that only the mutants or the replays kept out: their suite was too weak to tell. `refused` says at
which link the others ended. The right tool must pass with each of these suites, or the rest would
prove nothing: `refused_right` counts those that did not.

The mechanisms are A, an empty result over which a loop, `all(...)` or `zip` asserts nothing; B, an
expected value computed from what the tool did to its argument; C, an object whose parts disagree,
or which is asked whether it is what the test expects; D, NaN, infinity or None, on which no
comparison fails; E, verification told apart from use; F, mutants told apart from the original, or
few mutants; G, others, such as cancellations and values that can't pass between the processes.
"""

import argparse
import asyncio
import sys
from collections import Counter

from benchmarks.goals import report
from selfeng.core.composition import Importable
from selfeng.core.errors import SandboxError
from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis.gate import Chain, Judgement
from selfeng.synthesis.steps import SynthesisPolicy
from tests.sandbox.forgeries import forgeries, honest
from tests.sandbox.wrong_tools import RIGHT, WrongTool, wrong_tools

BACKENDS = ("docker", "bubblewrap")
SECONDS = 5.0
"""Time limit of a run: some never end."""
TRIES = 3
"""For a sandbox that breaks shows nothing about a tool."""
AT_ONCE = 2


def main(backends: list[str], mechanisms: list[str], names: list[str]) -> None:
    tried = subjects(mechanisms, names)
    if not tried:
        sys.exit(f"no tool of mechanism {mechanisms or 'any'} is named {names or 'anything'}")
    result = asyncio.run(_measure(backends, tried))
    sys.exit(report(result, {"admitted": 0, "refused_right": 0}))


def subjects(mechanisms: list[str], names: list[str]) -> list[tuple[str, bool, WrongTool]]:
    """The mechanism, "" for a hostile one, whether the tool is right, and the tool; all of them
    where neither a mechanism nor a name is given.
    """
    chosen = [
        f
        for f in (*forgeries(), *honest())
        if (not mechanisms or (f.mechanism or "honest") in mechanisms)
        and (not names or f.name in names)
    ]
    part = mechanisms or names
    hostile = [] if part else [("", True, RIGHT), *(("", False, w) for w in wrong_tools())]
    rights = {(f.mechanism, f.function, f.right, f.suite): f for f in chosen}
    tools = [(f, True, f.right) for f in rights.values()]
    tools += [(f, False, f.wrong) for f in chosen if f.wrong]
    return hostile + [
        (f.mechanism or "honest", right, WrongTool(f.name, f.function, f.right, code, f.suite))
        for f, right, code in tools
    ]


async def _measure(
    backends: list[str], tried: list[tuple[str, bool, WrongTool]]
) -> dict[str, object]:
    refused: Counter[str] = Counter()
    counts: dict[str, Counter[str]] = {}
    for backend in backends:
        sandbox = SecureSandbox(timeout=SECONDS, backend=backend)
        if not await asyncio.to_thread(sandbox.image_is_current):
            await asyncio.to_thread(sandbox.build_image)
        sandbox.start()
        chain, places = Chain(sandbox, SynthesisPolicy()), asyncio.Semaphore(AT_ONCE)
        judgements = await asyncio.gather(*(_judge(chain, tool, places) for *_, tool in tried))
        for (mechanism, right, tool), judgement in zip(tried, judgements, strict=True):
            wrong = "refused_right" if right else "admitted"
            count = counts.setdefault(mechanism, Counter(tried=0, admitted=0, refused_right=0))
            count["tried"] += not right
            count[wrong] += judgement.passed != right
            if not right:
                refused[judgement.link or "none"] += 1
                count["weak"] += judgement.link == "mutation"
            if judgement.passed != right:
                told = f"{judgement.link}: {' '.join(judgement.problem.split())}"
                sys.stdout.write(f"{wrong}: {mechanism} {tool.name} on {backend}: {told}\n")
        await sandbox.aclose()
    total = sum(counts.values(), Counter())
    return {
        "tried": total["tried"],
        "admitted": total["admitted"],
        "refused_right": total["refused_right"],
        "weak_suite_admitted": counts.get("", Counter())["weak"],
        "by_mechanism": {
            name: {key: count[key] for key in ("tried", "admitted", "refused_right")}
            for name, count in sorted(counts.items())
            if name
        },
        "backends": len(backends),
        "refused": {link: count for link, count in sorted(refused.items()) if link != "none"},
    }


async def _judge(chain: Chain, case: WrongTool, places: asyncio.Semaphore) -> Judgement:
    """The chain's judgement; a sandbox that fails over a tool has not let it pass."""
    draft = ToolDraft(
        name=case.function,
        description="",
        signature=parse_signature(case.specified, case.function),
        code=case.code,
        tests=case.suite,
        example_requests=(),
    )
    problem = ""
    async with places:
        for _ in range(TRIES):
            try:
                return await chain.judge(draft, Importable())
            except SandboxError as error:  # such as a machine that is too busy
                problem = str(error)
    return Judgement(link="green", problem=problem)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", action="append", choices=BACKENDS, help="by default both")
    parser.add_argument("--mechanism", action="append", default=[], help="by default all")
    parser.add_argument("--name", action="append", default=[], help="of a forgery or honest suite")
    options = parser.parse_args()
    main(options.backend or list(BACKENDS), options.mechanism, options.name)
