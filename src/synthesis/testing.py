"""The tester: the suite, from the specification alone and before there is any code."""

from src.core.prompt import Prompt
from src.core.protocols import ModelClient
from src.core.words import count
from src.prompts import render
from src.prompts.lessons import learnt
from src.synthesis.checks import suite_problem
from src.synthesis.consensus import Difference
from src.synthesis.examples import example_tests
from src.synthesis.gate import Gate
from src.synthesis.mutants import Strength
from src.synthesis.policy import SynthesisPolicy
from src.synthesis.specifying import Order
from src.synthesis.steps import Step, Steps, gave_up
from src.synthesis.suite.editing import joined, names_of

SURVIVORS = 5
"""Mutants that are shown when further tests are asked for."""


class Tester:
    def __init__(self, model: ModelClient, gate: Gate, policy: SynthesisPolicy) -> None:
        self._model, self._gate, self._policy = model, gate, policy

    async def write(self, steps: Steps, order: Order, problem: str = "") -> str:
        """A suite that is red on stubs, with the person's examples and the tests of the version before.

        `problem` says why an earlier suite would not do.

        Raises:
            SynthesisFailed: no usable suite came.
            ModelError, SandboxError: the model or the sandbox is out of order.
        """
        spec, attempts = order.spec, self._policy.max_rewrites + 1
        shown = {"specification": spec.model_dump_json(indent=2), "lessons": await learnt(steps.turn, "tests", spec.description)}
        given = [example_tests(spec, spec.user_examples), order.extends.tests if order.extends else ""]
        for _ in range(attempts):
            prompt = render("tests", name=spec.name, **shown, problem=problem)
            with steps.step("tests", prompt.name) as current:
                tests, problem = await current.written(self._model, prompt, lambda code: suite_problem(joined(code, *given), spec.name))
                if not problem:
                    tests = joined(tests, *given)
                    problem = await self._red(steps, current, order, tests)
                current.artifact = tests
                if not problem:
                    return tests
                current.fail(f"Refused: {problem}.")
        raise gave_up("tests", attempts, problem)

    async def more(self, steps: Steps, order: Order, tests: str, strength: Strength) -> str:
        """The suite with further tests that should notice the mutants it does not; as it was if none of use came.

        Raises:
            ModelError, SandboxError: the model or the sandbox is out of order.
        """
        survivors = "\n".join(f"- {mutant.change}" for mutant in strength.survivors[:SURVIVORS])
        return await self._added(steps, order, tests, render("more_tests", **_shown(order, tests), survivors=survivors))

    async def decide(self, steps: Steps, order: Order, tests: str, difference: Difference) -> str:
        """The suite with one more test, for a call on which two candidates differ; as it was if the specification leaves it open.

        Raises:
            ModelError, SandboxError: the model or the sandbox is out of order.
        """
        told = f"{difference.call}\none returns {difference.others}\nthe other {difference.own}"
        return await self._added(steps, order, tests, render("deciding_test", **_shown(order, tests), difference=told))

    async def _added(self, steps: Steps, order: Order, tests: str, prompt: Prompt) -> str:
        name = order.spec.name
        with steps.step("tests", prompt.name) as current:
            new, problem = await current.written(self._model, prompt, lambda code: suite_problem(joined(tests, code), name))
            larger = tests if problem else joined(tests, new)
            if not problem and names_of(larger, name) == names_of(tests, name):
                problem = "there is no test in it that the suite has not"
            problem = problem or await self._red(steps, current, order, larger)
            current.artifact = tests if problem else larger
            if problem:
                current.summary = f"The suite stays as it is: {problem}."
        return current.artifact

    async def _red(self, steps: Steps, current: Step, order: Order, tests: str) -> str:
        red = await self._gate.red(order.spec.signature(), tests, steps.turn.emit, current.attempt)
        own = len(order.spec.user_examples)
        current.summary = f"{count(red.tests, 'test')}, all failing on an empty stub, as they should."
        if own:
            current.summary += f" From the request's own examples: {own}."
        return red.problem


def _shown(order: Order, tests: str) -> dict[str, str]:
    return {"name": order.spec.name, "specification": order.spec.model_dump_json(indent=2), "tests": tests}
