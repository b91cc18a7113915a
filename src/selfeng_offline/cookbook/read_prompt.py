"""Reads a prompt of `src/selfeng/prompts`: its sections, taken apart again, and the times at which
its request wants a result again and again.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from selfeng_offline.completion import CompletionRequest

_SECTION = re.compile(
    r"^<(?P<tag>[a-z]+)(?P<mark>-[0-9a-f]+)?>\n(?P<body>.*?)\n</(?P=tag)(?(mark)(?P=mark))>$",
    re.MULTILINE | re.DOTALL,
)
"""No value contains the end of its own section: `render` then adds a mark to all tags."""

_DAYS = {
    **{"sunday": 0, "monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5},
    **{"saturday": 6, "day": "*", "workday": "1-5", "weekday": "1-5"},
    **{"sonntag": 0, "montag": 1, "dienstag": 2, "mittwoch": 3, "donnerstag": 4, "freitag": 5},
    **{"samstag": 6, "tag": "*", "werktag": "1-5"},
}
_DAY = rf"(?:(?:every|each|jeden)\s+(?P<day>{'|'.join(_DAYS)})|(?:daily|täglich))"
_CLOCK = (
    r"(?:at|um)\s+(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?"
    r"(?:\s*(?P<half>am|pm)|\s*o'clock|\s+uhr)?"
)
_TIMES = re.compile(rf"(?P<hourly>every hour|hourly|stündlich|jede stunde)|{_DAY}\s+{_CLOCK}", re.I)
_LEAD = re.compile(r"[\s,:]*(?:(?:send|give|tell|schick|gib|sag)\s+(?:me|mir)\b[\s:]*)?", re.I)
_THAT = re.compile(
    r"(?:please\s+|bitte\s+)?(?:do|run|repeat|send(?: me)?|mach|wiederhole)\s+"
    r"(?:that|this|it|the same|das|dies|dasselbe)(?:\s+(?:again|nochmal))?",
    re.I,
)
"""A request that points to the one before."""


@dataclass(frozen=True)
class ReadPrompt:
    """A prompt, or whatever else was sent."""

    said: tuple[str, ...]
    """All messages of the user and of tools, oldest first."""
    tools: Sequence[Mapping[str, Any]] = ()
    """The functions that may be called, as on the wire."""

    @classmethod
    def of(cls, request: CompletionRequest) -> "ReadPrompt":
        texts = tuple(
            _text(message)
            for message in request.messages
            if message.get("role") in {"user", "tool"}
        )
        return cls(texts, tuple(tool["function"] for tool in request.tools if "function" in tool))

    @property
    def sections(self) -> Mapping[str, str]:
        """The sections of the prompt by their tags; {} if no message has any."""
        return self._prompt[1]

    @property
    def earlier(self) -> tuple[str, ...]:
        """The user messages before the prompt, oldest first."""
        return self.said[: self._prompt[0]]

    @property
    def request(self) -> str:
        return self.sections["request"]

    def lines(self, tag: str) -> list[dict[str, Any]]:
        """A section with one line of JSON per item; [] if it is missing."""
        return [json.loads(line) for line in self.sections.get(tag, "").splitlines()]

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the files that a tool would find: those of the request if it has any, else
        earlier ones, newest first.
        """
        files = self.lines("files")
        return tuple(file["name"] for file in files if "from" not in file) or tuple(
            file["name"] for file in files
        )

    def asking(self, request: str, earlier: tuple[str, ...]) -> "ReadPrompt":
        """The prompt with another request, and these user messages before it."""

        def replaced(section: re.Match[str]) -> str:
            its = section["tag"] == "request"
            return section[0].replace(section["body"], request) if its else section[0]

        place = self._prompt[0]
        prompt = _SECTION.sub(replaced, self.said[place])
        return replace(self, said=(*earlier, prompt, *self.said[place + 1 :]))

    @cached_property
    def _prompt(self) -> tuple[int, dict[str, str]]:
        """The index and the sections of the prompt: the newest message with sections, since a
        repair round may follow it.
        """
        for number in range(len(self.said) - 1, -1, -1):
            if sections := sections_of(self.said[number]):
                return number, sections
        return len(self.said), {}


def sections_of(text: str) -> dict[str, str]:
    """The contents of sections such as `<request>` by their tags."""
    return {match["tag"]: match["body"].strip("\n") for match in _SECTION.finditer(text)}


def _text(message: Mapping[str, Any]) -> str:
    """The text of a message, whose content may be a list of parts."""
    content = message.get("content") or ""
    return (
        content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
    )


def once(prompt: ReadPrompt) -> tuple[ReadPrompt, str]:
    """The prompt with the request as for one result, and the times at which its request wants that
    again and again, in cron's five fields; "" if it does not.
    """
    request, cron = _without_times(prompt.request.strip().rstrip(".!"))
    if not cron:
        return prompt, ""
    if _THAT.fullmatch(request):
        *earlier, before = prompt.earlier or (request,)
        request, _ = _without_times(before)
        return prompt.asking(request, tuple(earlier)), cron
    return prompt.asking(request, prompt.earlier), cron


def _without_times(request: str) -> tuple[str, str]:
    """The times stand at the beginning or at the end."""
    for times in _TIMES.finditer(request):
        if not request[: times.start()].strip():
            after = request[times.end() :]
            return after[_LEAD.match(after).end() :].strip(), _cron(times)  # type: ignore[union-attr]
        if not request[times.end() :].strip():
            return request[: times.start()].strip(" ,"), _cron(times)
    return request, ""


def _cron(times: re.Match[str]) -> str:
    if times["hourly"]:
        return "0 * * * *"
    hour, half = int(times["hour"]), (times["half"] or "").lower()
    if half:
        hour = hour % 12 + 12 * (half == "pm")
    day = _DAYS[(times["day"] or "day").lower()]
    return f"{int(times['minute'] or 0)} {hour} * * {day}"
