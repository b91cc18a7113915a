"""The cost of a plan as one program: `python -m benchmarks.program [STEPS ...]`; the last line is
JSON, and the exit code is 1 if a goal is missed.

For plans of 2 to 6 steps, or of STEPS, the same two requests, with values of their own, run in two
libraries that have the tools of all steps. In one every plan runs in steps; in the other the first
request makes one tool of it. Everything is the real thing but the model, a script behind an HTTP
server that says what an ideal model would; its tokens are estimated from the lengths of texts.

`token_ratio`: the tokens of the second request as a program over those in steps, and `first_ratio`
those of the first, the worst of all plans. `wrong`: turns with another value than the tools give
one after the other. `sandbox_calls`: calls in the second turn, at most. `programs`: the share of
plans that became a tool pinned to the tools of all steps.
"""

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import SecretStr

from benchmarks.goals import report
from benchmarks.learning import offline_settings
from selfeng.bootstrap import build_engine
from selfeng.core.events import Event, Executing, ExecutionFinished
from selfeng.core.functions import NO_TOOL_FITS, REFERENCE
from selfeng.core.plan import PlannedStep
from selfeng.core.settings import Settings
from selfeng.core.spec import SpecExample, Specification, SpecificationReply, SpecParameter
from selfeng.core.tool import ToolDraft
from selfeng.core.verdict import Returned
from selfeng.engine import Engine
from selfeng_offline.completion import Completion, CompletionRequest
from selfeng_offline.cookbook import Cookbook
from selfeng_offline.cookbook.read_prompt import ReadPrompt
from selfeng_offline.cookbook.recipe import Recipe, recipe_for_tool
from selfeng_offline.server import OfflineServer
from tests.doubles import handled

MOST = {"token_ratio": 0.4, "wrong": 0, "sandbox_calls": 1}
LEAST = {"programs": 1.0, "step_tokens": 1_000}
STEPS = {
    "reverse_words": "Reverse the words in {}",
    "uppercase_text": "Convert {} to upper case",
    "reverse_string": "Reverse the string {}",
    "rot13_text": "Apply rot13 to the text {}",
    "base64_encode": "Encode {} as Base64",
    "count_vowels": "How many vowels are in {}?",
}
"""Requests by the name of the tool, in the order of a plan."""
VALUES = ("the sky is blue", "a quiet word please")
EXAMPLES = ("ab cd", "Hello big world", "one", "x y z", "Stop 12 now")


class Plan(NamedTuple):
    """The first steps of all, and the tool that does them."""

    recipes: tuple[Recipe, ...]

    @staticmethod
    def of(length: int) -> "Plan":
        recipes = map(recipe_for_tool, list(STEPS)[:length])
        return Plan(tuple(recipe for recipe in recipes if recipe))

    @property
    def name(self) -> str:
        return f"garble_text_in_{len(self.recipes)}_ways"

    def request(self, value: str) -> str:
        """All steps in one request."""
        texts = [STEPS[recipe.name].format("it").lower().rstrip("?") for recipe in self.recipes]
        return f"Take the text {value!r} and do this in turn: {'; then '.join(texts)}"

    def steps(self, value: str) -> tuple[PlannedStep, ...]:
        return tuple(
            PlannedStep(
                id=f"s{n}",
                request=STEPS[recipe.name].format(f"s{n - 1}" if n else repr(value)),
                needs=(f"s{n - 1}",) if n else (),
            )
            for n, recipe in enumerate(self.recipes)
        )

    def value(self, text: Any) -> Any:
        """The value that the tools give one after the other."""
        for recipe in self.recipes:
            names: dict[str, Any] = {}
            exec(recipe.code, names)  # noqa: S102 - a recipe of the cookbook
            text = names[recipe.name](text)
        return text

    @property
    def code(self) -> str:
        lines = [f"from {recipe.name} import {recipe.name}" for recipe in self.recipes]
        body = "".join(f"    text = {recipe.name}(text)\n" for recipe in self.recipes)
        head = f"def {self.name}(text: str) -> {self.recipes[-1].signature.returns}:"
        docstring = '    """Garble a text."""\n'
        return "\n".join([*lines, "", "", head, docstring]) + body + "    return text\n"

    @property
    def tests(self) -> str:
        cases = "".join(
            f"\n\ndef test_{n}():\n    assert {self.name}(text={text!r}) == {self.value(text)!r}\n"
            for n, text in enumerate(EXAMPLES)
        )
        return f"from {self.name} import {self.name}\n{cases}"

    @property
    def specification(self) -> Specification:
        requests = (self.request(text) for text in EXAMPLES)
        return Specification(
            name=self.name,
            description=f"Garble a text: {', '.join(recipe.name for recipe in self.recipes)}.",
            parameters=(
                SpecParameter(name="text", annotation="str", default=None, description="the text"),
            ),
            returns=self.recipes[-1].signature.returns,
            returns_description="the garbled text",
            errors="none",
            user_examples=(),
            examples=tuple(
                SpecExample(call=f"{self.name}(text={text!r})", result=repr(self.value(text)))
                for text in EXAMPLES
            ),
            example_requests=tuple(requests),
        )


class PlanModel:
    """Completes the prompts of a plan; what is not about it is the cookbook's."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._cookbook = plan, Cookbook()

    def complete(self, request: CompletionRequest) -> Completion:
        prompt, plan = ReadPrompt.of(request), self._plan
        match request.prompt:
            case "decide":
                return self._choice(prompt)
            case "specification":
                (value,) = (v for v in VALUES if v in prompt.request)
                reply = SpecificationReply(
                    outcome="steps", message="", specification=None, steps=plan.steps(value)
                )
                if "plan" in prompt.sections:
                    spec, call = plan.specification, f"{plan.name}(text={value!r})"
                    reply = SpecificationReply(
                        outcome="tool", message="", specification=spec, call=call
                    )
                return Completion(content=reply.model_dump_json())
            case "tests" | "more_tests":
                return Completion(content=f"```python\n{plan.tests}```")
            case "implementation" | "repair":
                return Completion(content=f"```python\n{plan.code}```")
            case "answer" | "results":
                return Completion(content="Here is the result.")
        return self._cookbook.complete(request)

    def _choice(self, prompt: ReadPrompt) -> Completion:
        """The tool for the whole plan, if it is there, or the tool of a step."""
        plan, names = self._plan, [tool["name"] for tool in prompt.tools]
        for value in VALUES:
            if prompt.request == plan.request(value) and plan.name in names:
                return Completion(function=plan.name, arguments={"text": value})
            for step, recipe in zip(plan.steps(value), plan.recipes, strict=True):
                if step.request == prompt.request and recipe.name in names:
                    text = {REFERENCE: step.needs[0]} if step.needs else value
                    return Completion(function=recipe.name, arguments={"text": text})
        return Completion(function=NO_TOOL_FITS.name, arguments={"reason": "It takes several."})


class Turned(NamedTuple):
    """The cost of a turn, and its value."""

    tokens: int
    calls: int
    value: Any


async def _turns(settings: Settings, plan: Plan) -> tuple[list[Turned], bool]:
    """Both requests in a library of their own, and whether it has the tool of the plan then."""
    engine = await build_engine(settings)
    try:
        await engine.setup.get_ready()
        for recipe in plan.recipes:
            draft = {"name": recipe.name, "description": recipe.specification.description}
            await engine.library.add(
                ToolDraft(
                    **draft,
                    signature=recipe.signature,
                    code=recipe.code,
                    tests=recipe.tests,
                    example_requests=recipe.requests,
                )
            )
        turned = [await _turned(engine, plan.request(value)) for value in VALUES]
        pins = [
            {pin.name for pin in tool.requires}
            for tool in await engine.library.tools()
            if tool.name == plan.name
        ]
        return turned, pins == [{recipe.name for recipe in plan.recipes}]
    finally:
        await engine.aclose()


async def _turned(engine: Engine, request: str) -> Turned:
    events: list[Event] = []
    last = await handled(engine.model_parts.current.orchestrator, request, events.append)
    runs = [e.execution for e in events if isinstance(e, ExecutionFinished)]
    data = runs[-1].data if runs and isinstance(runs[-1], Returned) else None
    calls = sum(isinstance(event, Executing) for event in events)
    return Turned(last.usage.input_tokens + last.usage.output_tokens, calls, data)


async def _measure(lengths: Sequence[int]) -> dict[str, Any]:
    rows = []
    for plan in map(Plan.of, lengths):
        with OfflineServer(PlanModel(plan), delay=0) as server:
            sides = []
            for threshold in (1.0, 0.75):  # no tool is sure enough for a program, and the default
                with tempfile.TemporaryDirectory() as folder:
                    own = {
                        "openai_base_url": server.base_url,
                        "openai_api_key": SecretStr(server.api_key),
                        "openai_model": server.model,
                        "similarity_threshold": threshold,
                    }
                    settings = offline_settings(Path(folder)).model_copy(update=own)
                    sides.append(await _turns(settings, plan))
        (in_steps, _), (programs, is_program) = sides
        expected = [json.dumps(plan.value(value)) for value in VALUES]
        row = {
            "steps": len(plan.recipes),
            "token_ratio": round(programs[1].tokens / in_steps[1].tokens, 3),
            "first_ratio": round(programs[0].tokens / in_steps[0].tokens, 3),
            "wrong": sum(
                turned.value != value
                for turns in (in_steps, programs)
                for turned, value in zip(turns, expected, strict=True)
            ),
            "sandbox_calls": programs[1].calls,
            "step_calls": in_steps[1].calls,
            "step_tokens": in_steps[1].tokens,
            "program": is_program,
        }
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()
        rows.append(row)
    worst = ("token_ratio", "first_ratio", "sandbox_calls")
    return {
        **{name: max(row[name] for row in rows) for name in worst},
        "wrong": sum(row["wrong"] for row in rows),
        "programs": sum(row["program"] for row in rows) / len(rows),
        "step_tokens": min(row["step_tokens"] for row in rows),
        "plans": len(rows),
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("steps", type=int, nargs="*", default=[2, 3, 4, 5, 6])
    return report(asyncio.run(_measure(parser.parse_args().steps)), MOST, LEAST)


if __name__ == "__main__":
    sys.exit(main())
