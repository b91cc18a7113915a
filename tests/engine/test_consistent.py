"""Results that contradict the profile of a file, and those that only seem to."""

import json
from typing import Any

import pytest

from selfeng.core.verdict import Raised, Returned
from selfeng.stages.execution.outcome import consistent

AMOUNT = {"name": "Amount", "type": "number", "range": "-2 to 1204.5", "sum": "1280.75"}
CALL = {"path": "a.csv", "column": "amount "}


def judged(
    tool: str, value: Any, arguments: dict[str, Any] | None = None, /, **changes: Any
) -> Raised | None:
    """The failure that a value becomes; None if it stays."""
    column = AMOUNT | {key: changes.pop(key) for key in ("odd", "type") if key in changes}
    table = {"header": "line 1", "rows": 7, "columns": [{"name": "id"}, column]} | changes
    profile = json.dumps({"kind": "table", "tables": [table]})
    execution = Returned(type_name="float", text=str(value), data=json.dumps(value))
    outcome = consistent(execution, tool, arguments or CALL, [profile])
    assert outcome is execution or isinstance(outcome, Raised)
    return outcome if isinstance(outcome, Raised) else None


@pytest.mark.parametrize(
    ("tool", "value", "arguments"),
    [
        ("sum_column", 1.28, None),
        ("sum_csv_column", 1280750, {**CALL, "decimal": ","}),
        ("minimum_of_column", 0, None),
        ("max_of_a_column", 1204, None),
        ("summarize_csv_column", {"sum": 7, "count": 7}, None),
        ("count_rows", 8, {"path": "a.csv"}),
        ("number_of_rows", 6, {"path": "a.csv"}),
    ],
)
def test_a_contradiction_is_a_failure_with_both_values(
    tool: str, value: Any, arguments: dict[str, Any] | None
) -> None:
    failure = judged(tool, value, arguments)
    assert failure is not None
    assert failure.type_name == "ResultContradicted"
    assert failure.message.startswith("the call returned ")


def test_the_words_of_a_contradiction_name_both_values() -> None:
    failure = judged("sum_column", 1.28)
    assert failure is not None
    assert failure.message == (
        "the call returned 1.28 as sum, but the profile of the file, which is made from the whole "
        "column, has 1280.75"
    )


@pytest.mark.parametrize(
    ("tool", "value", "arguments"),
    [
        ("sum_column", 1280.75, None),
        ("sum_column", 1280.7500000001, None),
        ("summarize_csv_column", {"sum": 1280.75, "mean": 3, "minimum": -2.0}, None),
        ("count_rows", 7, {"path": "a.csv"}),
        ("sum_positive_values", 1, None),
        ("sum_column_by_group", {"A": 5}, None),
        ("average_column", 5, None),
        ("total_rows", 5, {"path": "a.csv"}),
        ("max_row", 5, None),
        ("sum_column", 5, {**CALL, "skip": 2}),
        ("sum_column", 5, {**CALL, "group": "id"}),
        ("sum_column", 5, {"path": "a.csv", "column": "price"}),
        ("sum_column", "5", None),
        ("sum_column", None, None),
        ("sum_column", True, None),
        ("sum_column", [5], None),
    ],
)
def test_agreement_and_other_operations_are_no_contradiction(
    tool: str, value: Any, arguments: dict[str, Any] | None
) -> None:
    assert judged(tool, value, arguments) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"odd": ["line 3: n/a"]},
        {"type": "number %"},
        {"ragged": ["line 4: 3 cells instead of 2"]},
        {"rows_hidden_by_filter": ["4"]},
        {"columns_of_one_name": ["Amount: columns 2, 3"]},
        {"examined_to": "line 500000"},
        {"header": "none"},
    ],
)
def test_what_the_profile_leaves_open_contradicts_nothing(changes: dict[str, Any]) -> None:
    assert judged("sum_column", 5, None, **changes) is None


def test_files_without_one_table_contradict_nothing() -> None:
    execution = Returned(type_name="int", text="5", data="5")
    for profiles in ([], ["{}"], ['{"tables": [{}, {}]}'], ['{"tables": [{}]}'] * 2):
        assert consistent(execution, "sum_column", CALL, profiles) is execution
