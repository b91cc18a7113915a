"""Whether a wrong tool gets itself a green verdict: `python -m benchmarks.forging [--backend NAME
...] [--mechanism LETTER ...] [--name NAME ...]`; the last line is JSON.

Every wrong tool and every hostile suite that the tests know goes through the whole chain, on each
backend of this machine. `tried` counts them over all backends, `admitted` those that passed the
chain, `weak_suite_admitted` those that only the mutants kept out: their suite was too weak to tell.
`refused` says at which link the others ended. The right tool, with the suite of most of the wrong
ones, must pass on each backend, or the rest would prove nothing: `right_admitted` of `backends`.
So must the right tool of each forgery and every honest suite: `refused_right` counts those that
did not. `by_mechanism` splits the three counts: by the letter of a forgery, with "" for all others.
With `--mechanism` or `--name` a part of the forgeries alone is judged.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from contextlib import nullcontext
from typing import Any

from selfeng.core.composition import Importable
from selfeng.core.errors import SandboxError
from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis.chain import Chain, Judgement
from selfeng.synthesis.policy import SynthesisPolicy
from tests.sandbox.forgeries import Forgery, forgeries, honest
from tests.sandbox.wrong_tools import RIGHT, WrongTool, wrong_tools

BACKENDS = ("docker", "bubblewrap")
SECONDS = 5.0
"""Time limit of a run: some never end."""
AT_ONCE = 2


def main(backends: list[str], mechanisms: list[str], names: list[str]) -> None:
    result = asyncio.run(_measure(backends, *_cases(mechanisms, names)))
    sys.stdout.write(json.dumps(result) + "\n")
    sys.exit(
        bool(result["admitted"] or result["refused_right"])
        or result["right_admitted"] != result["backends"]
    )


def _cases(mechanisms: list[str], names: list[str]) -> tuple[list[WrongTool], list[WrongTool]]:
    """The wrong tools and the right ones."""
    chosen = [
        case
        for case in [*forgeries(), *honest()]
        if (not mechanisms or case.mechanism in mechanisms) and (not names or case.name in names)
    ]
    if not chosen:
        sys.exit(f"no forgery has mechanism {mechanisms or 'any'} and name {names or 'any'}")
    wrong = [] if mechanisms or names else wrong_tools()
    return (
        wrong + [_as_tool(case, case.wrong) for case in chosen if case.wrong],
        [_as_tool(case, case.right) for case in chosen],
    )


def _as_tool(case: Forgery, code: str) -> WrongTool:
    return WrongTool(case.name, case.function, case.right, code, case.suite, case.mechanism)


async def _measure(
    backends: list[str], wrong: list[WrongTool], right: list[WrongTool]
) -> dict[str, Any]:
    refused: Counter[str] = Counter()
    counts = {
        letter: dict.fromkeys(("tried", "admitted", "refused_right"), 0)
        for letter in sorted({case.mechanism for case in [*wrong, *right]})
    }
    right_admitted = 0
    for backend in backends:
        sandbox = SecureSandbox(timeout=SECONDS, backend=backend)
        if not await asyncio.to_thread(sandbox.image_is_current):
            await asyncio.to_thread(sandbox.build_image)
        chain, places = Chain(sandbox, SynthesisPolicy()), asyncio.Semaphore(AT_ONCE)
        right_admitted += (await _judge(chain, RIGHT)).passed
        found = await asyncio.gather(*(_judge(chain, case, places) for case in [*wrong, *right]))
        for number, (case, judgement) in enumerate(zip([*wrong, *right], found, strict=True)):
            is_wrong, count = number < len(wrong), counts[case.mechanism]
            count["tried"] += is_wrong
            refused[judgement.link or "none"] += is_wrong
            if judgement.passed == is_wrong:
                failure = "admitted" if is_wrong else "refused_right"
                count[failure] += 1
                sys.stdout.write(
                    f"{failure}: {case.name} ({case.mechanism or '-'}) on {backend}: "
                    f"{judgement.link or 'passed'}: {' '.join(judgement.problem.split())}\n"
                )
        await sandbox.aclose()
    return {
        **{
            key: sum(count[key] for count in counts.values())
            for key in ("tried", "admitted", "refused_right")
        },
        "weak_suite_admitted": refused["mutation"],
        "right_admitted": right_admitted,
        "backends": len(backends),
        "refused": {
            link: count for link, count in sorted(refused.items()) if count and link != "none"
        },
        "by_mechanism": counts,
    }


async def _judge(
    chain: Chain, case: WrongTool, places: asyncio.Semaphore | None = None
) -> Judgement:
    """What the chain says; a sandbox that fails over a tool has not let it pass."""
    signature = parse_signature(case.specified, case.function)
    draft = ToolDraft(
        name=case.function,
        description="",
        signature=signature,
        code=case.code,
        tests=case.suite,
        example_requests=(),
    )
    async with places or nullcontext():
        try:
            return await chain.judge(draft, Importable())
        except SandboxError as error:
            return Judgement(link="green", problem=str(error))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", action="append", choices=BACKENDS, help="by default both")
    parser.add_argument(
        "--mechanism", action="append", help="letter of the forgeries to judge, by default all"
    )
    parser.add_argument("--name", action="append", help="name of a forgery or an honest suite")
    given = parser.parse_args()
    main(given.backend or list(BACKENDS), given.mechanism or [], given.name or [])
