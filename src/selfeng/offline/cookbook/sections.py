"""The prompts of `src/selfeng/prompts` as the offline model reads them: which task it is, and its parts."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_TASK = "# Task: "
_LISTS = re.compile(
    r"\s*<(?P<tag>files|answers|results|plan)(?P<mark>-[0-9a-f]+)?>\n(?P<lines>.*?)\n</(?P=tag)(?(mark)(?P=mark))>", re.DOTALL
)
"""Sections that hold one line of JSON for each thing, and are not always there."""
_LESSONS = re.compile(r"\s*<lessons(?P<mark>-[0-9a-f]+)?>\n.*?\n</lessons(?(mark)(?P=mark))>", re.DOTALL)
"""Hints for models that can follow them."""
_SECTIONS = {
    "choose a tool": ("request",),
    "extract the arguments": ("request",),
    "write the specification": ("request",),
    "write the tests": ("specification",),
    "mend a tool": ("description", "tests", "implementation", "call", "failure"),
    "write more tests": ("specification", "tests", "survivors"),
    "write the deciding test": ("specification", "tests", "difference"),
    "write the implementation": ("specification", "tests"),
    "repair the implementation": ("specification", "tests", "implementation", "failures"),
    "answer the person": ("request", "call", "result"),
    "answer from the results of a plan": ("request", "results"),
    "learn lessons": ("record",),
    "take the next step of a project": ("goal", "findings", "project", "activity"),
}


_AGENTS = {"relay messages", "write and run code"}
"""Prompts of threads, whose last message may be the result of a call."""


@dataclass(frozen=True)
class Task:
    """What a prompt asks for."""

    name: str
    """`choose a tool`, for instance; "" for anything that is not one of our prompts."""
    parts: Mapping[str, str]
    """The sections of the last user message by their tag."""
    rest: str
    """What stands after the sections: names that are taken, why an earlier reply was refused."""
    files: tuple[str, ...]
    """Names of the files that a tool would find: those of the request if it has any, else earlier ones, the newest first."""
    results: tuple[str, ...]
    """Ids of the results of other steps, if this is a step of a plan."""
    keeps: bool
    """Whether one tool is to be made of a plan."""
    answers: Mapping[str, str]
    """What the person says to the questions before, by their ids."""
    earlier: tuple[str, ...]
    """The user messages before the last one, oldest first."""


def read_task(messages: Sequence[Mapping[str, Any]]) -> Task:
    """The task of the messages as they are on the wire."""
    system = next((_text(m) for m in messages if m.get("role") == "system"), "")
    said = [_text(m) for m in messages if m.get("role") == "user"] or [""]
    first = system.partition("\n")[0].strip()
    name = first.removeprefix(_TASK) if first.startswith(_TASK) else ""
    if name in _AGENTS:
        return Task(name, {}, "", (), (), False, {}, ())
    found = _pattern(_SECTIONS[name]).search(said[-1]) if name in _SECTIONS else None
    if found is None:
        return Task("", {"request": said[-1]}, "", (), (), False, {}, tuple(said[:-1]))
    parts = {tag: found[tag].strip("\n") for tag in _SECTIONS[name]}
    rest = _LESSONS.sub("", said[-1][found.end() :])
    lists = {m["tag"]: [json.loads(line) for line in m["lines"].splitlines()] for m in _LISTS.finditer(rest)}
    results = tuple(result["id"] for result in lists.get("results", ()))
    answers = {answer["id"]: answer["answer"] for answer in lists.get("answers", ())}
    return Task(name, parts, _LISTS.sub("", rest), _names(lists.get("files", [])), results, "plan" in lists, answers, tuple(said[:-1]))


def _names(files: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """What the section says that `src/selfeng/prompts/request.py` writes."""
    given = [file["name"] for file in files if "from" not in file]
    return tuple(given or [file["name"] for file in files])


def _pattern(tags: Sequence[str]) -> re.Pattern[str]:
    """The sections in this order, with the mark that all tags bear where a part holds one of them; the last may hold anything."""
    *others, last = tags
    mark = "(?(mark)(?P=mark))"
    parts = [rf"<{tag}{mark}>\n(?P<{tag}>.*?)\n</{tag}{mark}>\s+" for tag in others]
    pattern = "".join([*parts, rf"<{last}{mark}>\n(?P<{last}>.*)\n</{last}{mark}>"])
    return re.compile(pattern.replace(mark, "(?P<mark>-[0-9a-f]+)?", 1), re.DOTALL)


def _text(message: Mapping[str, Any]) -> str:
    """The text of a message, whose content may be a list of parts."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
