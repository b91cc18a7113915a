"""Whether small files of many kinds are read as they are meant: `python -m benchmarks.files [NAME
...]`; fails where a value is wrong or the profile lacks it. The last line is JSON.

Each file is profiled, and a question about it is answered by a tool, in the sandbox. `wrong`
counts answers and fields of profiles that differ from the known values, `refused` the calls that
ended with an error that says why, `profile_missing` the fields that the profile lacks. Where
nothing decides between two readings, an error is the right answer; elsewhere it is a wrong one.
"""

import asyncio
import json
import math
import sys
from collections.abc import Sequence
from typing import Any

from benchmarks.file_cases import MAKERS, REFUSED, TOOLS, Case, cases
from benchmarks.goals import report
from benchmarks.ready import current_sandbox
from selfeng.core.files import File, FileReference
from selfeng.core.verdict import Execution, Raised, Returned, SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.seeds import load_seeds
from selfeng.stages.execution.file_profiler import FileProfiler

_CODES = {**{seed.name: seed.code for seed in load_seeds()}, **TOOLS}


def main(names: Sequence[str]) -> None:
    chosen = [case for case in cases() if not names or case.name in names]
    if not chosen:
        sys.exit(f"no file is named {', '.join(names)}")
    result = asyncio.run(_measure(chosen))
    sys.exit(report(result, {"wrong": 0, "profile_missing": 0}))


async def _measure(chosen: Sequence[Case]) -> dict[str, int]:
    sandbox = await current_sandbox()
    sandbox.start(verifiers=False)
    counts = {"files": len(chosen), "wrong": 0, "refused": 0, "profile_missing": 0}
    try:
        for case in chosen:
            file = await made_file(sandbox, case)
            for kind, words in await _problems(sandbox, case, file):
                counts[kind] += 1
                if words:
                    sys.stdout.write(f"{case.name}: {kind.replace('_', ' ')}: {words}\n")
    finally:
        await sandbox.aclose()
    return counts


async def made_file(sandbox: SecureSandbox, case: Case) -> File:
    """The file of a case."""
    if not case.maker:
        return File(name=case.name, content=case.content)
    arguments = {"name": case.name, "rows": json.loads(case.content)}
    made = await sandbox.execute(SandboxJob(name=case.maker, code=MAKERS), arguments)
    assert isinstance(made, Returned), made
    return made.files[0]


async def _problems(sandbox: SecureSandbox, case: Case, file: File) -> list[tuple[str, str]]:
    """The fields that count, each with words about its problem, if it has one."""

    async def read(_: FileReference) -> File:
        return file

    profile = json.loads(await FileProfiler(sandbox).inspect(file.reference(), read))
    problems = list(filter(None, (field_problem(profile, *item) for item in case.profile.items())))
    if case.tool:
        code = _CODES[case.tool]
        ran = await sandbox.execute(SandboxJob(case.tool, code), case.arguments, [file])
        problems += _answered(case, ran)
    return problems


def field_problem(profile: dict[str, Any], name: str, expected: Any) -> tuple[str, str] | None:
    """The problem of a profile's field; None if there is none."""
    column, _, field = name.rpartition("/")
    places = [profile, *profile.get("tables", ())]
    if column:
        columns = [c for table in places for c in table.get("columns", ())]
        places = [c for c in columns if c.get("name") == column]
    values = [place[field] for place in places if field in place]
    if not values:
        return ("profile_missing", f"{name}, which is {expected!r}") if expected else None
    if not any(_same(value, expected) for value in values):
        return "wrong", f"the profile's {name} is {values[0]!r}, not {expected!r}"
    return None


def _same(value: Any, expected: Any) -> bool:
    if isinstance(value, list):
        return any(_same(item, expected) for item in value)
    if isinstance(value, str) and isinstance(expected, str):
        return expected == value or (not _is_number(expected) and expected in value)
    return bool(value == expected)


def _is_number(text: str) -> bool:
    return text.lstrip("-")[:1].isdigit() and " " not in text


def _answered(case: Case, ran: Execution) -> list[tuple[str, str]]:
    match ran:
        case Raised(type_name="ValueError", message=message):
            expected = case.answer == REFUSED
            wrong = ("wrong", f"it was refused, but is {case.answer!r}: {message}")
            return [("refused", ""), *([] if expected else [wrong])]
        case Returned(data=str(data)) if _is_answer(case.answer, json.loads(data)):
            return []
    return [("wrong", f"the tool gave {getattr(ran, 'data', ran)}, not {case.answer!r}")]


def _is_answer(expected: Any, value: Any) -> bool:
    if isinstance(expected, dict) and isinstance(value, dict):
        return all(_is_answer(item, value.get(key)) for key, item in expected.items())
    if isinstance(expected, float | int) and isinstance(value, float | int):
        return math.isclose(expected, value, rel_tol=1e-12)
    return bool(expected == value)


if __name__ == "__main__":
    main(sys.argv[1:])
