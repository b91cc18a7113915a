"""A conversation as a file: JSON with every record, or Markdown with the requests and answers
of its newest branch.
"""

import json
from collections.abc import Iterator, Sequence

from selfeng.core.events import (
    WRONG_ANSWER,
    Record,
    TurnFailed,
    TurnFinished,
    TurnStarted,
    TurnStopped,
    branch,
    corrected_turns,
)
from selfeng.core.files import FileReference
from selfeng.core.visible import one_line
from selfeng.store.conversation_list import ConversationSummary
from web.payloads import plain


def as_json(conversation: ConversationSummary, records: Sequence[Record]) -> str:
    """An object with `conversation` and its `records`, as the page gets them."""
    document = {"conversation": plain(conversation), "records": [plain(r) for r in records]}
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def as_markdown(title: str, records: Sequence[Record]) -> str:
    """The title, and each request with what its turn ended with."""
    return "\n\n".join((f"# {one_line(title)}", *_parts(records))) + "\n"


def _parts(records: Sequence[Record]) -> Iterator[str]:
    """The turns of the newest branch, in their order; they may overlap."""
    turns = branch(records)
    ends = {r.turn_id: end for r in records if (end := _end(r))}
    corrected = corrected_turns(record.event for record in records)
    for record in records:
        match record.event:
            case TurnStarted(request=request, files=files) if record.turn_id in turns:
                yield f"## {record.at:%Y-%m-%d %H:%M} UTC"
                yield _quoted(request) + _names(files)
                if record.turn_id in corrected:
                    yield f"*{WRONG_ANSWER}*"
                yield ends.get(record.turn_id, "*Still running.*")
            case _:
                continue


def _end(record: Record) -> str:
    match record.event:
        case TurnFinished(answer=answer):
            return answer
        case TurnFailed(message=message):
            return f"**Failed:** {one_line(message)}"
        case TurnStopped(reason=reason):
            return f"*Stopped:* {one_line(reason)}"
        case _:
            return ""


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


def _names(files: Sequence[FileReference]) -> str:
    return "\n>\n> Files: " + ", ".join(f"`{f.name}`" for f in files) if files else ""
