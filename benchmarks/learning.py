"""The savings of a library: `python -m benchmarks.learning [--requests N]`; the last line is JSON.

A stream of related requests, the same one twice: once with the library that it builds up, once with
one that is emptied after each turn. Everything is the real thing but the model, which is the
offline one behind its HTTP server; its tokens are estimated from the lengths of texts. There are 20
kinds of request, among them opposites such as encoding and decoding, in 5 wordings each with values
of their own, shuffled with a fixed seed. Both streams have the same budget per turn. `duplicates`
counts pairs of tools in the end that pass each other's tests. The exit code is 1 if a goal is
missed.

Of 100 requests, 80 were answered by an existing tool, the most that is possible, and all 100 were
answered in both runs, with no duplicates. A request took 2.99 model calls and 2,282 tokens with the
library, 6.00 and 6,392 without.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from benchmarks.goals import report
from selfeng.bootstrap import build_engine
from selfeng.core.events import Event, Outcome, SynthesisStep, TurnFinished
from selfeng.core.settings import Settings, load_settings
from selfeng.engine import Engine
from selfeng.synthesis.relatives import twin
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.cookbook.recipe import recipe_for_tool
from selfeng_offline.server import OfflineServer
from tests.doubles import handled

LEAST = {
    "answered": 1.0,
    "answered_without": 1.0,
    "reuse_rate": 0.8,
    "tokens_per_request_without": 1_000,
}
MOST = {"calls_per_request": 3.1, "tokens_per_request": 2_500, "duplicates": 0}
"""The smallest and the largest allowed figures of 100 requests."""
KINDS = (
    "reverse_string", "reverse_words", "uppercase_text", "lowercase_text", "caesar_encrypt", "caesar_decrypt", "camel_to_snake",  # noqa: E501
    "snake_to_camel", "calculate_percentage", "percentage_change", "number_to_roman", "roman_to_number", "celsius_to_fahrenheit",  # noqa: E501
    "fahrenheit_to_celsius", "kilograms_to_pounds", "pounds_to_kilograms", "base64_encode", "base64_decode", "text_to_morse",  # noqa: E501
    "morse_to_text",
)  # fmt: skip
"""Names of recipes; most have an opposite among them."""


def stream(count: int) -> list[str]:
    """The requests, in the same order each time."""
    wordings = [
        request for recipe in map(recipe_for_tool, KINDS) if recipe for request in recipe.requests
    ]
    return random.Random(0).sample(wordings, min(count, len(wordings)))


async def _run(settings: Settings, requests: Sequence[str], *, keep: bool) -> dict[str, Any]:
    engine = await build_engine(settings)
    try:
        await engine.setup.get_ready()
        reused = calls = tokens = finished = 0
        for number, request in enumerate(requests, 1):
            events: list[Event] = []
            last = await handled(engine.model_parts.current.orchestrator, request, events.append)
            built = any(isinstance(e, SynthesisStep) and e.step == "register" for e in events)
            finished += last.outcome is Outcome.ANSWERED
            reused += isinstance(last, TurnFinished) and last.tool is not None and not built
            calls += last.usage.calls
            tokens += last.usage.input_tokens + last.usage.output_tokens
            if not keep:
                for tool in await engine.library.tools():
                    await engine.library.remove(tool.name)
            if number % 20 == 0:
                sys.stdout.write(
                    f"{'with' if keep else 'without'} library: {number} requests, {reused} "
                    f"reused, {calls} model calls\n"
                )
                sys.stdout.flush()
        count = len(requests)
        return {
            "answered": finished / count,
            "reuse_rate": round(reused / count, 4),
            "calls_per_request": round(calls / count, 2),
            "tokens_per_request": round(tokens / count),
            "tools": len(await engine.library.tools()),
            "duplicates": await _duplicates(engine) if keep else 0,
        }
    finally:
        await engine.aclose()


async def _duplicates(engine: Engine) -> int:
    """Pairs of tools of which each passes the other's tests."""
    pairs = combinations(await engine.library.tools(), 2)
    return sum(
        [
            await twin(engine.sandbox, new.signature, new.code, new.tests, [old]) is not None
            for old, new in pairs
        ]
    )


async def _measure(count: int) -> dict[str, Any]:
    requests = stream(count)
    found = []
    for keep in (True, False):
        with OfflineServer(Cookbook(), delay=0) as server, tempfile.TemporaryDirectory() as folder:
            as_a_server = {  # the built-in one says that no tokens are used
                "openai_base_url": server.base_url,
                "openai_api_key": SecretStr(server.api_key),
                "openai_model": server.model,
            }
            settings = offline_settings(Path(folder)).model_copy(update=as_a_server)
            found.append(await _run(settings, requests, keep=keep))
    kept, without = found
    return {
        **kept,
        "calls_per_request_without": without["calls_per_request"],
        "tokens_per_request_without": without["tokens_per_request"],
        "answered_without": without["answered"],
        "requests": len(requests),
    }


def offline_settings(folder: Path) -> Settings:
    """This machine's settings with an empty library, and the offline model whatever they say."""
    settings = load_settings()
    (folder / "data").mkdir()
    (folder / "data" / "embedder").symlink_to(settings.data_dir / "embedder")
    (folder / "data" / "sandbox").symlink_to(settings.data_dir / "sandbox")
    own = {
        "data_dir": folder / "data",
        "tools_dir": folder / "tools",
        "chroma_persist_dir": folder / "chroma_db",
        "database_url": "",
    }
    return settings.model_copy(update={**own, "openai_api_key": None, "openai_base_url": None})


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=100)
    figures = asyncio.run(_measure(parser.parse_args().requests))
    return report(figures, MOST, LEAST)


if __name__ == "__main__":
    sys.exit(main())
