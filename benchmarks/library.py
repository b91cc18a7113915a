"""A library left alone beside one that is looked after: `python -m benchmarks.library [--data DIR]
[--requests N] [--half 0|1] [--unused N] [--picture FILE]`. The last line is JSON; the exit code is
1 if a goal is missed.

Two libraries serve the same stream of requests; everything is the real thing but the model, whose
recorded completions stand in for it. Each request is a task of HumanEval or MBPP in one of four
wordings (`wordings`), with an input of the hidden tests; some tasks come often and most seldom. The
best tool that the search alone finds, and that takes so many arguments, is called. Otherwise one is
built: the next recorded solutions of the task are tried until one passes the person's own examples,
and what passes is registered with no more tests than these, unless a tool near it is its twin. A
request that a tool served finds it from then on, whether or not the answer was right.

After every `LOOK` requests the governed library does what its health proposes: of twins by
behaviour one is retired, and searches that find it offer the other; a suite that notices too
few alterations gets the recorded tests that most solutions pass, and code that fails them is
replaced by a solution that passes, or retired; a tool that was never reused in `--unused` requests
is retired, as it does not pay. The other library is left alone.

`right` is the share of requests whose tool returned the value of the hidden tests, `right_late`
their share in the last half; `tools` can be found in the end, and `twins` pairs of them agree on
all calls of both. `seconds` were spent on searches and calls, `builds` are the builds that were
begun, and `upkeep_seconds` is what the looks took. The rules were tried on the tasks of half 0, by
a hash of their names; the goals hold for half 1.

500 requests, left alone / governed: half 0 right 411 / 421, tools 85 / 81, twins 3 / 0; half 1
right 466 / 466, tools 98 / 87, twins 5 / 0, builds 135 / 137, seconds 20.6 / 20.3. So governance
keeps the library free of twins, smaller and no slower, and costs no right answer. Limits of 167,
250 and 333 requests gave 421 right answers on half 0, and 100 of a harsher rule 420; the one that
retires least is the default. On half 1 a limit of 250 cost one answer of 500.
"""

import argparse
import ast
import asyncio
import random
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.goals import report
from benchmarks.lookup import library as opened_library
from benchmarks.ready import current_sandbox
from benchmarks.verdicts import DATA, PREFIX, Row, Task, numbered, read_mbpp, read_rows, read_tasks
from benchmarks.witnesses import cases
from selfeng.capability_registry import CapabilityRegistry
from selfeng.core.owner import owned_by
from selfeng.core.provenance import Edited, Provenance
from selfeng.core.signature import SignatureError, parse_signature
from selfeng.core.tool import Tool, ToolDraft
from selfeng.core.verdict import SandboxJob, Version
from selfeng.sandbox import SecureSandbox
from selfeng.synthesis.before import KnownCall
from selfeng.synthesis.probe import CallOutcome, probe, same
from selfeng.synthesis.relatives import Compared, twin, twins
from selfeng.synthesis.steps import SynthesisPolicy
from selfeng.synthesis_engine import SynthesisEngine
from tests.doubles import ScriptedModel

REQUESTS, LOOK, UNUSED = 500, 50, 333
THRESHOLD = 0.75
"""The default of SIMILARITY_THRESHOLD: from here on the search decides without a model."""
TRIES = 4
"""Recorded solutions that one build tries: the first and three repairs, as by default."""
VOTERS = 5
"""Recorded solutions that vote on further tests."""
MEASURED = 10
"""Suites that one look measures, as a report of the library's health does."""
MOST = {"tools_ratio": 1.0, "twins_more": 0, "seconds_ratio": 1.05}
LEAST = {"right_gain": 0.0}
"""Both over those of the library left alone."""
WIDE, HIGH = 360, 180
COLOURS = {"left alone": "#d97706", "governed": "#0d9488"}
_STOP = frozenset(
    "a an and are as at be by for from function given have if in into is it its of on or return "  # noqa: SIM905
    "returns that the there this to where which with write you your python".split()
)
_PLAIN = (str, int, float, bool, type(None), list, tuple, dict)


class Job(NamedTuple):
    """A task as persons ask for it."""

    task: Task
    wordings: tuple[str, ...]
    calls: Sequence[tuple[list[Any], Any]]
    """Arguments and right values."""
    own: Sequence[str]
    """The person's examples, as assertions."""
    further: Sequence[str]
    """Recorded assertions, of which some are wrong."""
    drawn: Sequence[str]
    """Recorded solutions in the order in which they are tried, as often as they were written."""


class Asked(NamedTuple):
    job: Job
    wording: str
    arguments: list[Any]
    right: Any


def wordings(name: str, text: str) -> tuple[str, ...]:
    """A task in other words: as it stands, without its beginning, by its key words, and by the name
    of the function.
    """
    whole = " ".join(text.split())
    short = re.sub(
        r"^(write|create) an? (python )?function (to|that|which) ", "", whole, flags=re.I
    )
    words = re.findall(r"\w+", re.split(r"(?<=[.!?]) ", short)[0])
    keys = [word for word in words if word.lower() not in _STOP]
    return tuple(dict.fromkeys((whole, short, " ".join(keys), name.replace("_", " "))))


def jobs(data: Path) -> Iterator[Job]:
    """The tasks whose hidden tests have plain values, in a fixed order."""
    rows = {row["id"]: row for row in read_rows(data, "humaneval")}
    if more := read_mbpp(data):
        rows |= {row["id"]: row for row in read_rows(data, "mbpp_sanitized")}
    for task in (*read_tasks(data), *more):
        row = rows[task.id]
        calls = [c for c in cases(row.get("hidden_tests") or "") if _usable(*c)]
        if calls and not task.name.startswith("test_"):
            drawn = [s["solution"] for s in task.solutions for _ in range(s.get("n_samples") or 1)]
            random.Random(task.id).shuffle(drawn)
            own = task.examples or task.asserts[:1]
            yield Job(task, wordings(task.name, _text(row)), calls, own, task.asserts, drawn)


def _text(row: Row) -> str:
    """The request of the task, in words."""
    prompt = row["prompt"]
    if not row["id"].startswith("MBPP"):
        functions = [n for n in ast.parse(prompt).body if isinstance(n, ast.FunctionDef)]
        prompt = ast.get_docstring(functions[-1]) or ""
    return re.split(r"\n\s*\n|>>>|\n\s*Examples?\b|\n\s*For example", prompt)[0]


def _usable(arguments: Any, value: Any) -> bool:
    return isinstance(value, _PLAIN) and len(repr(arguments)) + len(repr(value)) < 2_000


def stream(asked: Sequence[Job], count: int) -> list[Asked]:
    """The requests, the same each time; the nth task comes about 1/n as often as the first."""
    draw = random.Random(42)
    order = draw.sample(asked, len(asked))
    weights = [1 / (place + 3) for place in range(len(order))]
    return [
        Asked(job, draw.choice(job.wordings), *draw.choice(job.calls))
        for job in draw.choices(order, weights, k=count)
    ]


@dataclass
class Library:
    """One of the two libraries, and what was recorded of it."""

    tools: CapabilityRegistry
    sandbox: SecureSandbox
    governed: bool
    unused: int
    requests: int = 0
    seconds: float = 0.0
    upkeep_seconds: float = 0.0
    builds: Counter[str] = field(default_factory=Counter)
    jobs: dict[str, Job] = field(default_factory=dict)
    calls: dict[str, list[KnownCall]] = field(default_factory=lambda: defaultdict(list))
    reused: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    """The numbers of the requests that built and used it."""
    measured: set[tuple[str, int]] = field(default_factory=set)
    right: list[bool] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    async def serve(self, asked: Asked) -> None:
        """Answer a request; afterwards, do what the health proposes if it is time."""
        self.requests += 1
        began = time.perf_counter()
        candidates = await self.tools.search(asked.wording)
        tool = next(
            (c.tool for c in candidates if c.confidence >= THRESHOLD and _takes(c.tool, asked)),
            None,
        )
        self.seconds += time.perf_counter() - began
        if tool is None:
            tool = await self._build(asked, [c.tool for c in candidates])
        self.right.append(tool is not None and await self._call(tool, asked))
        if self.governed and self.requests % LOOK == 0:
            began = time.perf_counter()
            await self.look()
            self.upkeep_seconds += time.perf_counter() - began
        self.sizes.append(len(await self.offered()))

    async def offered(self) -> list[Tool]:
        return [tool for tool in await self.tools.tools() if tool.standing != "retired"]

    async def twins(self) -> list[tuple[str, str]]:
        """Pairs that agree on all calls of both, the one that was used more first."""
        by_worth = sorted(await self.offered(), key=lambda t: (-len(self.reused[t.name]), t.name))
        calls = self.calls
        known = [Compared(self.sandbox, t, t.job(), calls[t.name][::-1]) for t in by_worth]
        pairs, _ = await twins(known)
        return [(pair.first, pair.second) for pair in pairs]

    async def _call(self, tool: Tool, asked: Asked) -> bool:
        """Whether the tool returns the right value."""
        names = [p.name for p in tool.signature.parameters]
        arguments = dict(zip(names, asked.arguments, strict=False))
        began = time.perf_counter()
        outcomes = await probe(self.sandbox, tool.job(), [arguments])
        self.seconds += time.perf_counter() - began
        self.calls[tool.name].append(KnownCall(arguments=arguments))
        self.reused[tool.name].append(self.requests)
        if outcomes and outcomes[0].kind == "returned":
            await self.tools.record_request(tool.name, tool.version, asked.wording)
        right = CallOutcome(kind="returned", text=repr(asked.right))
        return bool(outcomes) and same(outcomes[0], right)

    async def _build(self, asked: Asked, near: Sequence[Tool]) -> Tool | None:
        """A new tool, or its twin, or none if no solution passes."""
        job = asked.job
        number = self.builds[job.task.id]
        self.builds[job.task.id] += 1
        name = f"{_snake_case(job.task.name)[:40]}_{number}"
        tests = _suite(job, name, job.own)
        for code in _solutions(job, name, number):
            signature = parse_signature(code, name)
            if not (await self._passes(name, tests, [code]))[0]:
                continue
            if known := await twin(self.sandbox, signature, code, tests, near):
                return known
            draft = ToolDraft(
                name=name, description=asked.wording, signature=signature, code=code, tests=tests
            )
            self.jobs[name] = job
            return await self.tools.add(draft, requests=[asked.wording])
        return None

    async def _passes(self, name: str, tests: str, codes: Sequence[str]) -> list[bool]:
        versions = [Version(code=code, apart=False) for code in codes]
        verdicts = await self.sandbox.verify_versions(SandboxJob(name, tests=tests), versions)
        return [verdict.passed for verdict in verdicts]

    async def look(self) -> None:
        """Do what the health of the library proposes."""
        for kept, other in await self.twins():
            await self.tools.retire(other, merged_into=kept)
            self.calls[kept] += self.calls[other]
            self.reused[kept] += self.reused[other]
        for tool in await self.offered():
            first, *more = self.reused[tool.name]
            if not more and first <= self.requests - self.unused:
                await self.tools.retire(tool.name)
        synthesis = SynthesisEngine(ScriptedModel(), self.sandbox, self.tools, "recorded")
        for tool in await self._unmeasured():
            self.measured.add((tool.name, tool.version))
            if (await synthesis.alterations(tool)).score < SynthesisPolicy().mutation_score:
                await self._strengthen(tool)

    async def _unmeasured(self) -> list[Tool]:
        """Those that are used most, of tools whose suite was not measured yet."""
        new = [t for t in await self.offered() if (t.name, t.version) not in self.measured]
        return sorted(new, key=lambda tool: -len(self.reused[tool.name]))[:MEASURED]

    async def _strengthen(self, tool: Tool) -> None:
        """Add the recorded tests that most solutions pass. If the tool fails one, a solution that
        passes all takes its place, or it is retired.
        """
        job, name = self.jobs[tool.name], tool.name
        solutions = list(_solutions(job, name, 0, VOTERS))
        versions = [Version(code=code, apart=False, whole=True) for code in solutions]
        everything = SandboxJob(name, tests=_suite(job, name, (), job.further))
        votes = Counter[str]()
        for verdict in await self.sandbox.verify_versions(everything, versions):
            votes.update(t.test.rpartition("::")[2] for t in verdict.tests if t.outcome == "passed")
        kept = [
            text
            for number, text in enumerate(job.further, 1)
            if 2 * votes[f"test_{number}"] > len(solutions)
        ]
        tests = _suite(job, name, job.own, kept)
        codes = [tool.code, *(s for s in solutions if parse_signature(s, name) == tool.signature)]
        passed = await self._passes(name, tests, codes)
        if not any(passed):
            await self.tools.retire(name)
            return
        draft = tool.draft().model_copy(update={"tests": tests, "code": codes[passed.index(True)]})
        revised = await self.tools.revise(draft, tool.version, Provenance(origin=Edited()))
        self.measured.add((name, revised.version))

    async def figures(self) -> dict[str, float]:
        half = self.right[len(self.right) // 2 :]
        return {
            "right": round(sum(self.right) / len(self.right), 4),
            "right_late": round(sum(half) / len(half), 4),
            "tools": self.sizes[-1],
            "twins": len(await self.twins()),
            "seconds": round(self.seconds, 2),
            "upkeep_seconds": round(self.upkeep_seconds, 2),
            "builds": sum(self.builds.values()),
        }


def _takes(tool: Tool, asked: Asked) -> bool:
    """Whether the tool can be called with so many arguments."""
    parameters = tool.signature.parameters
    least = sum(p.required for p in parameters)
    return least <= len(asked.arguments) <= len(parameters)


def _solutions(job: Job, name: str, number: int, most: int = TRIES) -> Iterator[str]:
    """The recorded solutions that a build tries, under its tool's name."""
    first = number * TRIES
    for place in range(first, first + min(most, len(job.drawn))):
        code = job.drawn[place % len(job.drawn)]
        code = re.sub(rf"\b{job.task.name}\b", name, code)
        try:
            parse_signature(code, name)
        except SignatureError:
            continue
        yield code


def _suite(job: Job, name: str, own: Sequence[str], further: Sequence[str] = ()) -> str:
    tests = [*numbered(PREFIX, own), *numbered("test_", further)]
    body = "\n\n".join(re.sub(rf"\b{job.task.name}\b", name, test) for test in tests)
    return f"from math import *\nfrom {name} import {name}\n\n\n{body}"


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().strip("_")


async def run(asked: Sequence[Asked], unused: int) -> tuple[list[Library], list[Row]]:
    """The same stream through both libraries, the one left alone first, and their figures. They
    take turns, so that whatever else the machine does slows both.
    """
    sandbox = await current_sandbox()
    with tempfile.TemporaryDirectory(prefix="library-") as name, owned_by("me"):
        libraries = []
        for governed in (False, True):
            folder = Path(name) / str(governed)
            (folder / "tools").mkdir(parents=True)
            libraries.append(Library(opened_library(folder), sandbox, governed, unused))
            await libraries[-1].tools.start()
        for number, request in enumerate(asked, 1):
            for library in libraries[:: 1 if number % 2 else -1]:
                await library.serve(request)
            if number % LOOK == 0:
                both = "; ".join(f"{sum(x.right)} right, {x.sizes[-1]} tools" for x in libraries)
                sys.stdout.write(f"{number} requests: {both}\n")
                sys.stdout.flush()
        figures = [await library.figures() for library in libraries]
        for library in libraries:
            await library.tools.aclose()
    await sandbox.aclose()
    return libraries, figures


def compared(alone: Row, governed: Row) -> Row:
    """The figures of both, and what the goals are about."""
    return {
        **{f"{name}_alone": value for name, value in alone.items()},
        **governed,
        "right_gain": round(governed["right"] - alone["right"], 4),
        "tools_ratio": round(governed["tools"] / max(1, alone["tools"]), 3),
        "twins_more": governed["twins"] - alone["twins"],
        "seconds_ratio": round(governed["seconds"] / alone["seconds"], 3),
    }


def picture(libraries: Sequence[Library]) -> str:
    """The curves of both as an SVG that is legible on white and on black: the share of the last
    `LOOK` answers that were right, and the number of tools.
    """
    shares = [
        [100 * sum(window := x.right[max(0, n - LOOK) : n]) / len(window) for n in _steps(x)]
        for x in libraries
    ]
    sizes = [[float(x.sizes[n - 1]) for n in _steps(x)] for x in libraries]
    panels = (
        _panel(0, f"right, % of the last {LOOK} answers", shares, 100.0),
        _panel(WIDE + 40, "tools that can be found", sizes, max(map(max, sizes))),
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-40 -40 {2 * WIDE + 120} {HIGH + 90}" '
        f'width="{2 * WIDE + 120}" height="{HIGH + 90}" role="img" fill="#7d8590" '
        'font-family="system-ui, sans-serif" font-size="12">\n'
        f"<title>A library over {len(libraries[0].right)} requests, left alone and governed</title>"
        f"\n{''.join(panels)}</svg>\n"
    )


def _steps(library: Library) -> range:
    return range(10, len(library.right) + 1, 10)


def _panel(left: int, title: str, curves: Sequence[Sequence[float]], top: float) -> str:
    lines = [f'<g transform="translate({left} 0)"><text y="-18" font-weight="600">{title}</text>']
    for part in (0, 0.5, 1):
        y = HIGH * (1 - part)
        lines.append(f'<path d="M0 {y}H{WIDE}" stroke="#7d8590" opacity="0.3"/>')
        lines.append(f'<text x="-6" y="{y + 4}" text-anchor="end">{top * part:.0f}</text>')
    for (name, colour), curve in zip(COLOURS.items(), curves, strict=True):
        points = [
            f"{WIDE * place / max(1, len(curve) - 1):.1f} {HIGH * (1 - value / top):.1f}"
            for place, value in enumerate(curve)
        ]
        lines.append(
            f'<path d="M{"L".join(points)}" fill="none" stroke="{colour}" stroke-width="2"/>'
        )
        place = WIDE - 70 * (name == next(iter(COLOURS)))
        label = f'<text x="{place}" y="-18" fill="{colour}" text-anchor="end">{name}</text>'
        lines.append(label)
    lines.append(f'<text x="{WIDE}" y="{HIGH + 20}" text-anchor="end">requests</text></g>\n')
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the JSON lines")
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--half", type=int, choices=(0, 1), help="of the tasks; by default 1")
    parser.add_argument("--unused", type=int, default=UNUSED)
    parser.add_argument("--picture", type=Path, help="draw the curves into this SVG")
    options = parser.parse_args()
    every = list(jobs(options.data))
    half = 1 if options.half is None else options.half
    own = [job for job in every if job.task.half == half] or every
    libraries, both = asyncio.run(run(stream(own, options.requests), options.unused))
    if options.picture:
        options.picture.write_text(picture(libraries), encoding="utf-8")
    return report({"tasks": len(own), **compared(*both)}, MOST, LEAST)


if __name__ == "__main__":
    sys.exit(main())
