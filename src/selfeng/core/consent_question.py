"""Consent: the question whether a call may reach what is outside the sandbox, or a tool may have
what it needs, and what waits for the answer.
"""

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import cast

from selfeng.core.errors import NotConsented
from selfeng.core.http import NetworkAccess
from selfeng.core.package_lock import Package
from selfeng.core.pictures import Sight
from selfeng.core.prompt import FunctionCall
from selfeng.core.question import CONSENTS, Answer, Consent, Question
from selfeng.core.schedule import ANSWERS, SCHEDULE, SchedulePlan
from selfeng.core.server_tool import ServerTool
from selfeng.core.spec import SpecifiedTool
from selfeng.core.tool import Need
from selfeng.core.value import Coded
from selfeng.core.verdict import CallLimits
from selfeng.core.visible import one_line
from selfeng.core.words import shortened

_SHOWN = 2_000
"""Characters of the arguments that a person is shown."""
_DESCRIBED = 300
_CONSENT = "allow_"
_VULNERABLE = {
    "": "They have no known vulnerabilities.",
    "unknown": "Whether they have known vulnerabilities is not known.",
}


class ConsentAsked(Coded):
    """A call, or a tool to be built, that waits for a person's consent."""

    question: Question
    call: FunctionCall | None = None
    specified: SpecifiedTool | None = None
    """The tool that the model has specified; None for a call."""
    agent: str = ""
    """The agent that the person asked, and that begins again with the answer."""
    schedule: SchedulePlan | None = None
    """The schedule that is added once the person agrees."""


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


def schedule_consent(plan: SchedulePlan) -> ConsentAsked:
    """The question whether a call is made at set times from now on."""
    arguments = ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in plan.arguments.items()
    )
    call = one_line(shortened(f"{plan.tool}({arguments})", _SHOWN))
    question = Question(
        id=SCHEDULE,
        question=f"Shall I run {call}, version {plan.version}, {plan.when}?",
        why="No model is asked then, and the results come to a conversation of their own.",
        answer="choice",
        options=ANSWERS,
        default=SCHEDULE,
    )
    values = {**plan.when_values, "call": call, "version": plan.version}
    return ConsentAsked(question=question, schedule=plan, code="schedule", values=values)


def needs_consent(
    name: str,
    needs: Sequence[Need],
    *,
    call: FunctionCall | None = None,
    specified: SpecifiedTool | None = None,
) -> ConsentAsked:
    """The question whether a tool of this name may have all that it needs."""
    accesses = [need for need in needs if isinstance(need, NetworkAccess)]
    packages = [need for need in needs if isinstance(need, Package)]
    limits = next((need for need in needs if isinstance(need, CallLimits)), CallLimits())
    hosts, names, more = titles(accesses), titles(packages), str(limits)
    alone = "hosts" if not (names or more) else "limits" if not (hosts or names) else ""
    sent = "; ".join(f"{access}{_purpose(access)}" for access in accesses)
    size = _megabytes(packages)
    at_risk = [package for package in packages if package.vulnerabilities]
    silent = any(package.vulnerabilities is None for package in packages)
    values = {
        "tool": name,
        "hosts": hosts,
        "sent": "; ".join(
            f"{access.after and f'{access.after} → '}{access.requests}{_purpose(access)}"
            for access in accesses
        ),
        "secrets": ", ".join(
            f"{use.name} ({use.key or use.place})" for access in accesses for use in access.secrets
        ),
        "near": titles([access for access in accesses if access.private]),
        "names": names,
        "packages": "; ".join(map(str, packages)),
        "unlicensed": ", ".join(package.name for package in packages if not package.licence),
        "vulnerable": "; ".join(f"{p.name} {', '.join(p.vulnerabilities or ())}" for p in at_risk)
        or ("unknown" if silent else ""),
        "needs": alone or titles([*accesses, *packages]),
    }
    requests = (
        hosts and f"send requests to {hosts}",
        names and f"use the {'packages' if len(packages) > 1 else 'package'} {names}",
        more and f"take {more} in a call",
    )
    reasons = (
        sent and "It sends {sent}. Its arguments may be part of that.",
        names and "Its code needs {packages}, which are installed for it in the sandbox.",
        size and f"Their size: {size} MB.",
        values["unlicensed"] and "Their licence is not known: {unlicensed}.",
        names and _VULNERABLE.get(values["vulnerable"], "Known vulnerabilities: {vulnerable}."),
    )
    question = Question(
        id=needs_id(name, needs),
        question=f"May the tool {name!r} {', and '.join(filter(None, requests))}?",
        why=" ".join(reason for reason in reasons if reason).format_map({**values, "sent": sent}),
        answer="choice",
        options=CONSENTS,
    )
    return ConsentAsked(
        call=call,
        specified=specified,
        question=question,
        code="network",
        values={field: value or "none" for field, value in values.items()}
        | {"size": size or "none"}
        | {field: amount or 0 for field, amount in limits},
    )


def _purpose(access: NetworkAccess) -> str:
    """In brackets, if the specification says it."""
    purpose = one_line(access.purpose[:_DESCRIBED]).rstrip(".")
    return f" ({purpose})" if purpose else ""


def _megabytes(packages: Sequence[Package]) -> float:
    """The size of all of them; 0 if the size of one is not known."""
    sizes = [package.size for package in packages]
    return max(0.1, round(sum(sizes) / 1e6, 1)) if all(sizes) and sizes else 0.0


def titles(needs: Sequence[Need]) -> str:
    """The names of what is needed, each once."""
    return ", ".join(dict.fromkeys(need.name for need in needs))


def picture_consent(sight: Sight, names: Sequence[str]) -> ConsentAsked:
    """The question whether these files may be shown to a model elsewhere."""
    files, hosts = ", ".join(map(repr, names)), titles(sight.needs)
    question = Question(
        id=needs_id(sight.name, sight.needs),
        question=f"May I show {files} to the model {sight.model} at {hosts}?",
        why="It gets the pictures themselves, as code can't read what they show.",
        answer="choice",
        options=CONSENTS,
    )
    values = {"files": files, "model": sight.model, "hosts": hosts}
    return ConsentAsked(question=question, code="pictures", values=values)


def consent_id(digest: str) -> str:
    """The id of the question whether exactly what has this digest is allowed."""
    return f"{_CONSENT}{digest[:16]}"


def consents_of(answers: Iterable[Answer]) -> dict[str, Consent]:
    """The person's answers to questions for consent, by the ids of the questions."""
    return {
        answer.id: cast(Consent, answer.value)
        for answer in answers
        if answer.id.startswith(_CONSENT) and answer.value in CONSENTS
    }


def need_key(name: str, need: Need) -> str:
    """Under which a turn knows the consent to what a tool of this name needs."""
    return f"{name} {need.key}"


def needs_id(name: str, needs: Sequence[Need]) -> str:
    """The id of the question about exactly these needs of a tool."""
    text = json.dumps([name, *(need.key for need in needs)])
    return consent_id(hashlib.sha256(text.encode()).hexdigest())


def not_consented(name: str, command: str, needs: Sequence[Need] = ()) -> NotConsented:
    """A part of a turn can't ask where what others did before it would be done again; nor can a
    call without a conversation. `command` gives the consent; none does for a tool to be built.
    """
    error = NotConsented(
        f"{name} needs your consent, which can't be asked for here",
        f"allow it in the page's tools, or with `{command}`, and ask again"
        if command
        else "ask for this tool alone first, and answer the question about it",
        name=name,
        needs=titles(needs),
        command=command,
    )
    error.needs = tuple(needs)
    return error


def not_granted(tool: str, needs: Sequence[Need]) -> NotConsented:
    """A call of a tool of the library lacks these, and can't ask."""
    names = " ".join(dict.fromkeys(need.name for need in needs))
    return not_consented(tool, f"selfeng grants allow {tool} {names}", needs)
