"""The wording of a request, freed from what says nothing: courtesy, `what is`, `can you`, question marks."""

import re
from dataclasses import dataclass

from selfeng.offline.cookbook.literals import Place

_LEAD = re.compile(
    r"(?:hi|hello|hey|ok|okay|please|kindly|(?:can|could|would|will) you(?: please)?|"
    r"(?:i|we)(?:'d| would)? (?:want|need|like)(?: you)?(?: to(?: know)?)?|help me(?: to)?|let's|"
    r"do you know|what(?:'s|’s| is| are| was| would be| will be)|calculate|compute|find(?: out)?|determine|work out|figure out|"
    r"(?:give|tell|show|get|return|print)(?: me)?|how much (?:is|are|would be)|now|then|and|so|the)(?:,?\s+|:\s*)",
    re.IGNORECASE,
)
_COURTESY = (" please", " pls", " thanks", " thank you", " for me")
_TOOL_WANTED = re.compile(
    r"(?:(?:make|build|write|create|develop)(?: me)? )?(?:a|an)(?: \w+)? (?:tool|function|program|script) "
    r"(?:(?P<does>that|which) (?:can )?|to )(?P<verb>\w+)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
LONGEST = 20_000
"""Longer requests are not looked at: no recipe is worth the time that matching them would take."""


@dataclass(frozen=True)
class Form:
    """One way to read a request."""

    text: str
    place: Place


def forms(request: str) -> tuple[Form, ...]:
    """The request without its courtesy, most faithful first.

    As it stands it may end in text that a colon or quotation marks keep together; without its final question mark, and at last
    without its full stop, unquoted text may stand anywhere.
    """
    if len(request) > LONGEST:
        return ()
    text = _without_lead(request.strip())
    plain = _without_tail(text, "?! \t\n")
    wanted = _TOOL_WANTED.fullmatch(plain)
    if wanted:
        verb = wanted["verb"].removesuffix("s") if wanted["does"] else wanted["verb"]
        plain = verb + wanted["rest"]
    return (Form(text, "quoted"), Form(plain, "plain"), Form(_without_tail(plain, "?!.,; \t\n"), "plain"))


def _without_lead(text: str) -> str:
    while lead := _LEAD.match(text):
        text = text[lead.end() :]
    return text


def _without_tail(text: str, signs: str) -> str:
    while True:
        shorter = text.rstrip(signs)
        word = next((w for w in _COURTESY if shorter.lower().endswith(w)), "")
        shorter = shorter.removesuffix(shorter[len(shorter) - len(word) :]).rstrip(", ") if word else shorter
        if shorter == text:
            return text
        text = shorter
