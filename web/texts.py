"""The page's words: a catalogue for each language, in Fluent's format, below static/locales."""

import hashlib
import re
from pathlib import Path

from werkzeug import Request

LOCALES = Path(__file__).parent / "static" / "locales"
LANGUAGES = tuple(sorted(path.stem for path in LOCALES.glob("*.ftl")))
DEFAULT = "en"
_SHORTER = ((r"\n{2,}", "\n"), (r"\n +", "\n "), (r"[\\`]|\$\{", r"\\\g<0>"))
"""What makes a catalogue's module smaller, and its text fit a template literal."""
_LATER = "### Later"
"""Begins the comment before the messages that only views/later.js needs."""
COOKIE = "language"
"""Set by the page's settings; without it the browser's preference counts."""


def language_of(request: Request) -> str:
    """The language of the page for this browser."""
    cookie = request.cookies.get(COOKIE)
    if cookie in LANGUAGES:
        return str(cookie)
    preferred = (tag.partition("-")[0].lower() for tag in request.accept_languages.values())
    return next((language for language in preferred if language in LANGUAGES), DEFAULT)


def catalogue_module(language: str) -> tuple[str, bytes]:
    """The catalogue's part that the page needs at first, without comments as a JavaScript module,
    and its name, which changes with its content. `later` in it imports the other part.
    """
    name, _ = later_module(language)
    return _module(language, 0, f'export const later = () => import("./{name}");\n')


def later_module(language: str) -> tuple[str, bytes]:
    """The same of the part for what is loaded beside a conversation."""
    return _module(language, 1)


def _module(language: str, part: int, more: str = "") -> tuple[str, bytes]:
    text = (LOCALES / f"{language}.ftl").read_text("utf-8").partition(_LATER)[2 * part]
    lines = text.splitlines(keepends=True)
    source = "".join(line for line in lines if not line.startswith("#"))
    for pattern, shorter in _SHORTER:
        source = re.sub(pattern, shorter, source)
    module = f"export default `{source}`;\n{more}".encode()
    return f"{language}-{hashlib.sha256(module).hexdigest()[:12]}.js", module


def address_of_texts(language: str) -> str:
    """What the page imports as `#texts`."""
    return f"/texts/{catalogue_module(language)[0]}"


def text(language: str, key: str) -> str:
    """A message without variables, for what the server renders itself."""
    for line in (LOCALES / f"{language}.ftl").read_text("utf-8").splitlines():
        name, equals, words = line.partition(" = ")
        if equals and name == key:
            return words
    raise KeyError(key)
