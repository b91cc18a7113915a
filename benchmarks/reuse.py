"""Whether requests reuse their tools: `python -m benchmarks.reuse [--wrong] [--requests N]`. The
last line is JSON; the exit code is 1 if a goal is missed.

Each request of reuse.jsonl is decided on its own, over the first tools and 30 of the offline
model's cookbook, with the real embedder and model servers over HTTP. One server's model chooses as
labelled if it sees the labelled tool, and else declines with the labelled request that stands
alone; the other's only talks. Where no tool is likely and the specification lists the labelled one,
it is taken to name it: its call counts, too. `reuse_en` and `reuse_other` are the shares of the
requests with a labelled tool, in English and in other languages, that get it. `wrong_tool_run`
counts requests that got another tool from either model, and `followup_max_confidence` is the
highest confidence that an unrelated follow-up showed. `calls` and `tokens` are means over the
requests with a labelled tool, without the answer's; a token is as the offline server counts it,
about four characters. `--wrong` lists the requests that did not get what is labelled;
`--requests` asks only so many.

518 requests in two minutes; calls and tokens of all rows are those before the answer, without the
tokens of specifications:

                                              number  as labelled  calls  tokens
paraphrase                                    135     1.0          1.00   423
follow-up                                     40      1.0          1.00   550
follow-up, other languages                    4       1.0          1.00   554
other languages                               230     0.948        1.15   516
opposite (only the other direction is there)  11      1.0          1.00   428
opposite, other languages                     4       1.0          1.25   630
near miss, eight of them follow-ups           28      1.0          1.00   454
unrelated                                     20      1.0          0.55   227
unrelated, other languages                    16      1.0          0.38   195
unrelated follow-up                           26      1.0          1.00   545
unrelated follow-up, other languages          4       1.0          1.00   552

Reuse is 1.0 in English and 0.949 elsewhere: for 44 of those requests nothing is likely, and the
specification lists 33 of their tools. Those of the others are found by its English words, which is
not measured here. With a model that only talks no wrong tool ran either, and an unrelated follow-up
showed 0.18 at most.
"""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.goals import report
from benchmarks.lookup import library as opened_library
from selfeng.core.errors import ModelReplyInvalid
from selfeng.core.events import Event, NoToolFound, ToolFound
from selfeng.core.functions import NO_TOOL_FITS, STANDALONE
from selfeng.core.prompt import ChatMessage
from selfeng.core.stage_event import Usage
from selfeng.core.tool import ToolDraft
from selfeng.core.turn import Budget, Request, Turn
from selfeng.core.value import Value
from selfeng.library.composition.linked_sandbox import PinnedSources
from selfeng.llm_client import LLMClient
from selfeng.models.pricing import free
from selfeng.seeds import load_seeds
from selfeng.stages.decision import Decider, Thresholds
from selfeng.stages.executor import Call, Executor
from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.cookbook.recipe import recipes
from selfeng_offline.server import OfflineServer
from tests.doubles import ScriptedSandbox

LEAST = {"reuse_en": 0.95, "reuse_other": 0.9}
MOST = {"wrong_tool_run": 0, "followup_max_confidence": 0.2}
_VALUES: Mapping[str, Any] = {
    "string": "text", "integer": 1, "number": 1.5, "boolean": True, "object": {}, "null": None,
}  # fmt: skip


class Case(Value):
    """A labelled request."""

    kind: Literal[
        "paraphrase", "followup", "unrelated_followup", "other_language", "opposite", "near_miss",
        "unrelated",
    ]  # fmt: skip
    language: str
    tool: str | None
    """None if no tool of the library fits."""
    request: str
    standalone: str = ""
    """In English, where the request does not stand alone or is in another language."""
    former: str = ""
    """The request before it."""


class Outcome(NamedTuple):
    """The decision on a case."""

    case: Case
    tool: str | None
    """The tool that would run."""
    shown: float
    """The highest confidence in the event."""
    usage: Usage


class Labelled:
    """Chooses as the label of the case says."""

    case: Case

    def complete(self, request: CompletionRequest) -> Completion:
        offered = {tool["function"]["name"]: tool["function"] for tool in request.tools}
        name = self.case.tool if self.case.tool in offered else NO_TOOL_FITS.name
        properties = offered[name]["parameters"]["properties"]
        given = {key: _value(schema) for key, schema in properties.items()}
        if STANDALONE in given:
            given[STANDALONE] = self.case.standalone or self.case.request
        return Completion(function=name, arguments=given, finish_reason="tool_calls")


class Rubbish:
    """Never calls anything."""

    case: Case

    def complete(self, request: CompletionRequest) -> Completion:
        return Completion(content="As a model I would say that it depends.")


def _value(schema: Mapping[str, Any]) -> Any:
    """A value that fits the schema."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _value(schema["anyOf"][0])
    if "null" in schema.get("type", ()):
        return None
    if schema.get("type") == "array":
        return [_value(schema.get("items", {}))]
    return _VALUES[schema.get("type", "string")]


def cases() -> list[Case]:
    lines = Path(__file__).with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()
    return [Case.model_validate_json(line) for line in lines]


def drafts(labelled: Iterable[Case]) -> list[ToolDraft]:
    """The first tools, and those of the cookbook that a case names."""
    seeds, named = load_seeds(), {case.tool for case in labelled}
    known = {seed.name for seed in seeds}
    return [
        *seeds,
        *(
            ToolDraft(
                name=recipe.name,
                description=recipe.specification.description,
                signature=recipe.signature,
                code=recipe.code,
                tests=recipe.tests,
                example_requests=recipe.specification.example_requests,
            )
            for recipe in recipes()
            if recipe.name in named - known
        ),
    ]


async def decided(author: Labelled | Rubbish, asked: list[Case], folder: Path) -> list[Outcome]:
    """The outcome of each case, with the model that the author plays."""
    opened = opened_library(folder)
    await opened.start()
    with OfflineServer(author, delay=0) as server:
        model = LLMClient(
            model=server.model, base_url=server.base_url, api_key=server.api_key, price=free
        )
        executor = Executor(model, ScriptedSandbox(), opened, PinnedSources(opened))
        decider = Decider(opened, executor, Thresholds())
        outcomes = []
        for case in asked:
            author.case = case
            outcomes.append(await _outcome(decider, case))
        await model.aclose()
    await opened.aclose()
    return outcomes


async def _outcome(decider: Decider, case: Case) -> Outcome:
    events: list[Event] = []
    history = [("user", case.former), ("assistant", "Done.")] if case.former else []
    messages = [ChatMessage.model_validate({"role": r, "content": text}) for r, text in history]
    turn = Turn(Request(case.request, tuple(messages)), events.append, Budget())
    tool = None
    try:
        decision = await decider.decide(turn)
        tool = decision.choice.tool.name if isinstance(decision.choice, Call) else None
        if tool is None and not decision.likely and case.tool in decision.near:
            tool = case.tool  # the specification names it, with no call but its own
    except ModelReplyInvalid:  # found, but without a model that gives its arguments it does not run
        pass
    shown = [e.confidences for e in events if isinstance(e, ToolFound | NoToolFound)]
    usage = turn.budget.usage
    if tool and not usage.calls:
        usage = usage.model_copy(update={"calls": 1})
    return Outcome(case, tool, max(shown[0], default=0.0) if shown else 0.0, usage)


async def _filled(folder: Path, asked: list[Case]) -> int:
    (folder / "tools").mkdir()
    opened = opened_library(folder)
    await opened.start()
    tools = drafts(asked)
    for draft in tools:
        await opened.add(draft)
    await opened.aclose()
    return len(tools)


def figures(chosen: list[Outcome], rubbish: list[Outcome]) -> dict[str, float]:
    fits = [o for o in chosen if o.case.tool]
    wrong = [o for o in (*chosen, *rubbish) if o.tool not in (None, o.case.tool)]
    follow = [o.shown for o in (*chosen, *rubbish) if o.case.kind == "unrelated_followup"]
    return {
        "reuse_en": _share([o for o in fits if o.case.language == "en"]),
        "reuse_other": _share([o for o in fits if o.case.language != "en"]),
        "wrong_tool_run": len(wrong),
        "followup_max_confidence": round(max(follow, default=0.0), 3),
        "calls": round(sum(o.usage.calls for o in fits) / len(fits), 2),
        "tokens": round(
            sum(o.usage.input_tokens + o.usage.output_tokens for o in fits) / len(fits)
        ),
    }


def _share(outcomes: list[Outcome]) -> float:
    return round(sum(o.tool == o.case.tool for o in outcomes) / max(1, len(outcomes)), 3)


def table(chosen: list[Outcome]) -> str:
    """By kind and language: how many, the share as labelled, calls and tokens a request."""
    rows = ["| requests | number | as labelled | calls | tokens |", "|---|---|---|---|---|"]
    for kind, other in sorted({(o.case.kind, o.case.language != "en") for o in chosen}):
        mine = [o for o in chosen if (o.case.kind, o.case.language != "en") == (kind, other)]
        calls = sum(o.usage.calls for o in mine) / len(mine)
        tokens = sum(o.usage.input_tokens + o.usage.output_tokens for o in mine) / len(mine)
        name = kind.replace("_", " ") + (", other languages" if other else "")
        rows.append(f"| {name} | {len(mine)} | {_share(mine)} | {calls:.2f} | {tokens:.0f} |")
    return "\n".join(rows)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--requests", type=int)
    given = parser.parse_args()
    asked = cases()[: given.requests]
    with tempfile.TemporaryDirectory(prefix="reuse-") as name:
        folder = Path(name)
        count = asyncio.run(_filled(folder, asked))
        chosen = asyncio.run(decided(Labelled(), asked, folder))
        rubbish = asyncio.run(decided(Rubbish(), asked, folder))
    if given.wrong:
        for o in chosen:
            if o.tool != o.case.tool:
                sys.stdout.write(
                    f"{o.case.kind} {o.case.language} {o.case.tool}, got {o.tool}: "
                    f"{o.case.request}\n"
                )
    sys.stdout.write(f"{len(asked)} requests over {count} tools\n{table(chosen)}\n")
    measured = figures(chosen, rubbish)
    return report(measured, MOST, LEAST)


if __name__ == "__main__":
    sys.exit(main())
