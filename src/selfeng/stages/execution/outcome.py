"""A call's evidence about its tool: whether a failure is its own, whether two successes differ."""

import ast
import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, assert_never

from readcells import text_key
from selfeng.core.events import Witnessed
from selfeng.core.files import File
from selfeng.core.question import Answer, Question
from selfeng.core.result import ChangedAnswer, EarlierCall, EarlierResult, TaughtRow
from selfeng.core.signature import Parameter, Signature
from selfeng.core.verdict import Execution, Killed, Raised, Returned
from selfeng.core.words import LEFT_OUT, shortened
from selfeng.synthesis.probe import CallOutcome, outcome_of, same

BAD_INPUT = frozenset(
    {
        "ValueError",
        "TypeError",
        "FileNotFoundError",
        "JSONDecodeError",
        "UnicodeDecodeError",
        "UnicodeEncodeError",
        "ServiceUnavailable",
        "NetworkRefused",
    }
)
"""Exceptions with which a tool rightly rejects its input: Python's own and their subclasses; and
what a service, or the broker, is the cause of.
"""

_OUTPUT = re.compile(r"output|file|path|target|save")
_FILE_NAME = re.compile(r"""(['"])[^'"/\\]+\.[A-Za-z]\w{1,4}\1""")
"""A file's name with an ending, in Python source."""
_WITNESS = "witness"
"""Id of the question whether the tool or a witness is right."""
_OPERATIONS = {
    **dict.fromkeys(("sum", "total"), "sum"),
    **dict.fromkeys(("minimum", "min", "smallest", "lowest"), "minimum"),
    **dict.fromkeys(("maximum", "max", "largest", "highest"), "maximum"),
    **dict.fromkeys(("rows",), "rows"),
}
"""The operations that profiles know, by the words for them."""
_NEUTRAL_WORDS = """
    a the of in from csv tsv table column columns file data numbers number values value sheet
    workbook xlsx excel parquet calculate compute get find count summarize summary
"""
_NEUTRAL = frozenset(_NEUTRAL_WORDS.split())
"""Words of a tool's name that add nothing to its operation."""
_FORMS = frozenset({"decimal", "thousands", "day_first", "delimiter", "encoding"})
"""Parameters for the form of a file."""
_UNUSUAL_FIELDS = """
    ragged examined_to second_header columns_of_one_name rows_hidden_by_filter hidden_rows
    hidden_sheet formulas_without_stored_values merged more_columns
"""
_UNUSUAL = frozenset(_UNUSUAL_FIELDS.split())
"""Fields of a table's profile that leave open which rows are meant."""
_RANGE = re.compile(r"(-?[\d.e+-]+) to (-?[\d.e+-]+)")
_ROUNDING = 0.0051
"""How far a rounded result may differ."""
_LONGEST = 2_000
"""Characters of a value that changed."""
_SHOWN = 60
"""Characters of a value in that question; the records of results begin with as many."""


def own_failure(execution: Raised | Killed) -> str | None:
    """The tool's own failure in a few words; None if it may be the caller's fault, or if consent is
    missing.
    """
    if isinstance(execution, Killed):
        return f"“{execution.reason.rstrip('.')}”"
    return None if execution.type_name in BAD_INPUT or execution.lacks else execution.type_name


def promised(
    execution: Execution,
    signature: Signature,
    arguments: Mapping[str, Any],
    input_files: Iterable[File],
) -> Execution:
    """The outcome of a call; a failure where the tool reports a new file and made none.

    A new file's name is a parameter with a file name as its default, as specifications have it.
    """
    if not isinstance(execution, Returned) or execution.files or execution.refused_files:
        return execution
    names = [
        str(arguments.get(p.name) or default)
        for p in signature.parameters
        if (default := _default_file(p))
    ]
    input_names = {file.name for file in input_files}
    for name in names:
        if name not in input_names and name in execution.text:
            problem = f"the call returned {execution.text[:200]!r}, but made no file {name!r}"
            return Raised(type_name="FileNotMade", message=problem, stdout=execution.stdout)
    return execution


def consistent(
    execution: Execution, tool: str, arguments: Mapping[str, Any], profiles: Sequence[str]
) -> Execution:
    """The outcome of a call; a failure where a sum, minimum, maximum or number of rows contradicts
    the profile of the only file that the call names.

    Nothing is compared unless the tool's name says no more than the operation, the arguments no
    more than file, column and form, and the profile knows one reading of the whole column.
    """
    if not isinstance(execution, Returned) or len(profiles) != 1 or not execution.data:
        return execution
    words, values = set(tool.lower().split("_")), json.loads(execution.data)
    operations = words - _NEUTRAL
    if not operations <= {*_OPERATIONS}:
        return execution
    if not isinstance(values, dict):
        is_clear = len(operations) == 1 and ("rows" not in words or words & {"count", "number"})
        values = dict.fromkeys(operations, values) if is_clear else {}
    known = _known_values(json.loads(profiles[0]), arguments)
    for name, value in values.items():
        expected = known.get(_OPERATIONS.get(name, ""))
        if expected is None or isinstance(value, bool) or not isinstance(value, int | float):
            continue
        if not math.isclose(value, expected, rel_tol=1e-9, abs_tol=_ROUNDING):
            problem = (
                f"the call returned {value!r} as {name}, but the profile of the file, which is "
                f"made from the whole column, has {expected:.12g}"
            )
            return Raised(type_name="ResultContradicted", message=problem, stdout=execution.stdout)
    return execution


def _known_values(profile: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, float]:
    """The values in a file's profile, by operation, of the column or the rows that the arguments
    name; nothing where anything is left open or unusual.
    """
    tables = profile.get("tables", [])
    if len(tables) != 1 or _UNUSUAL & {*tables[0]} or tables[0].get("header") == "none":
        return {}
    texts = {n: v for n, v in arguments.items() if v is not None and n not in _FORMS}
    columns = tables[0].get("columns", [])
    matches = [c for c in columns if text_key(str(c.get("name"))) in map(text_key, _texts(texts))]
    if not matches and len(texts) == 1 and "rows" in tables[0]:
        return {"rows": tables[0]["rows"]}
    if len(matches) != 1 or len(texts) != 2 or len(list(_texts(texts))) != 2:
        return {}
    range_text, total = matches[0].get("range", ""), matches[0].get("sum", "")
    bounds = _RANGE.fullmatch(range_text)
    if not bounds or not total or {"odd", "mixed"} & {*matches[0]} or "%" in matches[0]["type"]:
        return {}
    return {"sum": float(total), "minimum": float(bounds[1]), "maximum": float(bounds[2])}


def _texts(arguments: Mapping[str, Any]) -> Iterable[str]:
    return (value for value in arguments.values() if isinstance(value, str))


def _default_file(parameter: Parameter) -> str:
    """The file that is written unless another is named, such as `plot.png`; "" if there is none."""
    default = parameter.default or ""
    if not _OUTPUT.search(parameter.name) or not _FILE_NAME.fullmatch(default):
        return ""
    return str(ast.literal_eval(default))


def call_digest(arguments: Mapping[str, Any], files: Iterable[File]) -> str:
    """A sha256 that differs between calls with different arguments or files."""
    content = [arguments, sorted((file.name, file.reference().sha256) for file in files)]
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def witnessed(tool: str, execution: Returned, check: Execution | None) -> Witnessed | None:
    """The verdict of the tool's witnesses on its result, `check` being a list that has of each a
    list of its value, or an empty one; None if none of them returned a value. One that returns
    another value is enough for doubt: `make bench-wrong` chose the rule.
    """
    own_outcome = outcome_of(execution)
    if own_outcome is None or not isinstance(check, Returned) or not check.data:
        return None
    values = [value for pair in json.loads(check.data) for value in pair]
    if not values:
        return None
    differing = [
        value
        for value in values
        if not same(CallOutcome(kind="returned", text=repr(value)), own_outcome)
    ]
    agree, other = len(values) - len(differing), ""
    if differing:
        other = _shown(json.dumps(differing[0], ensure_ascii=False))
    return Witnessed(tool=tool, agree=agree, of=len(values), other=other)


def doubt(execution: Returned, check: Witnessed, answers: Iterable[Answer]) -> Question | None:
    """The question which value is right; None if the values agree, the person was asked already, or
    both look the same.
    """
    shown = _shown(execution.data or "")
    if check.other in ("", shown) or any(answer.id == _WITNESS for answer in answers):
        return None
    return Question(
        id=_WITNESS,
        question="Two implementations that passed the same tests give different results. Which "
        "one is right?",
        why=f"The second one is of a candidate for {check.tool}, which was not chosen.",
        answer="choice",
        options=(shown, check.other),
    )


def overruled(answers: Iterable[Answer], last: EarlierResult) -> str:
    """The complaint that the person's answer makes of the last result; "" if that is right, or was
    not in doubt.
    """
    chosen = next((answer.value for answer in answers if answer.id == _WITNESS), "")
    if not chosen or chosen == _shown(last.begins):
        return ""
    return f"{last.tool} called with {last.arguments} must return {chosen}"


def chosen_value(answers: Iterable[Answer], last: EarlierResult) -> TaughtRow | None:
    """The last call with the value that the person chose as right, of the tool or of a witness;
    None if they were not asked, or if either is not known whole.
    """
    value = next((answer.value for answer in answers if answer.id == _WITNESS), "")
    arguments = last.arguments if LEFT_OUT not in last.arguments else ""
    try:
        return TaughtRow(arguments=json.loads(arguments), value=json.loads(value))
    except ValueError:
        return None


def changed(call: EarlierCall, now: Execution) -> ChangedAnswer | None:
    """How the same call now differs from the value of an earlier call; None if it does not."""
    outcome, value = outcome_of(now), repr(json.loads(call.content))
    if outcome and same(CallOutcome(kind="returned", text=value), outcome):
        return None
    match now:
        case Returned():
            after = now.result.content if now.result else now.text
        case Raised(type_name=kind, message=message):
            after = f"raises {kind}: {message}"
        case Killed(reason=reason):
            after = reason
        case _:
            assert_never(now)
    return ChangedAnswer(
        **call.model_dump(exclude={"seq", "content", "at"}),
        before=shortened(call.content, _LONGEST),
        after=shortened(after, _LONGEST),
    )


def _shown(data: str) -> str:
    return data if len(data) <= _SHOWN else f"{data[:_SHOWN]}…"
