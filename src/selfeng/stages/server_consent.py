"""Consent to a call of another server's tool: the question, and what the answer is about."""

import json

from selfeng.core.errors import AgentError
from selfeng.core.prompt import FunctionCall
from selfeng.core.question import Question
from selfeng.core.server_tool import CONSENTS, ServerTool
from selfeng.core.visible import one_line
from selfeng.core.words import Coded, shortened
from selfeng.stages.executor import Call

_SHOWN = 2_000
"""Characters of the arguments that a person is shown."""
_DESCRIBED = 300


class ConsentAsked(Coded):
    """A call that waits for a person's consent."""

    call: FunctionCall
    question: Question


def consent_to(call: Call, tool: ServerTool) -> ConsentAsked:
    """The question for a call of that tool."""
    argument_sets = [call.arguments, *call.further]
    arguments_text = shortened(
        "; ".join(json.dumps(arguments, ensure_ascii=False) for arguments in argument_sets), _SHOWN
    )
    description = one_line(tool.description[:_DESCRIBED])
    says = f" The server says of it: “{description}”." if description else ""
    question = Question(
        id=consent_id(tool),
        question=f"May I call {tool.tool!r} of the server {tool.server!r} ({tool.address})?",
        why=f"With {one_line(arguments_text)}.{says} It runs outside "
        f"the sandbox{', and by its own claim only reads' if tool.read_only else ''}.",
        answer="choice",
        options=CONSENTS,
    )
    waits = FunctionCall(name=tool.name, arguments=call.arguments, further=call.further)
    values = {
        "tool": tool.tool,
        "server": tool.server,
        "address": tool.address,
        "arguments": one_line(arguments_text),
        "description": description or "none",
        "effect": "reads" if tool.read_only else "",
    }
    return ConsentAsked(call=waits, question=question, code="consent", values=values)


def consent_id(tool: ServerTool) -> str:
    """The id of the question whether exactly this tool may be called."""
    return f"allow_{tool.digest[:16]}"


def not_consented(tool: ServerTool) -> AgentError:
    """A part of a turn can't ask, as what others did before it would be done again."""
    return AgentError(
        f"{tool.name} needs your consent, which a step of a larger task can't ask for",
        "allow it in the page's tools, or with `selfeng servers allow "
        f"{tool.server} {tool.tool}`, and ask again",
        cause="consent",
        name=tool.name,
    )
