"""The account of a job fails closed."""

from typing import Any

import pytest

from selfeng.core.errors import SandboxFailed
from selfeng.core.files import File, FileLimits
from selfeng.core.result import reference_to
from selfeng.core.verdict import Killed, Raised, Returned, TestResult, Verdict
from selfeng.sandboxes.job_result import CallResult, SuiteResult

NONCE = "n"
END = {"kind": "end", "problem": None, "output": "", "seconds": 0.5}


def result(test: str, outcome: str = "passed", **fields: Any) -> dict[str, Any]:
    return {
        "kind": "result",
        "result": {"test": test, "outcome": outcome, "seconds": 0.0, "message": "", **fields},
    }


def collected(*tests: Any) -> dict[str, Any]:
    return {"kind": "collected", "collected": list(tests)}


def verdict(
    *frames: dict[str, Any],
    killed: str | None = None,
    expected: tuple[str, ...] = ("test_a", "test_b"),
) -> Verdict:
    account = SuiteResult(NONCE, frozenset(expected), lambda result: None)
    for frame in frames:
        account.take({"nonce": NONCE, **frame})
    return account.verdict(killed, 9.0)


def test_a_suite_passes_when_everything_agrees() -> None:
    got = verdict(
        collected("test_a", "test_b[1]", "test_b[2]"),
        result("test_a"),
        result("test_b[1]"),
        result("test_b[2]"),
        END,
    )
    assert got == Verdict(
        passed=True,
        tests=tuple(
            TestResult(test=t, outcome="passed", seconds=0.0)
            for t in ("test_a", "test_b[1]", "test_b[2]")
        ),
        seconds=0.5,
    )


FORGED = "The report from the sandbox is not in order: "
ALL = collected("test_a", "test_b")


@pytest.mark.parametrize(
    ("frames", "problem"),
    [
        ([ALL, result("test_a"), result("test_b")], f"{FORGED}it has no end."),
        (
            [ALL, result("test_a"), result("test_b"), END, END],
            f"{FORGED}a frame follows the end.",
        ),
        (
            [ALL, result("test_a"), result("test_a"), result("test_b"), END],
            f"{FORGED}test_a was reported twice.",
        ),
        (
            [ALL, result("test_a"), result("test_c"), END],
            f"{FORGED}test_c was reported but never collected.",
        ),
        (
            [result("test_a"), result("test_b"), END],
            f"{FORGED}test_b was reported but never collected.",
        ),
        ([ALL, ALL, END], f"{FORGED}a frame has the unknown kind 'collected'."),
        ([collected("test_a", "test_b", "test_b"), END], f"{FORGED}a test was collected twice."),
        (
            [ALL, result("test_a", outcome="great"), END],
            f"{FORGED}a test's result is malformed.",
        ),
        (
            [ALL, result("test_a"), END],
            "The run ended before every test had a result: test_b is missing.",
        ),
        ([ALL, END], "The run ended before every test had a result: test_a, test_b are missing."),
        (
            [collected("test_a"), result("test_a"), END],
            "pytest did not collect every test that the suite defines: test_b is missing.",
        ),
        (
            [collected("test_a", "test_b", "test_x"), END],
            "pytest collected tests that the suite's source does not define: test_x.",
        ),
        (
            [ALL, result("test_a", "skipped"), result("test_b"), END],
            "Tests must not be skipped or expected to fail: test_a.",
        ),
        ([ALL, result("test_a"), result("test_b"), {**END, "problem": "It broke."}], "It broke."),
        ([{"kind": "bogus"}], f"{FORGED}a frame has the unknown kind 'bogus'."),
        ([{**END, "nonce": "other"}], f"{FORGED}a frame does not carry this job's nonce."),
    ],
)
def test_whatever_is_not_in_order_is_no_pass(frames: list[dict[str, Any]], problem: str) -> None:
    got = verdict(*frames)
    assert (got.passed, got.problem) == (False, problem)


def test_a_failed_test_is_no_problem_but_no_pass() -> None:
    got = verdict(ALL, result("test_a"), result("test_b", "failed", message="assert 1 == 2"), END)
    assert (got.passed, got.problem) == (False, None)


def test_a_job_that_was_ended_keeps_the_results_it_had() -> None:
    got = verdict(ALL, result("test_a"), killed="It used 3 s of processor time.")
    assert got == Verdict(
        passed=False,
        tests=(TestResult(test="test_a", outcome="passed", seconds=0.0),),
        problem="It used 3 s of processor time.",
        seconds=9.0,
    )


def test_results_are_streamed_as_they_come_and_only_in_order() -> None:
    streamed: list[str] = []
    account = SuiteResult(NONCE, frozenset({"test_a"}), lambda result: streamed.append(result.test))
    for frame in (collected("test_a"), result("test_a"), result("test_a"), result("test_z")):
        account.take({"nonce": NONCE, **frame})
    assert streamed == ["test_a"]


def test_a_worker_that_broke_is_the_sandboxs_failure() -> None:
    with pytest.raises(SandboxFailed, match="KeyError"):
        verdict({"kind": "broken", "detail": "KeyError: 'x'"})


def execution(frame: dict[str, Any], killed: str | None = None) -> Any:
    account = CallResult(NONCE, FileLimits())
    if frame:
        account.take({"nonce": NONCE, **frame})
    return account.execution(killed, 9.0)


def test_outcomes_of_a_call_become_values() -> None:
    end = {"kind": "end", "output": "hi\n", "seconds": 0.1}
    returned = {
        "outcome": "returned",
        "type_name": "int",
        "text": "5",
        "data": "5",
        "truncated": False,
    }
    assert execution({**end, "execution": returned}) == Returned(
        type_name="int",
        text="5",
        data="5",
        value=reference_to(5, "5"),
        stdout="hi\n",
        seconds=0.1,
    )
    raised = {"outcome": "raised", "type_name": "E", "message": "a\ud800", "traceback": ""}
    assert execution({**end, "execution": raised}) == Raised(
        type_name="E", message="a\\ud800", stdout="hi\n", seconds=0.1
    )
    assert execution({**end, "killed": "It died."}) == Killed(
        reason="It died.", stdout="hi\n", seconds=0.1
    )


@pytest.mark.parametrize(
    "outcome",
    [None, [], {"outcome": "returned"}, {"outcome": "returned", "type_name": "int", "text": 5}],
)
def test_an_outcome_out_of_order_is_the_tools_fault(outcome: Any) -> None:
    got = execution({"kind": "end", "output": "", "seconds": 0.1, "execution": outcome})
    assert got == Killed(
        reason="The tool's process reported a malformed outcome.",
        seconds=0.1,
    )


def test_a_call_without_an_end_was_killed() -> None:
    assert execution({}, killed="It used 1 s of processor time.") == Killed(
        reason="It used 1 s of processor time.", seconds=9.0
    )
    assert execution({}) == Killed(reason=f"{FORGED}it has no end.", seconds=9.0)


RETURNED = {"kind": "end", "execution": {"outcome": "returned", "type_name": "int", "text": "5"}}


def call(*frames: dict[str, Any], given: tuple[File, ...] = ()) -> Any:
    account = CallResult(NONCE, FileLimits(count=2, size=8), given)
    for frame in frames:
        if not account.complete:
            account.take({"nonce": NONCE, **frame})
    return account.execution(None, 9.0)


def piece(name: str, data: str) -> dict[str, Any]:
    return {"kind": "file", "name": name, "data": data}


def test_files_come_in_pieces_and_those_that_were_given_are_no_news() -> None:
    frames = [piece("a", "YWI="), piece("a", "Yw=="), piece("b", "")]
    end = {**RETURNED, "refused": [["x\ny", "it is a folder"]], "unnamed": 3}
    got = call(*frames, end, given=(File(name="b", content=b""),))
    assert got.files == (File(name="a", content=b"abc"),)
    assert got.refused_files == ("x\\ny: it is a folder.", "3 more files are refused.")


@pytest.mark.parametrize(
    ("frames", "problem"),
    [
        ([piece("a", "YW I=")], "a piece of a file is not valid base64"),
        ([piece("a", "é")], "a piece of a file is not valid base64"),
        ([piece(name, "") for name in "abc"], "there are more files than were asked for"),
        (
            [piece("a", "YWJj"), piece("b", "YWJj"), piece("a", "YWJj")],
            "there are more files than were asked for",
        ),
        ([{"kind": "file", "name": 3, "data": ""}], "a frame has the unknown kind 'file'"),
    ],
)
def test_files_out_of_order_are_found(frames: list[dict[str, Any]], problem: str) -> None:
    assert call(*frames, RETURNED) == Killed(reason=f"{FORGED}{problem}.", seconds=9.0)
