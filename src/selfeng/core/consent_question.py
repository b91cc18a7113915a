"""Consent: the question whether a call or a tool may reach what is outside the sandbox, and what
waits for the answer.
"""

import hashlib
import json
from collections.abc import Sequence

from selfeng.core.errors import NotConsented
from selfeng.core.http import NetworkAccess
from selfeng.core.pictures import Sight
from selfeng.core.prompt import FunctionCall
from selfeng.core.question import CONSENTS, Question
from selfeng.core.server_tool import ServerTool
from selfeng.core.spec import SpecificationReply
from selfeng.core.value import Coded
from selfeng.core.visible import one_line
from selfeng.core.words import shortened

_SHOWN = 2_000
"""Characters of the arguments that a person is shown."""
_DESCRIBED = 300


class ConsentAsked(Coded):
    """A call, or a tool to be built, that waits for a person's consent."""

    question: Question
    call: FunctionCall | None = None
    specified: SpecificationReply | None = None
    """What the model has specified; None for a call."""


def call_consent(tool: ServerTool, call: FunctionCall) -> ConsentAsked:
    """The question whether a tool of another server may be called so."""
    argument_sets = [call.arguments, *call.further]
    arguments_text = shortened(
        "; ".join(json.dumps(arguments, ensure_ascii=False) for arguments in argument_sets), _SHOWN
    )
    description = one_line(tool.description[:_DESCRIBED])
    says = f" The server says of it: “{description}”." if description else ""
    question = Question(
        id=consent_id(tool.digest),
        question=f"May I call {tool.tool!r} of the server {tool.server!r} ({tool.address})?",
        why=f"With {one_line(arguments_text)}.{says} It runs outside "
        f"the sandbox{', and by its own claim only reads' if tool.read_only else ''}.",
        answer="choice",
        options=CONSENTS,
    )
    values = {
        "tool": tool.tool,
        "server": tool.server,
        "address": tool.address,
        "arguments": one_line(arguments_text),
        "description": description or "none",
        "effect": "reads" if tool.read_only else "",
    }
    return ConsentAsked(call=call, question=question, code="consent", values=values)


def network_consent(
    name: str,
    accesses: Sequence[NetworkAccess],
    *,
    call: FunctionCall | None = None,
    specified: SpecificationReply | None = None,
) -> ConsentAsked:
    """The question whether a tool of this name may send requests to these hosts."""
    hosts = hosts_of(accesses)
    sent = "; ".join(
        f"{access} ({one_line(access.purpose[:_DESCRIBED])})" if access.purpose else f"{access}"
        for access in accesses
    )
    question = Question(
        id=network_id(name, accesses),
        question=f"May the tool {name!r} send requests to {hosts}?",
        why=f"It sends {sent}. Its arguments may be part of that.",
        answer="choice",
        options=CONSENTS,
    )
    values = {"tool": name, "hosts": hosts, "sent": sent}
    return ConsentAsked(
        call=call, specified=specified, question=question, code="network", values=values
    )


def picture_consent(sight: Sight, names: Sequence[str]) -> ConsentAsked:
    """The question whether these files may be shown to a model elsewhere."""
    files, hosts = ", ".join(map(repr, names)), hosts_of(sight.network)
    question = Question(
        id=network_id(sight.name, sight.network),
        question=f"May I show {files} to the model {sight.model} at {hosts}?",
        why="It gets the pictures themselves, as code can't read what they show.",
        answer="choice",
        options=CONSENTS,
    )
    values = {"files": files, "model": sight.model, "hosts": hosts}
    return ConsentAsked(question=question, code="pictures", values=values)


def hosts_of(accesses: Sequence[NetworkAccess]) -> str:
    """The hosts in words, each once."""
    return ", ".join(dict.fromkeys(access.host for access in accesses))


def consent_id(digest: str) -> str:
    """The id of the question whether exactly what has this digest is allowed."""
    return f"allow_{digest[:16]}"


def network_id(name: str, accesses: Sequence[NetworkAccess]) -> str:
    """The id of the question about exactly these accesses of a tool."""
    text = json.dumps([name, *(access.key for access in accesses)])
    return consent_id(hashlib.sha256(text.encode()).hexdigest())


def not_consented(name: str, command: str) -> NotConsented:
    """A part of a turn can't ask, as what others did before it would be done again; nor can a call
    without a conversation. `command` gives the consent.
    """
    return NotConsented(
        f"{name} needs your consent, which can't be asked for here",
        f"allow it in the page's tools, or with `{command}`, and ask again",
        name=name,
    )
