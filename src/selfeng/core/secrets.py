"""Secrets in text: removes what looks like a credential from everything that comes from the
sandbox, and the values of secrets from what servers answer.

A tool may get a key in a request, or read one from a file. Its output is stored, shown, logged and
sent to a model.
"""

import html
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping
from urllib.parse import quote, quote_plus

REMOVED = "[secret removed]"

_FORMS = re.compile(
    r"""
    -----BEGIN[ ][A-Z ]*PRIVATE[ ]KEY-----(?:[\s\S]*?-----END[ ][A-Z ]*PRIVATE[ ]KEY-----)?
    | (?<![A-Za-z0-9])(?:
        (?:sk|pk|rk)[-_](?=[A-Za-z_-]*[0-9])[A-Za-z0-9_-]{16,}     # OpenAI, Anthropic, Stripe and who took after them
        | (?:AKIA|ASIA)[0-9A-Z]{16}                                  # AWS
        | gh[pousr]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,}
        | glpat-[A-Za-z0-9_-]{20,}
        | xox[abeoprs]-[A-Za-z0-9-]{10,}                             # Slack
        | AIza[A-Za-z0-9_-]{35}                                      # Google
        | hf_[A-Za-z0-9]{30,} | npm_[A-Za-z0-9]{30,} | pypi-[A-Za-z0-9_-]{40,}
        | eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}   # signed web tokens
    )
    | (?<=://)[^\s/@:"']+:[^\s/@"']+(?=@)                            # passwords in addresses
    """,  # noqa: E501
    re.VERBOSE,
)


SHORTEST = 6
"""Characters of a value that is masked; shorter ones occur in other text."""
_LONGEST = 500
"""Characters; a longer request is more data than words."""


def may_be_kept(request: str) -> bool:
    """Whether a request, which finds a tool from then on, is short and holds no credential."""
    return len(request) <= _LONGEST and without_secrets(request) == request


def without_secrets(text: str) -> str:
    """The text with a placeholder for each credential."""
    return _FORMS.sub(REMOVED, text)


class Masker:
    """Puts `${NAME}` in place of each value, as it is or as programs write it: percent-encoded, in
    JSON or HTML, hexadecimal, and in base64, also as a part of more.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        """`values`: by their names."""
        names = {
            form: f"${{{name}}}"
            for name, value in values.items()
            if len(value) >= SHORTEST
            for form in _forms(value)
        }
        self._names = sorted(names.items(), key=lambda pair: -len(pair[0]))

    def text(self, text: str) -> str:
        for form, name in self._names:
            text = text.replace(form, name)
        return text

    def bytes(self, content: bytes) -> bytes:
        for form, name in self._names:
            content = content.replace(form.encode(errors="replace"), name.encode())
        return content


def _forms(value: str) -> Iterator[str]:
    content = value.encode(errors="replace")
    encoded = {quote(value), quote(value, ""), quote_plus(value), *_base64_forms(content)}
    encoded |= {quote(form, "") for form in encoded if "%" not in form}
    encoded.add("".join(f"%{byte:02X}" for byte in content))
    yield from encoded
    yield from (re.sub("%..", lambda match: match[0].lower(), form) for form in encoded)
    in_json = json.dumps(value)[1:-1]
    yield from (value, in_json, in_json.replace("/", "\\/"), html.escape(value))
    yield from (content.hex(), content.hex().upper())


def _base64_forms(content: bytes) -> Iterator[str]:
    """The digits that are the same whatever stands before and after the content."""
    for before in range(3):
        digits = b64encode(bytes(before) + content).decode()
        inner = digits[-(-8 * before // 6) : 8 * (before + len(content)) // 6]
        yield from (inner, inner.replace("+", "-").replace("/", "_"))
