"""Writing: specifications, suites and modules of recipes, and the lessons that the offline model
learns.
"""

import json
import re

from selfeng.core.spec import SpecificationReply
from selfeng_offline.completion import Completion
from selfeng_offline.cookbook.matching import Match, in_english, is_german, matches, planned
from selfeng_offline.cookbook.read_prompt import ReadPrompt, once
from selfeng_offline.cookbook.recipe import Recipe, recipe_for_tool
from selfeng_offline.cookbook.scripts import script_for
from selfeng_offline.cookbook.small_talk import NEEDS_MODEL, reply_to

_PROJECT = re.compile(
    r"(?:please\s+)?(?:build|write|make|create)(?: me)? a (?:\w+ "
    r")?(?:project|program|application|command line tool)\b",
    re.IGNORECASE,
)
_UNKNOWN_TOOL = (
    "I am the built-in offline model, and this specification is not from my cookbook, so I can't "
    "write code for it. "
    "Connect a language model in the settings to let it do this."
)
_SPECIFIED = re.compile(
    r"^specify, attempt \d+, finished: .*? -> .*?: (?P<description>.+)$", re.MULTILINE
)
_FAILED = re.compile(
    r"^verify, attempt \d+, failed: \d+ of \d+ tests? failed: (?P<tests>.+)$", re.MULTILINE
)
_PASSED = re.compile(r"^verify, attempt \d+, finished", re.MULTILINE)


def specify(prompt: ReadPrompt) -> Completion:
    return Completion(content=_specified(prompt).model_dump_json())


def _specified(prompt: ReadPrompt) -> SpecificationReply:
    prompt, cron = once(prompt)
    if recipe_matches := matches(prompt.request):
        recipe = recipe_matches[0].recipe
        if recipe.steps and "plan" not in prompt.sections:
            steps = planned(recipe_matches[0], german=is_german(prompt.request))
            return _reply("steps").model_copy(update={"steps": steps})
        spec = recipe.specified(_taken_names(prompt))
        updates = {
            "specification": spec,
            "cron": cron,
            "call": _call_of(recipe_matches[0].with_file(prompt.files), spec.name),
        }
        return _reply("tool").model_copy(update=updates)
    if script_for(prompt.request):
        return _reply("delegate")
    if _PROJECT.match(in_english(prompt.request)):
        return _reply("delegate").model_copy(update={"agent": "proxy"})
    if small_talk := reply_to(prompt.request):
        return _reply("answer", small_talk)
    if continued := matches(prompt.request, prompt.earlier):
        # Most likely its tool exists and the search missed it, because so short a request does not
        # name it:
        # do not build a second one.
        example = continued[0].recipe.requests[0]
        return _reply(
            "question",
            "This seems to continue the request before it. Please say it in one sentence, such "
            f"as “{example}”",
        )
    return _reply("impossible", NEEDS_MODEL[is_german(prompt.request)])


def _call_of(match: Match, name: str) -> str:
    """The call that the request asks for, in Python; "" where it lacks a value."""
    arguments = ", ".join(f"{n}={v!r}" for n, v in match.arguments.items() if v is not None)
    return "" if match.missing else f"{name}({arguments})"


def _reply(outcome: str, message: str = "") -> SpecificationReply:
    return SpecificationReply.model_validate(
        {"outcome": outcome, "message": message, "specification": None}
    )


def _taken_names(prompt: ReadPrompt) -> frozenset[str]:
    """The names of the cookbook's tools that the library has, or that were refused before."""
    text = f"{prompt.sections.get('library', '')} {prompt.sections.get('problem', '')}"
    return frozenset(
        word for word in re.findall(r"[a-z_][a-z0-9_]*", text) if recipe_for_tool(word)
    )


def write_tests(prompt: ReadPrompt) -> Completion:
    return _source_block(prompt, "tests")


def write_code(prompt: ReadPrompt) -> Completion:
    return _source_block(prompt, "code")


def _source_block(prompt: ReadPrompt, part: str) -> Completion:
    """A block with the suite or the module of the specification's recipe."""
    head = prompt.sections["specification"].partition("\n")[0]
    if (recipe := recipe_of(head)) is None:
        return Completion(content=_UNKNOWN_TOOL)
    source = recipe.renamed(getattr(recipe, part), head.partition("(")[0])
    for name in re.findall(
        r"^from (\w+) import \1\b", prompt.sections.get("tools", ""), re.MULTILINE
    ):
        if imported := recipe_for_tool(name):  # under the name that it has in the library
            source = imported.renamed(source, name)
    return Completion(content=f"```python\n{source}```")


def recipe_of(head: str) -> Recipe | None:
    """The recipe for the tool of a specification that begins with this line, by its signature."""
    name = head.partition("(")[0]
    if (recipe := recipe_for_tool(name)) is None:
        return None
    signature = recipe.signature.model_copy(update={"function": name})
    return recipe if head.startswith(f"{signature}: ") else None


def learn(prompt: ReadPrompt) -> Completion:
    """One lesson or none: which tests a first implementation failed, if a repair passed them."""
    record = prompt.sections["record"]
    specified, failed = _SPECIFIED.search(record), _FAILED.search(record)
    if not specified or not failed or not _PASSED.search(record, failed.end()):
        return Completion(content=json.dumps({"lessons": []}))
    does = specified["description"].rstrip(".")
    cases = ", ".join(
        name.removeprefix("test_").replace("_", " ") for name in failed["tests"].split(", ")
    )
    advice = f"Go through these cases before you reply, as an earlier module failed them: {cases}."
    lesson = {
        "agent": "implement",
        "trigger": f"a function to {does[:1].lower()}{does[1:]}",
        "advice": advice,
        "known": None,
    }
    return Completion(content=json.dumps({"lessons": [lesson]}))
