"""Matching: which recipes a request asks for, even if it only continues the request before, or is
in German.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from selfeng.core.plan import PlannedStep
from selfeng_offline.cookbook.literals import Quoting, Unreadable
from selfeng_offline.cookbook.recipe import Recipe, recipes
from selfeng_offline.cookbook.small_talk import reply_to

_LEAD = re.compile(
    r"(?:hi|hello|hey|ok|okay|please|kindly|(?:can|could|would|will) you(?: please)?|"
    r"(?:i|we)(?:'d| would)? (?:want|need|like)(?: you)?(?: to(?: know)?)?|help me(?: to)?|let's|"
    r"do you know|what(?:'s|’s| is| are| was| would be| will be)|calculate|compute|find(?: "
    r"out)?|determine|work out|figure out|"
    r"(?:give|tell|show|get|return|print)(?: me)?|how much (?:is|are|would "
    r"be)|now|then|and|so|the)(?:,?\s+|:\s*)",
    re.IGNORECASE,
)
_COURTESY = (" please", " pls", " thanks", " thank you", " for me")
_TOOL_WANTED = re.compile(
    r"(?:(?:make|build|write|create|develop)(?: me)? )?(?:a|an)(?: \w+)? "
    r"(?:tool|function|program|script) "
    r"(?:(?P<does>that|which) (?:can )?|to )(?P<verb>\w+)(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_LONGEST = 20_000
"""Longer requests are ignored: matching them would take too long."""
_CONTINUED = re.compile(
    r"(?:(?:and|now|then|next|also)\s+)?(?:(?:what|how)\s+about|(?:do\s+)?the\s+same\s+(?:for|with)|and|now|then|next|also)"
    r"(?:\s+(?:for|with))?[\s,:]+(?P<value>.+)",
    re.IGNORECASE | re.DOTALL,
)
_FILES = ("path", "csv_text")
"""Parameters that may take the name of a table's file."""
_TABLES = (".csv", ".tsv", ".txt")
_GERMAN = re.compile(
    r"[äöüß]|\b(?:der|den|das|und|ist|sind|ein|eine|einen|wie|wer|bitte|kannst|von|mit|mir|ich|"
    r"nach|aus|zu|hallo|danke)\b",
    re.IGNORECASE,
)
_CERTAIN = {*"äöüß", "eine", "einen", "und", "ist", "sind", "ich", "bitte", "kannst", "danke"}
"""No English text has these."""
_QUOTED = re.compile(r"""„[^“]*“|"[^"]*"|'[^']*'|“[^”]*”""")
_NUMBER, _DATE = r"-?\d[\d.,]*(?<![.,])", r"\d[\d.-]*\d"
_SLOTS = {
    "t": """„[^“”"]*[“”"]|"[^"]*"|'[^']*'|“[^”]*”|«[^»]*»|»[^«]*«""",
    "n": _NUMBER,
    "m": _NUMBER,
    "l": r"\[.*\]|-?\d[-\d., ]*(?:\bund -?[\d.,]+)?",
    "f": r"[\w.-]+\.\w+",
    "c": r"\w+",
    "k": r"\w+",
    "d": _DATE,
    "e": _DATE,
}
"""How a German request writes the values of german.toml."""
_MEMORY = 10
"""How many requests back a chain of continuations is followed."""


@dataclass(frozen=True)
class Match:
    """A recipe that a request asks for, with the arguments that it gives."""

    recipe: Recipe
    arguments: dict[str, Any]

    @property
    def missing(self) -> tuple[str, ...]:
        """Required parameters that the request gives no value for."""
        return tuple(
            p.name
            for p in self.recipe.signature.parameters
            if p.required and p.name not in self.arguments
        )

    @property
    def told(self) -> str:
        """The request in words that need no earlier request."""
        values = ", ".join(f"{name} {value!r}" for name, value in self.arguments.items())
        return f"{self.recipe.specification.description.rstrip('.')}: {values}"

    def with_file(self, files: Sequence[str]) -> "Match":
        """The match with the only table among the files, if the request names none."""
        tables = [name for name in files if name.lower().endswith(_TABLES)]
        missing_files = [name for name in self.missing if name in _FILES]
        if len(missing_files) != 1 or len(tables) != 1:
            return self
        return Match(self.recipe, {**self.arguments, missing_files[0]: tables[0]})


def matches(request: str, earlier: Sequence[str] = ()) -> tuple[Match, ...]:
    """The recipes that the request asks for; `earlier` are the requests before it, oldest first."""
    readings = _readings(in_english(request))
    direct_matches = [
        Match(recipe, arguments)
        for recipe in recipes()
        if (arguments := _arguments(recipe, readings)) is not None
    ]
    return tuple(direct_matches) or _continued(request, earlier[-_MEMORY:])


def completed(earlier: Sequence[str], answers: Mapping[str, str]) -> tuple[Match, ...]:
    """The matches of the request before, with the person's answers, parameter by parameter; none
    without answers.
    """
    before = matches(earlier[-1], earlier[:-1]) if earlier and answers else ()
    return tuple(m for match in before if (m := _answered(match, answers)))


def planned(match: Match, *, german: bool = False) -> tuple[PlannedStep, ...]:
    """The steps of a recipe that takes several, with the values in the request."""
    rendered = {name: repr(value) for name, value in match.arguments.items()}
    return tuple(
        step.model_copy(update={"request": step.request.format_map(rendered)})
        for step in (german and match.recipe.german_steps) or match.recipe.steps
    )


def is_german(request: str) -> bool:
    """Whether it looks like German: by its letters and small words, one that English lacks or two
    others; not by values.
    """
    hits = {hit.lower() for hit in _GERMAN.findall(_QUOTED.sub(" ", request))}
    in_words = len(hits) > 1 or bool(hits & _CERTAIN)
    return in_words or "„" in request or in_english(request) != request


def in_english(request: str) -> str:
    """A German request in the cookbook's English words; any other as it is."""
    text = re.sub(r"^bitte,? | bitte$", "", request.strip().rstrip("?!. \n"), flags=re.IGNORECASE)
    if len(request) > _LONGEST or not text:
        return request
    for wording, english in _german_wordings():
        if match := wording.fullmatch(f" {text}"):
            return english.format_map({n: _english(n, v) for n, v in match.groupdict().items()})
    return request


@cache
def _german_wordings() -> Sequence[tuple[re.Pattern[str], str]]:
    source = Path(__file__).with_name("german.toml").read_text(encoding="utf-8")
    slots = {f"<{name}>": f"(?P<{name}>{form})" for name, form in _SLOTS.items()}
    return tuple(
        (
            re.compile(
                re.sub("<[a-z]>", lambda slot: slots[slot[0]], f" ?{wording}"), re.IGNORECASE
            ),
            english,
        )
        for wording, english in tomllib.loads(source)["wordings"]
    )


def _english(name: str, value: str) -> str:
    """A value as it is written in English."""
    if name == "t":
        return f'"{value[1:-1]}"'
    if name in "nm" and re.fullmatch(r"-?(?:\d{1,3}(?:\.\d{3})+|\d+)(?:,\d+)?", value):
        return value.replace(".", "").replace(",", ".")
    return value.replace(" und ", " and ") if name == "l" else value


def _arguments(recipe: Recipe, readings: Sequence[tuple[str, Quoting]]) -> dict[str, Any] | None:
    """The arguments that the request gives this recipe's tool; None if it does not ask for it."""
    candidates = (
        pattern.match(text, quoting) for text, quoting in readings for pattern in recipe.compiled
    )
    return next((arguments for arguments in candidates if arguments is not None), None)


def _continued(request: str, earlier: Sequence[str]) -> tuple[Match, ...]:
    """The matches of the request before, with this one's value in place of another, or of a missing
    one.
    """
    if not earlier or reply_to(request):
        return ()
    text = request.strip().rstrip("?! ")
    continued = _CONTINUED.fullmatch(text)
    value = continued["value"] if continued else text
    before = matches(earlier[-1], earlier[:-1])
    return tuple(
        m for match in before if (continued or match.missing) and (m := _continuing(match, value))
    )


def _continuing(match: Match, value: str) -> Match | None:
    """The match with the value for the only parameter that it can be meant for; None if that is
    unclear.
    """
    kinds = match.recipe.kinds
    parameter_names = match.missing or tuple(match.arguments)
    fitting = {}
    for name in parameter_names:
        if name in kinds and re.fullmatch(kinds[name].written, value, re.IGNORECASE):
            try:
                fitting[name] = kinds[name].read(value, "plain")
            except Unreadable:
                continue
    return Match(match.recipe, {**match.arguments, **fitting}) if len(fitting) == 1 else None


def _answered(match: Match, values: Mapping[str, str]) -> Match | None:
    """The match with values for missing parameters; None if one of them can't be read."""
    kinds = match.recipe.kinds
    try:
        read = {
            name: kinds[name].read(value, "verbatim")
            for name, value in values.items()
            if name in match.missing and name in kinds
        }
    except Unreadable:
        return None
    return Match(match.recipe, {**match.arguments, **read})


def _readings(request: str) -> tuple[tuple[str, Quoting], ...]:
    """The request without words that carry no meaning, such as courtesy and question marks, most
    faithful reading first; with how text may appear in each.

    As it is, it may end in text that a colon or quotation marks hold together; without its final
    question mark, and then without its full stop, unquoted text may appear anywhere.
    """
    if len(request) > _LONGEST:
        return ()
    text = _without_lead(request.strip())
    plain = _without_tail(text, "?! \t\n")
    if tool_request := _TOOL_WANTED.fullmatch(plain):
        verb = (
            tool_request["verb"].removesuffix("s") if tool_request["does"] else tool_request["verb"]
        )
        plain = verb + tool_request["rest"]
    return ((text, "quoted"), (plain, "plain"), (_without_tail(plain, "?!.,; \t\n"), "plain"))


def _without_lead(text: str) -> str:
    while lead := _LEAD.match(text):
        text = text[lead.end() :]
    return text


def _without_tail(text: str, signs: str) -> str:
    while True:
        shorter = text.rstrip(signs)
        word = next((w for w in _COURTESY if shorter.lower().endswith(w)), "")
        shorter = (
            shorter.removesuffix(shorter[len(shorter) - len(word) :]).rstrip(", ")
            if word
            else shorter
        )
        if shorter == text:
            return text
        text = shorter
