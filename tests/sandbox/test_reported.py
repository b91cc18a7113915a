"""A tool can write its own report: whatever stands in it, what comes of it is a value that plans,
prompts and pages can read.
"""

import json
import math
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from pydantic import TypeAdapter

from sandbox_worker.frames import BrokenStream, FrameReader
from selfeng.core.files import FileLimits
from selfeng.core.verdict import Execution, Killed, Raised, Returned, SandboxJob, TestResult
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes import reported
from selfeng.sandboxes.job_result import CallResult, SuiteResult
from selfeng.sandboxes.pool import PoolSize
from tests.sandbox.backends import Behind

_EXECUTION: TypeAdapter[Execution] = TypeAdapter(Execution)
NOT_IN_ORDER = "The tool's process reported a malformed outcome."
RETURNED = {"outcome": "returned", "type_name": "int", "text": "5", "data": "5", "truncated": False}
RAISED = {"outcome": "raised", "type_name": "E", "message": "m", "traceback": ""}

DATA = {
    "too deep": "[" * 65 + "]" * 65,
    "much too deep": "[" * 100_000 + "]" * 100_000,
    "deep in objects": '{"a":' * 70 + "1" + "}" * 70,
    "too many digits": "9" * 5000,
    "many digits inside": f'{{"a": [-{"9" * 5000}]}}',
    "no number": "NaN",
    "a number without end": "[Infinity]",
    "a number that becomes endless": "[1e999]",
    "a key twice": '{"a": 1, "a": 2}',
    "a key twice inside": '[{"b": {"a": 1, "\\u0061": 2}}]',
    "half a character": '"\\ud800"',
    "half a character as a key": '{"a": {"\\udfff": 1}}',
    "no JSON": "[1,",
    "nothing": "",
    "two values": "1 2",
    "too long": '"' + "x" * 8 * 1024 * 1024 + '"',
}
FIELDS: dict[str, Any] = {
    "an unknown outcome": {**RETURNED, "outcome": "passed"},
    "killed by itself": {"outcome": "killed", "reason": "no"},
    "no outcome": {k: v for k, v in RETURNED.items() if k != "outcome"},
    "an outcome that is a list": {**RETURNED, "outcome": ["returned"]},
    "a number for a text": {**RETURNED, "text": 5},
    "nothing for a text": {**RAISED, "message": None},
    "data that is data": {**RETURNED, "data": [1]},
    "a text for a truth": {**RETURNED, "truncated": "yes"},
    "data beside its readable form": {**RETURNED, "data": None, "readable": "NaN"},
    "a number for a traceback": {**RAISED, "traceback": 1e300},
    "nothing": None,
    "a list": [RETURNED],
    "a text": "returned",
    "a number": 7,
}


def execution(outcome: Any, **end: Any) -> Execution:
    account = CallResult("n", FileLimits())
    account.take(
        {"nonce": "n", "kind": "end", "output": "", "seconds": 0.1, "execution": outcome, **end}
    )
    return account.execution(None, 9.0)


def is_readable(outcome: Execution) -> bool:
    """By an event that is kept, a plan that passes the value on, and a page."""
    kept = outcome.model_dump_json()
    kept.encode()
    assert len(kept) < 500_000
    again = _EXECUTION.validate_json(kept)
    if isinstance(outcome, Returned) and outcome.data is not None:
        json.dumps(json.loads(outcome.data), ensure_ascii=False, allow_nan=False).encode()
    return again.model_dump_json() == kept


@pytest.mark.parametrize("data", DATA.values(), ids=DATA.keys())
def test_data_that_not_everybody_can_read_is_no_data(data: str) -> None:
    assert execution({**RETURNED, "data": data}) == Killed(reason=NOT_IN_ORDER, seconds=0.1)


@pytest.mark.parametrize("fields", FIELDS.values(), ids=FIELDS.keys())
def test_an_outcome_has_its_form(fields: Any) -> None:
    assert execution(fields) == Killed(reason=NOT_IN_ORDER, seconds=0.1)


@pytest.mark.parametrize(
    "data",
    [
        "9" * 4200,
        "[" * 60 + "]" * 60,
        '{"a": {"a": 1e308}, "b": -0.0}',
        '"\\ud83d\\ude00"',
        "null",
        None,
    ],
)
def test_data_that_everybody_can_read_stays(data: str | None) -> None:
    got = execution({**RETURNED, "data": data})
    assert isinstance(got, Returned)
    assert (got.data and json.loads(got.data)) == (data and json.loads(data))
    assert is_readable(got)


@pytest.mark.parametrize("field", ["type_name", "text", "message", "traceback"])
@pytest.mark.parametrize(
    "text", ["x" * 3_000_000, "\ud800" * 1_000_000, "\n" * 1_000_000, "\U000e0041\u202e" * 500_000]
)
def test_texts_are_cut(field: str, text: str) -> None:
    got = execution({**(RETURNED if field in RETURNED else RAISED), field: text})
    assert isinstance(got, Returned | Raised)
    assert is_readable(got)
    assert len(getattr(got, field)) <= reported.TEXT + 3


@pytest.mark.parametrize(
    "seconds",
    [math.nan, math.inf, -1, 10**4000, "1", None, [1]],
    ids=lambda seconds: repr(seconds)[:10],
)
def test_a_time_that_is_none_is_measured_here(seconds: Any) -> None:
    assert execution(RETURNED, seconds=seconds).seconds == 9.0


@pytest.mark.parametrize("killed", [["deep"], {"a": 1}, 7, "x" * 1_000_000])
def test_a_reason_is_a_sentence(killed: Any) -> None:
    got = execution(None, killed=killed)
    assert isinstance(got, Killed)
    assert is_readable(got)
    assert 0 < len(got.reason) <= reported.SENTENCE + 3


@pytest.mark.parametrize(
    ("refused", "unnamed", "told"),
    [
        ([["a", "it is a folder"], ["b"], "c", [1, 2], [["d"], "e"]], 0, ("a: it is a folder.",)),
        ({"a": "b"}, -1, ()),
        ("ab", [3], ()),
        ([["\ud800\n" * 300, "x"]], 10**4000, ("\\ud800\\n" * 10 + "...: x.",)),
        ([["a", "b"]] * 1000, 2, ("a: b.",) * 20 + ("2 more files are refused.",)),
    ],
    ids=["pairs among others", "an object", "a text", "a name that hides", "a thousand"],
)
def test_what_is_said_of_files_has_its_form(
    refused: Any, unnamed: Any, told: tuple[str, ...]
) -> None:
    got = execution(RETURNED, refused=refused, unnamed=unnamed)
    assert isinstance(got, Returned)
    assert got.refused_files == told


@pytest.mark.parametrize(
    "names", ["test_a", {"test_a": 1}, [["test_a"]], [1], ["x" * 10_001], ["test_a"] * 20_001, None]
)
def test_a_list_of_tests_has_its_form(names: Any) -> None:
    account = SuiteResult("n", frozenset({"test_a"}), lambda result: None)
    account.take({"nonce": "n", "kind": "collected", "collected": names})
    verdict = account.verdict(None, 9.0)
    assert not verdict.passed
    assert verdict.problem
    assert "the list of tests is malformed or too long" in verdict.problem


@pytest.mark.parametrize(
    "fields",
    [
        {"seconds": math.nan},
        {"seconds": 10**4000},
        {"seconds": "0"},
        {"message": ["deep"]},
        {"outcome": ["passed"]},
        {"outcome": "great"},
        {"test": 1},
        {"test": "x" * 10_001},
        {"message": None},
    ],
    ids=lambda fields: f"{next(iter(fields))} {str(next(iter(fields.values())))[:10]}",
)
def test_a_tests_result_has_its_form(fields: dict[str, Any]) -> None:
    streamed: list[TestResult] = []
    account = SuiteResult("n", frozenset({"test_a"}), streamed.append)
    account.take({"nonce": "n", "kind": "collected", "collected": ["test_a"]})
    account.take(
        {
            "nonce": "n",
            "kind": "result",
            "result": {
                "test": "test_a",
                "outcome": "passed",
                "seconds": 0,
                "message": "",
                **fields,
            },
        }
    )
    assert (streamed, account.verdict(None, 9.0).problem) == (
        [],
        f"{FORGED}a test's result is malformed.",
    )


FORGED = "The report from the sandbox is not in order: "


@pytest.mark.parametrize("count", [20_000])
def test_many_tests_are_taken_in_quickly(count: int) -> None:
    names = [f"test_a[{number}]" for number in range(count)]
    account = SuiteResult("n", frozenset({"test_a"}), lambda result: None)
    started = time.monotonic()
    account.take({"nonce": "n", "kind": "collected", "collected": names})
    for name in names:
        account.take(
            {
                "nonce": "n",
                "kind": "result",
                "result": {"test": name, "outcome": "passed", "seconds": 0, "message": ""},
            }
        )
    account.take({"nonce": "n", "kind": "end"})
    assert account.verdict(None, 9.0).passed
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": NaN}',
        b'{"a": 1, "a": 2}',
        b'{"a": [-Infinity]}',
        b"[" * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_frames_for_the_host_are_exact(body: bytes) -> None:
    with pytest.raises(BrokenStream):
        FrameReader(exact=True).feed(len(body).to_bytes(4, "big") + body)


FORGING = """
import json, os, struct, time
def tool(body):
    data = eval(body)
    frame = struct.pack(">I", len(data)) + data
    while frame:
        frame = frame[os.write(3, frame):]
    time.sleep(60)
"""
NESTED = "b'[' * {0} + b']' * {0}"
BODIES = {
    "nested data": "json.dumps({'execution': {'outcome': 'returned', 'type_name': '', 'text': '', "
    "'data': '[' * 50000}}).encode()",
    "a nested outcome": f"b'{{\"execution\": ' + {NESTED.format(900)} + b'}}'",
    "a nested field": f'b\'{{"execution": {{"outcome": "returned", "type_name": "x", "text": \' + '
    f"{NESTED.format(900)} + b'}}}}'",
    "a frame too deep to be read": NESTED.format(100_000),
    "no number": 'b\'{"execution": {"outcome": "returned", "type_name": "x", "text": "x", "data": '
    '"NaN", "seconds": NaN}}\'',
    "a number of many digits": "b'{\"execution\": {\"outcome\": ' + b'9' * 100_000 + b'}}'",
    "a list": "b'[1, 2]'",
    "an unknown outcome": 'b\'{"execution": {"outcome": "passed"}}\'',
    "nothing of use": 'b\'{"loaded": [[]], "raised": [[1]]}\'',
    "bytes of no text": 'b\'{"execution": "\\xff\\xfe"}\'',
}


@pytest.fixture
async def sandbox(backend: Behind) -> AsyncIterator[SecureSandbox]:
    sandbox = SecureSandbox(
        timeout=20,
        executors=PoolSize(1, 1, 1),
        verifiers=PoolSize(0, 0, 1),
        comparers=PoolSize(0, 0, 1),
        **backend.options,
    )
    yield sandbox
    await sandbox.aclose()


async def test_a_tool_that_writes_its_own_frame_comes_to_a_clear_end(
    sandbox: SecureSandbox,
) -> None:
    """All of them in turn: each costs its executor at most."""
    for what, body in BODIES.items():
        got = await sandbox.execute(SandboxJob("tool", FORGING), {"body": body})
        assert isinstance(got, Killed), (what, got)
        assert is_readable(got), what
        honest = await sandbox.execute(SandboxJob("tool", "def tool(): return [1, 2]"), {})
        assert isinstance(honest, Returned), what
        assert honest.data == "[1,2]"


async def test_a_tool_that_writes_a_large_frame_gets_the_beginning_shown(
    sandbox: SecureSandbox,
) -> None:
    body = (
        "json.dumps({'execution': {'outcome': 'returned', 'type_name': 'x' * 10**6, 'text': "
        "'\\u0001' * 10**5}}).encode()"
    )
    got = await sandbox.execute(SandboxJob("tool", FORGING), {"body": body})
    assert isinstance(got, Returned)
    assert is_readable(got)
    assert (len(got.type_name), len(got.text), got.truncated) == (203, reported.TEXT + 3, True)
