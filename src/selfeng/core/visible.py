r"""Visible text: characters that would act on a screen, reorder it or hide are escaped, as in
`\x1b` or `\u202e`.

The texts of tools and models pass through here on their way to a terminal, a log or a prompt; the
page does the same in `visible.js`.
"""

import re
from collections.abc import Callable

_ACTING = re.compile(
    "\r\n"
    "|[\0-\x08\x0b-\x1f\x7f-\x9f]"  # controls, including the start of escape sequences
    "|[\u061c\u202a-\u202e\u2066-\u2069]"  # directions
    # invisible characters, including tags
    "|[\u180e\u200b\u2028\u2029\u2060-\u2065\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
    # joiners, which emoji and some scripts need
    "|(?:^|(?<=[\0-\x7f]))[\u200c\u200d]|[\u200c\u200d](?=[\0-\x7f])"
    "|[\ud800-\udfff]"
)
_MARKUP = re.compile(r"</[a-zA-Z]|<!--|<[a-zA-Z][\w-]*(?:\s[^<>]*)?/?>|\]\(\s*\w+:|```")


def visible(text: str, before: str = "") -> str:
    """The text without invisible characters; tabs and line ends stay. `before` is the text in front
    of it, if it is a piece.
    """
    if text.isascii() and text.isprintable():
        return text
    if before and not before[-1].isascii():
        return _ACTING.sub(_escape_match, f"é{text}")[1:]  # keeps a joiner at the start
    return _ACTING.sub(_escape_match, text)


def one_line(text: str) -> str:
    """The same on a single line."""
    return visible(text).replace("\t", "\\t").replace("\n", "\\n")


def hidden(text: str, show: Callable[[str], str] = visible) -> str:
    """The first character, written out, that `show` would not leave as it is; "" if none."""
    return next((ascii(a) for a, b in zip(text, show(text), strict=False) if a != b), "")


def plain_line_problem(text: str) -> str:
    """Why the text is not one line without markup, such as a description; "" if it is."""
    if character := hidden(text, one_line):
        return f"has characters that act or hide, such as {character}"
    markup = _MARKUP.search(text)
    return f"has markup, such as {markup[0][:30]!r}" if markup else ""


def _escape_match(match: re.Match[str]) -> str:
    return "\n" if match[0] == "\r\n" else "".join(map(_escape, match[0]))


def _escape(character: str) -> str:
    code = ord(character)
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )
