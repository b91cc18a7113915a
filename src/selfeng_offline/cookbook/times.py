"""Times: when a request wants its result again and again, as cron writes it."""

import re

from selfeng_offline.cookbook.read_prompt import ReadPrompt

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


def once(prompt: ReadPrompt) -> tuple[ReadPrompt, str]:
    """The prompt with the request as for one result, and the times at which its request wants that
    again and again, in cron's five fields; "" if it does not.
    """
    request, cron = _without_times(prompt.request.strip().rstrip(".!"))
    if not cron:
        return prompt, ""
    if _THAT.fullmatch(request):
        *earlier, request = prompt.earlier or (request,)
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
