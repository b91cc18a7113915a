"""Whether a wrong tool gets itself a green verdict: `python -m benchmarks.forging [--backend NAME
...]`; the last line is JSON.

Every wrong tool and every hostile suite that the tests know goes through the whole chain, on each
backend of this machine. `tried` counts them over all backends, `admitted` those that passed the
chain, `weak_suite_admitted` those that only the mutants kept
out: their suite was too weak to tell. `refused` says at which link the others ended. The right
    tool, with the suite of most of the
wrong ones, must pass on each backend, or the rest would prove nothing: `right_admitted` of
`backends`.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from contextlib import nullcontext

from selfeng.core.composition import Importable
from selfeng.core.errors import SandboxError
from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis.chain import Chain, Judgement
from selfeng.synthesis.policy import SynthesisPolicy
from tests.sandbox.wrong_tools import RIGHT, WrongTool, wrong_tools

BACKENDS = ("docker", "bubblewrap")
SECONDS = 5.0
"""Time limit of a run: some never end."""
AT_ONCE = 2


def main(backends: list[str]) -> None:
    result = asyncio.run(_measure(backends))
    sys.stdout.write(json.dumps(result) + "\n")
    sys.exit(bool(result["admitted"]) or result["right_admitted"] != result["backends"])


async def _measure(backends: list[str]) -> dict[str, object]:
    refused: Counter[str] = Counter()
    admitted, right, cases = [], 0, wrong_tools()
    for backend in backends:
        sandbox = SecureSandbox(timeout=SECONDS, backend=backend)
        if not await asyncio.to_thread(sandbox.image_is_current):
            await asyncio.to_thread(sandbox.build_image)
        chain, places = Chain(sandbox, SynthesisPolicy()), asyncio.Semaphore(AT_ONCE)
        right += (await _judge(chain, RIGHT)).passed
        found = await asyncio.gather(*(_judge(chain, case, places) for case in cases))
        for case, judgement in zip(cases, found, strict=True):
            refused[judgement.link or "none"] += 1
            if judgement.passed:
                admitted.append(f"{case.name} on {backend}")
        await sandbox.aclose()
    for name in admitted:
        sys.stdout.write(f"admitted: {name}\n")
    return {
        "tried": len(cases) * len(backends),
        "admitted": len(admitted),
        "weak_suite_admitted": refused["mutation"],
        "right_admitted": right,
        "backends": len(backends),
        "refused": {link: count for link, count in sorted(refused.items()) if link != "none"},
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
    main(parser.parse_args().backend or list(BACKENDS))
