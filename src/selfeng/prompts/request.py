"""A request as a prompt shows it: its files, answers and results as one line of JSON each, which
can't end its section; and lessons.
"""

import json
from base64 import b64decode
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from selfeng.core.files import File, FileReference
from selfeng.core.http import Exchange
from selfeng.core.lesson import LessonHint
from selfeng.core.package_lock import PackageLock
from selfeng.core.plan import StepResult
from selfeng.core.result import Dispute, EarlierResult
from selfeng.core.turn import Request
from selfeng.core.visible import one_line
from selfeng.core.words import shortened
from selfeng.prompts import json_lines

_RESULT = 2000
"""Characters of a result that are shown; a reference passes all of it."""
_NAMED = 80
"""Characters of a value that stands for its name in another step's request."""
_REQUEST = 200
_PROFILES = 12_000
"""Characters of all profiles of files."""
EVIDENCE = ("begins", "format", "range", "sum", "rows", "lines")
"""Fields of a table's profile that decide nothing about a call."""
CONTENT = ("values", "format", "range", "sum", "rows", "lines")
"""Those that are not about the form in which the table is written."""
USUAL = (*CONTENT, "begins", "decimal", "thousands", "dates", "header", "type")
"""Those that code need not know which reads the file with `readcells`."""
_BODIES = 12_000
"""Characters of all bodies of recorded answers."""
_LESSON = 400
"""Characters of a lesson's trigger, and of its advice, that are shown."""


def shown(
    request: Request, lessons: Iterable[LessonHint], omitted: Collection[str] = ()
) -> dict[str, str]:
    """The request with all that came with it; each part is "" where there is none. `omitted` as for
    `listed`.
    """
    return {
        "request": request.text,
        "files": listed(request, omitted),
        "answers": answers(request),
        "results": results(request),
        "lessons": lessons_shown(lessons),
    }


def listed(request: Request, omitted: Collection[str] = ()) -> str:
    """One line for each file that came with the request, or before it, with its profile; those of
    tables without the `omitted` fields.
    """
    new = [file.reference() for file in request.files]
    return _lines(new, request.earlier.references, request.profiles, omitted)


def described(files: Iterable[File], profiles: Mapping[str, str]) -> str:
    """One line for each file, with its profile."""
    return _lines([file.reference() for file in files], (), profiles, ())


def answers(request: Request) -> str:
    """One line for each answer of the person."""
    return json_lines(
        {"id": answer.id, "question": answer.question, "answer": answer.value}
        for answer in request.answers
    )


def results(request: Request) -> str:
    """One line for each result of a step that this one needs, and for each earlier value of the
    conversation that it may mean.
    """
    steps = (
        _result(r) | ({} if r.data is not None else {"reference": False}) for r in request.results
    )
    return json_lines([*map(_earlier, request.earlier_results.references), *steps])


def all_results(results: Iterable[StepResult]) -> str:
    """The same for the answer, which must not know their ids: where a step names an earlier one,
    its value stands instead.
    """
    lines: list[dict[str, Any]] = []
    values: dict[str, str] = {}
    for line in map(_result, results):
        for name, value in values.items():
            line["request"] = line["request"].replace(f"'{name}'", f"'{value}'")
        name, value = line.pop("id"), line["value"]
        if len(value) <= _NAMED and "\n" not in value:
            values[name] = value
        lines.append(line)
    return json_lines(lines)


def disputable(source: Dispute | Iterable[EarlierResult]) -> str:
    """One line for each earlier result that a person may disagree with, or for the one that they do
    disagree with, with the complaint.
    """
    if isinstance(source, Dispute):
        right = {"right": shortened(source.expected, _RESULT)} if source.expected else {}
        rows = [row.model_dump() for row in source.rows]
        right |= {"also": shortened(json.dumps(rows), _RESULT)} if rows else {}
        return json_lines([_disputable(source.result) | {"complaint": source.complaint, **right}])
    return json_lines(map(_disputable, source))


def saved_plan(request: Request) -> str:
    """One line for each step of the plan of which one tool is to be made."""
    return json_lines({"request": step.request, "tool": step.tool} for step in request.saved_steps)


def modules_shown(lock: PackageLock | None) -> str:
    """The modules of further packages that code may import; "" if there are none."""
    modules = lock.modules.items() if lock else ()
    return ", ".join(f"`{module}` (of the package {name})" for module, name in modules)


def exchanges_shown(exchanges: Sequence[Exchange]) -> str | None:
    """One line for each, with the beginning and the end of a long body; None if there are none."""
    room = _BODIES // max(1, len(exchanges))
    return (
        None
        if not exchanges
        else json_lines(
            {
                "request": f"{exchange.request.method} {exchange.request.url}",
                "status": exchange.response.status,
                "content-type": dict(exchange.response.headers).get("content-type", ""),
                "body": shortened(b64decode(exchange.response.body).decode(errors="replace"), room),
            }
            for exchange in exchanges
        )
    )


def lessons_shown(lessons: Iterable[LessonHint]) -> str:
    """One line for each."""
    return "\n".join(
        f"- {one_line(hint.trigger)[:_LESSON]}: {one_line(hint.advice)[:_LESSON]}"
        for hint in lessons
    )


def _result(result: StepResult) -> dict[str, Any]:
    return {
        "id": result.id,
        "request": result.request,
        "value": result.summary or shortened(result.text, _RESULT),
    }


def _earlier(result: EarlierResult) -> dict[str, Any]:
    reference = result.reference
    columns = {"columns": list(reference.columns)} if reference.columns else {}
    return {
        "id": result.id,
        "from": "earlier in the conversation",
        "request": shortened(result.request, _REQUEST),
        "value": reference.shape,
        **columns,
        **({} if reference.exact else {"exact": False}),
        "begins": result.begins,
    }


def _disputable(result: EarlierResult) -> dict[str, Any]:
    request = shortened(result.request, _REQUEST)
    return {"id": result.id, "request": request, "tool": result.tool, "begins": result.begins}


def _lines(
    new: Sequence[FileReference],
    earlier: Sequence[FileReference],
    profiles: Mapping[str, str],
    omitted: Collection[str],
) -> str:
    room = _PROFILES // max(1, len(new) + len(earlier))
    before = {"from": "earlier in the conversation"}
    return json_lines(
        {"name": reference.name, "size": reference.size, **since}
        | _profile(profiles.get(reference.sha256, ""), room, omitted)
        for references, since in ((new, {}), (earlier, before))
        for reference in references
    )


def _profile(profile: str, room: int, omitted: Collection[str]) -> dict[str, Any]:
    """A profile as an object, or where there is little room its beginning as text."""
    if not profile:
        return {}
    if len(profile) > room:
        return {"profile": profile[:room] + " …"}
    fields = json.loads(profile)
    return {
        "profile": _without(fields, omitted) if {"tables", "begins"} <= fields.keys() else fields
    }


def _without(value: Any, names: Collection[str]) -> Any:
    """The JSON value without the fields of these names, at any depth, and without samples of many
    values, which the file's first lines have as well; and without what is then empty, or a name.
    """
    match value:
        case dict():
            some = {
                key: part
                for key, item in value.items()
                if key not in names and not (key == "values" and item[-1:] == ["…"])
                if (part := _without(item, names)) not in ({}, [])
            }
            return {} if some.keys() == {"name"} else some
        case list():
            return [part for item in value if (part := _without(item, names)) != {}]
        case _:
            return value
