"""The operations of tools that leave and arrive: exports, and the check and import of a bundle.

A check and an import answer with a stream of events, as the gate takes seconds for each tool: one
`offer`, in a check, then a `finding` for each tool, and an `error` if the sandbox breaks.
"""

import json
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING, Any

import flask
from flask import Flask, Response
from werkzeug.exceptions import LengthRequired

from selfeng.core.errors import AgentError, RequestError
from selfeng.core.files import BINARY, File
from selfeng.library.exchange.tool_bundle import LARGEST
from selfeng.library.exchange.tool_export import Examples
from selfeng.library.exchange.tool_import import ImportFinding, ImportOffer
from selfeng.store.subscriptions import Subscription
from web.bridge import Bridge
from web.event_streams import EVENT_STREAM, KEEP_ALIVE, sent, streamed
from web.file_routes import send
from web.middleware import owner
from web.operations import Done, operation
from web.payloads import (
    BundleCheck,
    BundleImport,
    ExportAs,
    NewSubscription,
    UpdateCheck,
    plain,
    problem,
)
from web.resources import SubscriptionList

if TYPE_CHECKING:
    from selfeng.engine import Engine

BUNDLES, CHECK = "/api/v1/bundles", "/api/v1/bundles/check"
BODIES = {BUNDLES: LARGEST, CHECK: LARGEST}
"""The bodies that these paths accept, in bytes."""


def add_exchange_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add the routes. Access is checked before any of them, and the origin before those that change
    something.
    """
    add_subscription_routes(app, bridge, engine)

    def examples() -> Examples:
        return partial(engine.conversations.examples, owner())

    @app.get("/api/v1/tools/<name>/export")
    @operation(media=[BINARY])
    def export_tool(name: str, query: ExportAs) -> Response:
        """Download a tool, with those that it imports, as a script, a skill or a
        bundle.
        """
        return _download(bridge.call(engine.tool_export.file([name], query.form, examples())))

    @app.get("/api/v1/bundles")
    @operation(media=[BINARY])
    def export_library() -> Response:
        """Download a bundle of all tools that are not retired."""
        return _download(bridge.call(engine.tool_export.file([], "bundle", examples())))

    @app.post("/api/v1/bundles/check")
    @operation(takes=BINARY, media=[EVENT_STREAM])
    def check_bundle(query: BundleCheck) -> Response:
        """Check a bundle: who signed it, what its tools say, and what the gate finds. Nothing is
        added.
        """
        offer = _offer(bridge, engine, query.installs)
        identity: dict[str, Any] = {"digest": offer.digest, "signer": plain(offer.signer)}
        identity["reproduced_by"] = [plain(signer) for signer in offer.reproduced_by]
        first = _event("offer", {**identity, "tools": [plain(words) for words in offer.tools]})
        return sent(_events(first, streamed(bridge, engine.tool_import.judge(offer))))

    @app.post("/api/v1/bundles")
    @operation(takes=BINARY, media=[EVENT_STREAM])
    def import_bundle(query: BundleImport) -> Response:
        """Add tools of a bundle whose words you accept; `digest` is that of the check."""
        offer = _offer(bridge, engine, query.installs)
        if offer.digest != query.digest:
            raise RequestError(
                "the file is not the one that was checked",
                "check it, and read its words again",
                cause="conflict",
            )
        names = query.only.split(",") if query.only else [draft.name for draft in offer.drafts]
        findings = streamed(bridge, engine.tool_import.add(offer, query.file, names))
        first = next(findings, None)  # what refuses the request comes instead of it
        return sent(_events(_finding_event(first), findings))


def add_subscription_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add those of indexes of other libraries. Everybody sees only their own."""

    @app.get("/api/v1/subscriptions")
    @operation()
    def subscriptions() -> SubscriptionList:
        """List the indexes that you follow, with the problem of the last check."""
        return SubscriptionList(subscriptions=bridge.call(engine.updates.list(owner())))

    @app.post("/api/v1/subscriptions")
    @operation(status=201)
    def follow(body: NewSubscription) -> Subscription:
        """Follow an index, and take only what its present key signs."""
        return bridge.call(engine.updates.follow(owner(), body.place, body.name))

    @app.post("/api/v1/subscriptions/check")
    @operation(media=[EVENT_STREAM])
    def check_subscriptions(query: UpdateCheck) -> Response:
        """Look for new versions. Those that pass the gate wait as proposals."""
        findings = streamed(
            bridge, engine.updates.check(owner(), query.name, installs=query.installs)
        )
        return sent(_events(KEEP_ALIVE, findings))

    @app.delete("/api/v1/subscriptions/<name>")
    @operation()
    def leave(name: str) -> Done:
        """Follow an index no longer. The tools that it brought stay."""
        bridge.call(engine.updates.leave(owner(), name))
        return Done()


def _offer(bridge: Bridge, engine: "Engine", installs: bool) -> ImportOffer:
    """The offer of tools in the request's body. Raises: RequestError."""
    if flask.request.content_length is None:
        raise LengthRequired("the length of the bundle must be sent first, as Content-Length")
    content = flask.request.get_data(cache=False)
    return bridge.call(engine.tool_import.read(content, installs=installs))


def _download(file: File) -> Response:
    return send(file.name, file.content, BINARY)


def _events(first: bytes, findings: Generator[ImportFinding | None]) -> Iterator[bytes]:
    yield first
    with closing(findings):
        try:
            yield from map(_finding_event, findings)
        except AgentError as error:
            yield _event("error", problem(error))


def _finding_event(finding: ImportFinding | None) -> bytes:
    return KEEP_ALIVE if finding is None else _event("finding", plain(finding))


def _event(kind: str, data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode()
