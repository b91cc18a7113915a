"""The tester: writes the suite from the specification alone, before there is any code."""

from collections.abc import Mapping

from selfeng.core.errors import SynthesisFailed
from selfeng.core.prompt import Prompt
from selfeng.core.protocols import ModelClient
from selfeng.core.signature import UNREADABLE
from selfeng.core.tool import Tool
from selfeng.core.value import Coded, Value
from selfeng.core.words import count
from selfeng.prompts import render
from selfeng.prompts.request import CONTENT, exchanges_shown, lessons_shown, listed
from selfeng.synthesis.before import Before, earlier_tests
from selfeng.synthesis.checks import suite_problem
from selfeng.synthesis.consensus import Difference
from selfeng.synthesis.examples import denied, example_tests
from selfeng.synthesis.gate import Chain
from selfeng.synthesis.mutants import Strength
from selfeng.synthesis.specifying import BuildSpec
from selfeng.synthesis.steps import Step, Steps, SynthesisPolicy, gave_up
from selfeng.synthesis.suite.editing import names_of, without
from selfeng.synthesis.suite.joining import join

SURVIVORS = 5
"""Maximum number of mutants shown when more tests are requested."""


class Written(Value):
    tests: str
    earlier: Mapping[str, str] = {}
    """The tests that come from the previous version, with their names there."""


class Tester:
    def __init__(self, model: ModelClient, chain: Chain, policy: SynthesisPolicy) -> None:
        self._model, self._chain, self._policy = model, chain, policy

    async def write(
        self, steps: Steps, build: BuildSpec, before: Before | None, problem: str = ""
    ) -> Written:
        """A suite that is red on stubs, with the person's examples and the tests of the previous
        version, which pass on that version.

        `problem` says why an earlier suite was refused.

        Raises:
            SynthesisFailed: the model wrote no usable suite, or a test of the previous version can
                no longer pass.
            ModelError, SandboxError: the model or the sandbox is broken.
        """
        spec, attempts = build.spec, self._policy.max_rewrites + 1
        if (
            build.extends
            and before
            and (failed := await self._chain.failing_before(spec.name, before.tests, before))
        ):
            raise can_not_pass(build.extends, f"{failed}, on that version's own code")
        lessons = lessons_shown(await steps.turn.lessons("test", spec.description))
        context = {
            "specification": spec.outline(),
            "files": listed(steps.turn.request, CONTENT),
            "recorded": build.exchanges and exchanges_shown(build.exchanges),
            "lessons": lessons,
        }
        fixed_suites = [
            example_tests(spec.name, spec.user_examples),
            before.tests if before else "",
        ]
        for _ in range(attempts):
            prompt = render("tests", name=spec.name, **context, problem=problem)
            with steps.step("test", prompt.name) as current:
                tests, problem = await current.stream_code(
                    self._model, prompt, lambda code: _problem(spec.name, code, *fixed_suites)
                )
                earlier: dict[str, str] = {}
                problem = problem or denied(spec, tests)
                if not problem:
                    tests, names = join(tests, *fixed_suites)
                    earlier = earlier_tests(spec.name, fixed_suites[-1], names[-1])
                    problem = await self._red(steps, current, build, tests)
                if not problem and build.extends and before:
                    failed = await self._chain.failing_before(
                        spec.name, tests, before, tuple(earlier)
                    )
                    problem = (
                        failed
                        and f"among these tests {failed}, a test of version {before.version} that "
                        "passed alone"
                    )
                problem = problem or await self.fault_missing(build, tests, before)
                current.artifact = tests
                if not problem:
                    return Written(tests=tests, earlier=earlier)
                current.fail(f"Refused: {problem}.")
        raise gave_up("test", attempts, problem)

    async def fault_missing(self, build: BuildSpec, tests: str, before: Before | None) -> str:
        """Why a suite shows no fault of the version to fix; "" if it does.

        Raises: SandboxUnavailable, SandboxFailed.
        """
        if before is None or not build.fixes:
            return ""
        if await self._chain.failing_before(build.spec.name, tests, before):
            return ""
        return (
            f"every test passes on version {before.version}, which the person says is wrong: add a "
            "test for what it gets wrong, in the form of the person's own data"
        )

    async def more(self, steps: Steps, build: BuildSpec, tests: str, strength: Strength) -> str:
        """The suite with more tests for what it misses, and without tests that prove nothing;
        unchanged if no usable one was written.

        Raises:
            ModelError, SandboxError: the model or the sandbox is broken.
        """
        replay = strength.replay
        idle = [test for test, _ in replay.refused]
        missed = [*(reason for _, reason in replay.refused), *replay.gaps]
        missed += [mutant.change for mutant in strength.survivors]
        survivors = "\n".join(f"- {change}" for change in missed[:SURVIVORS])
        remaining = without(tests, build.spec.name, idle)
        prompt = render("more_tests", **_context(build, remaining), survivors=survivors)
        larger = await self._added(steps, build, remaining, prompt)
        return tests if larger == remaining else larger

    async def decide(
        self, steps: Steps, build: BuildSpec, tests: str, difference: Difference
    ) -> str:
        """The suite with one more test, for a call on which two candidates differ; unchanged if the
        specification leaves it open.

        Raises:
            ModelError, SandboxError: the model or the sandbox is broken.
        """
        report = f"{difference.call}\none returns {difference.others}\nthe other {difference.own}"
        return await self._added(
            steps,
            build,
            tests,
            render(
                "deciding_test",
                **_context(build, tests),
                difference=report,
                files=listed(steps.turn.request),
            ),
        )

    async def _added(self, steps: Steps, build: BuildSpec, tests: str, prompt: Prompt) -> str:
        name = build.spec.name
        with steps.step("test", prompt.name) as current:
            new, problem = await current.stream_code(
                self._model, prompt, lambda code: _problem(name, tests, code, same=True)
            )
            larger = tests if problem else join(tests, new, open_first=True).source
            if not problem and names_of(larger, name) == names_of(tests, name):
                problem = "it adds no test that the suite lacks"
            problem = problem or await self._red(steps, current, build, larger)
            current.artifact = tests if problem else larger
            if problem:
                current.tell(f"The suite stays as it is: {problem}.", "suite_stays")
        return current.artifact

    async def _red(self, steps: Steps, current: Step, build: BuildSpec, tests: str) -> str:
        red = await self._chain.gate.red(
            build.spec.signature(), tests, steps.turn.emit, current.attempt
        )
        example_count = len(build.spec.user_examples)
        all_fail = "all failing without an implementation, as they should."
        examples = f" From the request's own examples: {example_count}." if example_count else ""
        current.summary = f"{count(red.tests, 'test')}, {all_fail}{examples}"
        current.coded = Coded(code="red", values={"tests": red.tests, "examples": example_count})
        return red.problem


def can_not_pass(before: Tool, what: str) -> SynthesisFailed:
    """The error of a revision that contradicts a test of the previous version."""
    name = before.name
    return SynthesisFailed(
        f"{name} stays at version {before.version}, whose tests hold for every later one: {what}",
        f"if the test is wrong, correct it in test_{name}.py and run `selfeng verify {name}`; "
        "else ask for a tool of another name",
        where="test",
    )


def _problem(name: str, *suites: str, same: bool = False) -> str | None:
    """The problem of several suites joined into one; `same`: the others only add to the first."""
    try:
        return suite_problem(join(*suites, open_first=same).source, name)
    except UNREADABLE as error:
        return f"the suite is not valid Python: {error}"


def _context(build: BuildSpec, tests: str) -> dict[str, object]:
    return {
        "name": build.spec.name,
        "specification": build.spec.outline(),
        "tests": tests,
        "recorded": build.exchanges and exchanges_shown(build.exchanges),
    }
