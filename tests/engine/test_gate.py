"""The gate with a scripted sandbox: what it runs, what it says of what came out, and what it
shows.
"""

import pytest

from selfeng.core.errors import SandboxFailed, SynthesisFailed
from selfeng.core.events import SuiteRepeated, TestFinished
from selfeng.core.signature import parse_signature
from selfeng.core.tool import ToolDraft
from selfeng.core.verdict import SandboxJob, TestResult, Verdict, Version
from selfeng.synthesis.gate import Gate, Red
from selfeng.synthesis_engine import SynthesisEngine
from tests.doubles import (
    CODE,
    TESTS,
    ListedLibrary,
    ScriptedModel,
    ScriptedSandbox,
    failing,
    is_stub,
    passing,
    steady,
)

SIGNATURE = parse_signature(CODE, "double_number")


def outcomes(**tests: str) -> Verdict:
    results = tuple(
        TestResult(test=n, outcome=o, seconds=0.01, message="" if o == "passed" else "no")
        for n, o in tests.items()
    )
    return Verdict(passed=all(r.outcome == "passed" for r in results), tests=results)


class Run:
    def __init__(self, sandbox: ScriptedSandbox) -> None:
        self.sandbox = sandbox
        self.events: list[TestFinished | SuiteRepeated] = []

    async def red(self) -> Red:
        return await Gate(self.sandbox).red(SIGNATURE, TESTS, self.events.append)

    async def green(self) -> Verdict:
        return await Gate(self.sandbox).green(
            SandboxJob("double_number", CODE, TESTS), self.events.append, attempt=2
        )


async def test_a_suite_is_red_in_every_order_and_on_what_returns_something():
    run = Run(ScriptedSandbox(failing()))
    assert await run.red() == Red(tests=1)
    assert [(v.order, v.whole) for v in run.sandbox.repeated] == [
        *(("reversed", True), ("shuffled", True)),
        *[("given", True)] * 2,
        *[("given", False)] * 2,
    ]
    assert all(is_stub(v.code) for v in run.sandbox.repeated)
    assert [e.type for e in run.events] == ["test_finished", "suite_repeated", "suite_repeated"]


async def test_a_test_that_passes_on_the_stub_is_named():
    run = Run(ScriptedSandbox(outcomes(test_a="failed", test_b="passed")))
    assert (
        await run.red()
    ).problem == "these tests pass on an empty stub, so they test nothing: test_b"


async def test_a_suite_that_passes_on_the_stub_in_another_order_is_flaky():
    def again(version: Version) -> Verdict:
        return (
            outcomes(test_a="passed", test_b="failed")
            if version.order == "reversed"
            else steady(version)
        )

    run = Run(ScriptedSandbox(outcomes(test_a="failed", test_b="failed"), again=again))
    assert (await run.red()).problem == (
        "the suite is flaky: on an empty stub it gave another result in another order: "
        "test_a passed; "
        "let no test depend on another one, on chance, on time or on the order of sets"
    )
    assert run.events[2] == SuiteRepeated(
        against="stub", order="reversed", same=False, detail="test_a passed"
    )


@pytest.mark.parametrize(
    ("ending", "does"),
    [
        ("return None\n", "returns None"),
        ("return number\n", "returns its arguments"),
        ("% 9973\n", "returns some number for its arguments"),
        ("return 0\n", "always returns 0"),
    ],
)
async def test_a_suite_that_passes_on_what_returns_something_compares_nothing(ending, does):
    sandbox = ScriptedSandbox(
        failing(), again=lambda v: passing() if v.code.endswith(ending) else failing()
    )
    assert (
        await Run(sandbox).red()
    ).problem == f"the suite passes on a function that {does}, so it compares nothing with a value"


async def test_a_stub_that_waits_for_ever_is_no_reason_to_refuse():
    run = Run(
        ScriptedSandbox(
            failing(),
            again=lambda v: (
                Verdict(passed=False, problem="too long") if "crc32" in v.code else failing()
            ),
        )
    )
    assert await run.red() == Red(tests=1)


async def test_a_suite_that_does_not_run_says_why():
    run = Run(ScriptedSandbox(Verdict(passed=False, problem="ImportError: no")))
    assert (await run.red()).problem == "the suite does not run: ImportError: no"
    assert run.events == []


async def test_a_module_passes_again_in_other_orders():
    run = Run(ScriptedSandbox(passing()))
    assert await run.green() == passing()
    assert run.sandbox.repeated == [
        Version(code=CODE, order="reversed", whole=True, replay="quick"),
        Version(code=CODE, order="shuffled", whole=True),
    ]
    assert run.events == [
        TestFinished(against="implementation", attempt=2, result=passing().tests[0]),
        SuiteRepeated(against="implementation", attempt=2, order="reversed", same=True),
        SuiteRepeated(against="implementation", attempt=2, order="shuffled", same=True),
    ]


async def test_a_module_that_fails_is_not_run_again():
    run = Run(ScriptedSandbox(failing()))
    assert await run.green() == failing()
    assert run.sandbox.repeated == []


async def test_a_module_that_fails_in_another_order_only_keeps_state():
    def again(version: Version) -> Verdict:
        return (
            outcomes(test_a="failed", test_b="passed")
            if version.order == "reversed"
            else passing("test_a", "test_b")
        )

    run = Run(ScriptedSandbox(passing("test_a", "test_b"), again=again))
    verdict = await run.green()
    assert verdict == Verdict(
        passed=False,
        tests=outcomes(test_a="failed").tests,
        problem="flaky: every test passed at first, but run again in reversed order and with "
        "another hash seed, test_a failed. "
        "It passes in the given order, so a call depends on earlier calls; keep no state "
        "between calls.",
    )
    assert [e.detail for e in run.events if isinstance(e, SuiteRepeated)] == ["test_a failed", ""]


async def test_a_module_that_fails_now_and_then_depends_on_something_else():
    results = iter([failing(), passing(), passing(), passing(), failing(), failing()])
    verdict = await Run(ScriptedSandbox(passing(), again=lambda v: next(results))).green()
    assert verdict.problem.endswith(
        "but on the hash seed (the order of sets), on chance or on time."
    )


async def test_a_run_that_is_ended_the_second_time_is_flaky_too():
    ended = Verdict(passed=False, problem="It used 30 s of processor time, in test_a.")
    run = Run(
        ScriptedSandbox(passing(), again=lambda v: ended if v.order == "shuffled" else passing())
    )
    assert (
        "in shuffled order and with another hash seed, It used 30 s of processor time"
        in (await run.green()).problem
    )


@pytest.mark.parametrize(
    ("sandbox", "message", "where"),
    [
        (
            ScriptedSandbox(passing(), passing()),
            "double_number: these tests pass on an empty stub",
            "test",
        ),
        (ScriptedSandbox(failing(), failing()), "double_number: 1 of 1 test failed", "verify"),
        (
            ScriptedSandbox(
                passing(),
                failing(),
                again=lambda v: steady(v) if v.order == "given" or is_stub(v.code) else failing(),
            ),
            "double_number: flaky: ",
            "verify",
        ),
    ],
)
async def test_what_a_person_wrote_passes_the_same_gate(sandbox, message, where):
    draft = ToolDraft(
        name="double_number", description="", signature=SIGNATURE, code=CODE, tests=TESTS
    )
    engine = SynthesisEngine(ScriptedModel(), sandbox, ListedLibrary(), model_name="")
    with pytest.raises(SynthesisFailed, match=message) as caught:
        await engine.examine(draft)
    assert caught.value.where == where


@pytest.mark.parametrize("colour", ["red", "green"])
async def test_a_repeat_that_the_machine_holds_up_is_blamed_on_neither_suite_nor_code(colour):
    slow = Verdict(passed=False, problem="It did not end within 24 s.", overdue=True)

    def again(version: Version) -> Verdict:
        return slow if version.order == "shuffled" else steady(version)

    first = failing() if colour == "red" else passing()
    with pytest.raises(SandboxFailed, match="took too long when they were run again") as caught:
        await getattr(Run(ScriptedSandbox(first, again=again)), colour)()
    assert "end other programs" in caught.value.remedy
