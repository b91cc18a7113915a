"""Secrets in text: removes what looks like a credential from everything that comes from the
sandbox.

A tool may get a key in a request, or read one from a file. Its output is stored, shown, logged and
sent to a model.
"""

import re

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


_LONGEST = 500
"""Characters; a longer request is more data than words."""


def may_be_kept(request: str) -> bool:
    """Whether a request, which finds a tool from then on, is short and holds no credential."""
    return len(request) <= _LONGEST and without_secrets(request) == request


def without_secrets(text: str) -> str:
    """The text with a placeholder for each credential."""
    return _FORMS.sub(REMOVED, text)
