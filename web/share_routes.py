"""The routes of links to a conversation: those of its owner, and what a link shows to anybody."""

from typing import TYPE_CHECKING

import flask
from flask import Flask, Response

from web.bridge import Bridge
from web.bundle import Bundle
from web.file_routes import send_file, send_result
from web.middleware import SHARES, owner, shared_of
from web.operations import Done, operation
from web.payloads import NewShare, plain
from web.resources import NewLink, ShareList
from web.routes import page_parts
from web.vendor import Vendor

if TYPE_CHECKING:
    from selfeng.engine import Engine
    from selfeng.store.shares import SharedConversation


def add_share_operations(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the operations of the owner of a conversation."""

    @app.get("/api/v1/conversations/<conversation_id>/shares")
    @operation()
    def shares(conversation_id: str) -> ShareList:
        """List the links to a conversation."""
        links = bridge.call(engine.shares.listed(owner(), conversation_id))
        return ShareList(shares=tuple(links))

    @app.post("/api/v1/conversations/<conversation_id>/shares")
    @operation()
    def share(conversation_id: str, body: NewShare) -> NewLink:
        """Make a link to a conversation; its token and path are shown once."""
        link = bridge.call(engine.shares.create(owner(), conversation_id, body.days))
        return NewLink(**dict(link), path=f"{SHARES}{link.token}")

    @app.post("/api/v1/conversations/<conversation_id>/shares/<share_id>")
    @operation()
    def renew(conversation_id: str, share_id: str) -> Done:
        """Let a link show what the conversation has now."""
        bridge.call(engine.shares.renew(owner(), conversation_id, share_id))
        return Done()

    @app.delete("/api/v1/conversations/<conversation_id>/shares/<share_id>")
    @operation()
    def revoke(conversation_id: str, share_id: str) -> Done:
        """Revoke a link."""
        bridge.call(engine.shares.revoke(owner(), conversation_id, share_id))
        return Done()


def add_share_routes(
    app: Flask, bridge: Bridge, engine: "Engine", vendor: Vendor, bundle: Bundle | None
) -> None:
    """Add what a link shows. These routes are reached with the token of a link only, which the
    middleware has checked, and never know a visitor.
    """

    @app.get("/share/<token>")
    def shared_page(token: str) -> str:
        parts = page_parts(vendor, bundle, "static/share.js", f"{SHARES}{token}")
        return flask.render_template(
            "share.html", **parts, root=f"{SHARES}{token}", title=_shared().title
        )

    @app.get("/share/<token>/conversation")
    def shared_conversation(token: str) -> Response:
        records = bridge.call(engine.shares.records(_shared()))
        summary = {"title": _shared().title, "at": _shared().updated_at.isoformat()}
        return flask.jsonify({**summary, "records": [plain(r) for r in records]})

    @app.get("/share/<token>/files/<sha256>/<name>")
    def shared_file(token: str, sha256: str, name: str) -> Response:
        return send_file(bridge.call(engine.shares.file(_shared(), sha256, name)))

    @app.get("/share/<token>/results/<sha256>")
    def shared_result(token: str, sha256: str) -> Response:
        return send_result(bridge.call(engine.shares.result(_shared(), sha256)))


def _shared() -> "SharedConversation":
    return shared_of(flask.request.environ)
