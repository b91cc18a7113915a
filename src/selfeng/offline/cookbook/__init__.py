"""The cookbook: the author behind the offline model. It knows a fixed set of recipes, and says so where it knows none."""

import json
import re
from typing import Any

from pydantic import ValidationError

from selfeng.core.functions import REFERENCE
from selfeng.core.spec import Specification, SpecificationReply
from selfeng.offline.completion import ChatRequest, Completion
from selfeng.offline.cookbook.agents import coded, relayed
from selfeng.offline.cookbook.answering import answer, answer_plan
from selfeng.offline.cookbook.conversation import Match, completed, matches, planned
from selfeng.offline.cookbook.fitting import Function, fill, fill_by_literals
from selfeng.offline.cookbook.learning import lessons_of
from selfeng.offline.cookbook.projects import next_step
from selfeng.offline.cookbook.recipes import RECIPES
from selfeng.offline.cookbook.scripts import script_for
from selfeng.offline.cookbook.sections import Task, read_task
from selfeng.offline.cookbook.small_talk import KNOWLEDGE, reply_to
from selfeng.offline.cookbook.specifying import example_request, names_in, recipe_of, specification, with_imports

_PROJECT = re.compile(
    r"(?:please\s+)?(?:build|write|make|create)(?: me)? a (?:\w+ )?(?:project|program|application|command line tool)\b", re.IGNORECASE
)
_DECLINE = "no_tool_fits"
_UNKNOWN_TOOL = (
    "I am the built-in offline model, and this specification is not from my cookbook, so I can't write code for it. "
    "Set `OPENAI_API_KEY`, or `OPENAI_BASE_URL` for a local server, to let a full model do it."
)


class Cookbook:
    """Completes the prompts of `src/selfeng/prompts` from recipes; implements `Author`."""

    def complete(self, request: ChatRequest) -> Completion:
        task = read_task(request.messages)
        match task.name:
            case "relay messages":
                return relayed(request.messages)
            case "write and run code":
                return coded(request.messages)
            case "choose a tool" | "extract the arguments":
                return _choice(task, [Function.from_wire(tool) for tool in request.tools])
            case "write the specification":
                return Completion(content=_specified(task).model_dump_json())
            case "write the tests" | "write more tests" | "write the implementation" | "repair the implementation":
                return Completion(content=_written(task))
            case "answer from the results of a plan":
                return Completion(content=answer_plan(task.parts["results"]))
            case "write the deciding test":
                return Completion(content="undecided")
            case "mend a tool":
                return Completion(content="misuse")  # its recipes are right
            case "answer the person":
                return Completion(content=answer(task.parts["call"], task.parts["result"]))
            case "take the next step of a project":
                names = [tool["function"]["name"] for tool in request.tools]
                return next_step(task.parts["goal"], task.parts["project"], task.parts["activity"], names)
            case "learn lessons":
                return Completion(content=json.dumps({"lessons": lessons_of(task.parts["record"])}))
            case _:
                return Completion(content=reply_to(task.parts["request"]) or KNOWLEDGE)


def _choice(task: Task, functions: list[Function]) -> Completion:
    """The call of the function that does what a matching recipe does, or of one that speaks of the same as the request."""
    request = task.parts["request"]
    found = completed(task.earlier, task.answers) or matches(request, task.earlier)
    asked = tuple(match.with_file(task.files) for match in found)
    tools = [f for f in functions if f.name != _DECLINE]
    for match in asked:
        for tool in tools:
            if match.recipe.makes(tool.name) and (arguments := fill(tool, match)) is not None:
                return _called(tool.name, {n: {REFERENCE: v} if v in task.results else v for n, v in arguments.items()})
    foreign = [f for f in tools if not any(r.makes(f.name) for r in RECIPES)]
    fitting = [(f.name, arguments) for f in foreign if (arguments := fill_by_literals(request, f)) is not None]
    if len(fitting) == 1:
        return _called(*fitting[0])
    return _called(_DECLINE, {"reason": _why_none(request, asked)})


def _called(name: str, arguments: dict[str, Any]) -> Completion:
    return Completion(function=name, arguments=arguments, finish_reason="tool_calls")


def _why_none(request: str, asked: tuple[Match, ...]) -> str:
    if asked:
        does = asked[0].recipe.source.description.rstrip(".")
        return f"None of these tools does this: {does[:1].lower()}{does[1:]}."
    if reply_to(request):
        return "Nothing is to be computed here."
    return "The offline model recognises none of these tools as one for this request."


def _specified(task: Task) -> SpecificationReply:
    request = task.parts["request"]
    asked = matches(request)
    if asked:
        recipe = asked[0].recipe
        if recipe.steps and not task.keeps:
            return SpecificationReply(outcome="steps", message="", specification=None, steps=planned(asked[0]))
        return SpecificationReply(outcome="tool", message="", specification=specification(recipe, names_in(task.rest)))
    if script_for(request) or _PROJECT.match(request):
        return SpecificationReply(outcome="delegate", message="", specification=None)
    small_talk = reply_to(request)
    if small_talk:
        return SpecificationReply(outcome="answer", message=small_talk, specification=None)
    if continued := matches(request, task.earlier):
        # Most likely its tool exists and the search missed it, as so short a request does not name it: no second one is built.
        example = example_request(continued[0].recipe)
        question = f"This seems to continue the request before it. Please say it in one sentence, such as “{example}”"
        return SpecificationReply(outcome="question", message=question, specification=None)
    return SpecificationReply(outcome="impossible", message=f"I have no recipe for this request. {KNOWLEDGE}", specification=None)


def _written(task: Task) -> str:
    """A block with the suite or the module of the recipe that the specification is from."""
    try:
        spec = Specification.model_validate_json(task.parts["specification"])
    except ValidationError:
        return _UNKNOWN_TOOL
    recipe = recipe_of(spec)
    if recipe is None:
        return _UNKNOWN_TOOL
    source = recipe.source
    text = source.tests if task.name in ("write the tests", "write more tests") else source.code
    return f"```python\n{with_imports(source.renamed(text, spec.name), task.rest)}```"
