"""The synthesis engine: from a request that no tool fits to a registered tool, tests first.

Its stages stand in src/synthesis/building.py, their order in src/turn_graph.py. Nothing is registered that did not pass in every order.
"""

from collections.abc import Sequence

from src.core.composition import Importable
from src.core.errors import SynthesisFailed
from src.core.plan import Plan
from src.core.protocols import ModelClient, Sandbox, ToolLibrary
from src.core.provenance import Provenance, Repaired
from src.core.tool import Tool, ToolDraft
from src.core.turn import Turn
from src.core.verdict import Verdict
from src.synthesis.building import Building, Workshop
from src.synthesis.checks import module_problem, suite_problem
from src.synthesis.composing import steady_requirements
from src.synthesis.gate import Gate, steady_summary, summary
from src.synthesis.policy import SynthesisPolicy
from src.synthesis.programming import Programmer
from src.synthesis.specifying import Analyst, Job, Reply
from src.synthesis.steps import Steps
from src.synthesis.testing import Tester
from src.turn_graph import Course

__all__ = ["Building", "Job", "Reply", "SynthesisEngine", "SynthesisPolicy"]


class SynthesisEngine:
    """Writes tools by test-driven development."""

    def __init__(
        self, model: ModelClient, sandbox: Sandbox, library: ToolLibrary, model_name: str, policy: SynthesisPolicy | None = None
    ) -> None:
        policy = policy or SynthesisPolicy()
        self._gate, self._library, self._model_name = Gate(sandbox), library, model_name
        self._programmer = Programmer(model, library, policy)
        self._workshop = Workshop(
            policy=policy,
            sandbox=sandbox,
            gate=self._gate,
            library=library,
            model_name=model_name,
            analyst=Analyst(model, sandbox, library, policy),
            tester=Tester(model, self._gate, policy),
            programmer=self._programmer,
        )

    async def synthesize(self, turn: Turn, looked_at: Sequence[str] = ()) -> Tool | Reply | Plan | Job:
        """Build and register the tool that the request needs, unless the library turns out to have it, or it takes more than one.

        `looked_at` names the tools that the search came up with and that don't fit.

        Raises:
            SynthesisFailed: a step gave up; the message says why, `where` at which step.
            ModelError, SandboxError: the model or the sandbox is out of order.
        """
        building = self.begin(turn)
        building.looked_at = looked_at
        await Course(turn, "specify").follow(building.stages)
        assert building.result is not None
        return building.result

    def begin(self, turn: Turn) -> Building:
        """The stages of building a tool for the turn, for who takes the turn through its graph."""
        return Building(self._workshop, turn)

    async def mend(self, turn: Turn, tool: Tool, call: str, failure: str, reason: str) -> Tool | None:
        """Make a new version of a tool that failed in use; None if the model finds the call wrong and not the tool, or no repair passed.

        The tests stay as they are, so what the tool could do it still can. `call` is Python source, `failure` what came of it, and
        `reason` what everybody may know of that: it stays with the version.

        Raises:
            ModelError, SandboxError: the model or the sandbox is out of order.
            LibraryError, SynthesisFailed: the tool, or one that it imports, has changed meanwhile.
        """
        steps = Steps(turn)
        tools = Importable(await self._library.tools(), kept=[pin.name for pin in tool.requires])
        code = await self._programmer.mend(steps, tool, tools, call, failure)
        if not code:
            return None
        with steps.step("verification") as current:
            verdict = await self._gate.green(tool.name, code, tool.tests, turn.emit, current.attempt)
            if not verdict.passed:
                current.fail(summary(verdict))
                return None
            current.summary = steady_summary(verdict)
        with steps.step("registration") as current:
            made = Provenance(origin=Repaired(failure=reason), verdict=verdict, prompts=tuple(turn.asked), usage=turn.budget.usage)
            requires = await steady_requirements(self._library, tools, code)
            draft = tool.draft().model_copy(update={"code": code, "model": self._model_name, "requires": requires})
            mended = await self._library.revise(draft, tool.version, made)
            current.summary = f"{mended.name} is in the library, as version {mended.version}."
        return mended

    async def examine(self, draft: ToolDraft) -> Verdict:
        """Take a tool that a person wrote through the gate that generated ones pass: checks, red on stubs, green on the code.

        Raises:
            SynthesisFailed: it does not pass; the message says why, `where` at which step.
            SandboxError: the sandbox is out of order.
        """
        tools = Importable(await self._library.tools())
        problem = suite_problem(draft.tests, draft.name) or module_problem(draft.code, draft.signature, tools)
        if problem:
            raise SynthesisFailed(f"{draft.name}: {problem}", where="tests")
        red = await self._gate.red(draft.signature, draft.tests, lambda _: None)
        if red.problem:
            raise SynthesisFailed(f"{draft.name}: {red.problem}", where="tests")
        verdict = await self._gate.green(draft.name, draft.code, draft.tests, lambda _: None)
        if not verdict.passed:
            raise SynthesisFailed(f"{draft.name}: {summary(verdict)}", where="verification")
        if await steady_requirements(self._library, tools, draft.code) != draft.requires:
            raise SynthesisFailed(f"{draft.name}: the tools that it imports have changed meanwhile", "try again", where="verification")
        return verdict


if __name__ == "__main__":
    import runpy
    import sys

    sys.argv[1:] = ["check", "synthesis_engine"]
    runpy.run_module("src", run_name="__main__")
