"""The operations of conversations: the list, one with its turns, records, files and results, its
changes and its export.
"""

import re
from typing import TYPE_CHECKING, Literal

from flask import Flask, Response

from selfeng.core.files import BINARY
from selfeng.core.pictures import PICTURES
from selfeng.store.conversation_list import LONGEST_TITLE, ConversationChange, ConversationSummary
from web.bridge import Bridge
from web.exports import as_json, as_markdown
from web.file_routes import send, send_file, send_result
from web.middleware import owner
from web.operations import JSON, Done, operation
from web.payloads import ConversationSearch, FileAs, Fork, RecordsAfter, ResultAs
from web.resources import (
    ConversationList,
    ConversationPage,
    RecordList,
    UploadedFile,
    turn_reports,
)
from web.uploads import Uploads

if TYPE_CHECKING:
    from selfeng.engine import Engine


def add_conversation_routes(app: Flask, bridge: Bridge, engine: "Engine", uploads: Uploads) -> None:
    """Add the routes. Access is checked before any of them, and the origin before those that change
    something.
    """

    @app.get("/api/v1/conversations")
    @operation()
    def conversations(query: ConversationSearch) -> ConversationList:
        """List your conversations, that with the newest turn first.

        At most `limit`; with `q` at most 50 that have all words in their title, requests or
        answers.
        """
        text = query.q[:LONGEST_TITLE]
        summaries = bridge.call(engine.conversations.list(owner(), text, limit=query.limit))
        return ConversationList(conversations=summaries)

    @app.get("/api/v1/conversations/<conversation_id>")
    @operation()
    def conversation(conversation_id: str) -> ConversationPage:
        """Show a conversation with its requests and answers."""
        summary = bridge.call(engine.conversations.get(owner(), conversation_id))
        records = bridge.call(engine.conversations.history(owner(), conversation_id))
        return ConversationPage(**dict(summary), turns=turn_reports(records))

    @app.patch("/api/v1/conversations/<conversation_id>")
    @operation()
    def change_conversation(conversation_id: str, body: ConversationChange) -> Done:
        """Rename, pin, delete or restore a conversation, or have it seen.

        Deletion stops its turns. It is removed for good after a day; until then
        `"deleted": false` restores it.
        """
        bridge.call(engine.conversations.change(owner(), conversation_id, body))
        return Done()

    @app.delete("/api/v1/conversations/<conversation_id>")
    @operation()
    def delete_conversation(conversation_id: str) -> Done:
        """Delete a conversation, as `"deleted": true` does."""
        change = ConversationChange(deleted=True)
        bridge.call(engine.conversations.change(owner(), conversation_id, change))
        return Done()

    @app.post("/api/v1/conversations/<conversation_id>/fork")
    @operation(status=201)
    def fork(conversation_id: str, body: Fork) -> ConversationSummary:
        """Begin a conversation with copies of the turns up to one."""
        forked_id = bridge.call(engine.conversations.fork(owner(), conversation_id, body.turn_id))
        return bridge.call(engine.conversations.get(owner(), forked_id))

    @app.get("/api/v1/conversations/<conversation_id>/records")
    @operation()
    def records(conversation_id: str, query: RecordsAfter) -> RecordList:
        """List the records of a conversation: after a number, before another, of the newest turns.

        A turn is listed whole: with `turns` there may be more, where turns overlap.
        """
        history = bridge.call(
            engine.conversations.history(
                owner(), conversation_id, query.after, before=query.before, turns=query.turns
            )
        )
        return RecordList(records=history)

    @app.get("/api/v1/conversations/<conversation_id>/export.<form>")
    @operation(media=[BINARY])
    def export(conversation_id: str, form: Literal["md", "json"]) -> Response:
        """Download requests and answers as Markdown (`md`), or every record as JSON (`json`)."""
        summary = bridge.call(engine.conversations.get(owner(), conversation_id))
        records = bridge.call(engine.conversations.history(owner(), conversation_id))
        text = as_markdown(summary.title, records) if form == "md" else as_json(summary, records)
        return send(f"{_file_name(summary.title)}.{form}", text.encode(), BINARY)

    @app.get("/api/v1/conversations/<conversation_id>/files/<sha256>/<name>")
    @operation(media=[BINARY, *sorted(PICTURES)])
    def file(conversation_id: str, sha256: str, name: str, query: FileAs) -> Response:
        """Get a file of a conversation; pictures have their own type."""
        return send_file(
            bridge.call(engine.conversations.file(owner(), conversation_id, sha256, name))
        )

    @app.post("/api/v1/conversations/<conversation_id>/files/<sha256>/<name>")
    @operation()
    def file_again(conversation_id: str, sha256: str, name: str) -> UploadedFile:
        """Give the next request a file of a conversation, without sending it again."""
        file = bridge.call(engine.conversations.file(owner(), conversation_id, sha256, name))
        return UploadedFile(**dict(file.reference()), id=uploads.put(owner(), file))

    @app.get("/api/v1/conversations/<conversation_id>/results/<sha256>")
    @operation(media=[JSON, BINARY])
    def result(conversation_id: str, sha256: str, query: ResultAs) -> Response:
        """Get a value that a tool returned, by the hash in `execution_finished`.

        As JSON, or as a download in a format; cells of a CSV file that a spreadsheet would run
        begin with an apostrophe.
        """
        return send_result(
            bridge.call(engine.conversations.result(owner(), conversation_id, sha256))
        )


def _file_name(title: str) -> str:
    """A title as the name of a file, without what a system may refuse in one."""
    return re.sub(r"[^\w -]+", " ", title).strip()[:80].strip() or "conversation"
