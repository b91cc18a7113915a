"""The page's words: a catalogue for each language, in Fluent's format, below static/locales. The
words after LATER are loaded with the views that need them.
"""

import hashlib
import re
from pathlib import Path

from werkzeug import Request

LOCALES = Path(__file__).parent / "static" / "locales"
LANGUAGES = tuple(sorted(path.stem for path in LOCALES.glob("*.ftl")))
DEFAULT = "en"
LATER = "### Loaded with what js/views/later.js has"
IMPORTS = ("#texts", "#later-texts")
"""The names by which the page imports the two parts of a catalogue."""
_SHORTER = ((r"\n{2,}", "\n"), (r"\n +", "\n "), (r"[\\`]|\$\{", r"\\\g<0>"))
"""The replacements that make a catalogue's module smaller, and its text fit a template literal."""
COOKIE = "language"
"""Set by the page's settings; without it the browser's preference counts."""


def language_of(request: Request) -> str:
    """The language of the page for this browser."""
    cookie = request.cookies.get(COOKIE)
    if cookie in LANGUAGES:
        return str(cookie)
    preferred = (tag.partition("-")[0].lower() for tag in request.accept_languages.values())
    return next((language for language in preferred if language in LANGUAGES), DEFAULT)


def catalogue_module(language: str, name: str = "#texts") -> tuple[str, bytes]:
    """A part of the catalogue without comments as a JavaScript module, and its name, which changes
    with its content.
    """
    parts = (LOCALES / f"{language}.ftl").read_text("utf-8").split(LATER)
    lines = parts[IMPORTS.index(name)].splitlines(keepends=True)
    source = "".join(line for line in lines if not line.startswith("#"))
    for pattern, shorter in _SHORTER:
        source = re.sub(pattern, shorter, source)
    module = f"export default `{source}`;\n".encode()
    return f"{language}-{hashlib.sha256(module).hexdigest()[:12]}.js", module


def addresses_of_texts(language: str) -> dict[str, str]:
    """The addresses that the page imports, by the names of the imports."""
    return {name: f"/texts/{catalogue_module(language, name)[0]}" for name in IMPORTS}


def text(language: str, key: str) -> str:
    """A message without variables, for what the server renders itself."""
    for line in (LOCALES / f"{language}.ftl").read_text("utf-8").splitlines():
        name, equals, words = line.partition(" = ")
        if equals and name == key:
            return words
    raise KeyError(key)
