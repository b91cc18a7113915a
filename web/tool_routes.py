"""The operations of tools: the list and the search, one with its versions, standing and learned
requests, its call, what a person edits and teaches, and proposals. Changes apply to all visitors;
requests and proposals are shown to their owner only.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import flask
from flask import Flask

from selfeng.core.events import Event
from selfeng.core.provenance import Behaviour
from selfeng.core.result import RecomputedAnswers
from selfeng.core.verdict import Verdict
from selfeng.stages.library_health import LibraryHealth
from web.bridge import Bridge
from web.connections import CONNECTION
from web.middleware import owner
from web.operations import operation
from web.payloads import (
    CallRequest,
    EditedTool,
    Forget,
    HealthQuery,
    MergedTool,
    NeedNamed,
    ProgramRequest,
    ProposalAccept,
    Rollback,
    TaughtRows,
    ToolSearch,
    VersionNumber,
    VersionPair,
)
from web.resources import (
    CallReport,
    FoundTool,
    GrantList,
    ProgramReport,
    ProposalLine,
    ProposalList,
    ProposalPage,
    SavedTool,
    ToolLine,
    ToolList,
    ToolPage,
    VersionDifference,
    VersionList,
    VersionPage,
    call_report,
    found_tool,
    listed_tool,
    program_report,
    proposal_line,
    proposal_page,
    saved_tool,
    tool_line,
    tool_page,
    version_line,
    version_page,
)
from web.uploads import Uploads

if TYPE_CHECKING:
    from selfeng.engine import Engine

_MOST_FOUND = 20
_CALL_SECONDS = 600.0
"""That a call may take; the sandbox ends it long before."""


def add_tool_routes(app: Flask, bridge: Bridge, engine: "Engine", uploads: Uploads) -> None:
    """Add the routes. Access is checked before any of them, and the origin before those that change
    something.
    """

    @app.get("/api/v1/tools")
    @operation()
    def tools(query: ToolSearch) -> ToolList:
        """List the tools by name, or search for them.

        With `q` at most 20 that the search finds, the best first, each with its confidence and the
        nearest of the requests that you may see.
        """
        if text := query.q.strip():
            return ToolList(tools=bridge.call(_matching_tools(engine, owner(), text)))
        last = bridge.call(engine.conversations.last_uses(owner()))
        library_tools = bridge.call(engine.library.tools())
        return ToolList(
            tools=tuple(listed_tool(tool, last.get(tool.name)) for tool in library_tools)
        )

    @app.get("/api/v1/tools/<name>")
    @operation()
    def tool(name: str) -> ToolPage:
        """Show one tool, with its sources and the schema of its arguments."""
        return bridge.call(_page(engine, owner(), name))

    @app.post("/api/v1/tools/<name>/call")
    @operation()
    def call_tool(name: str, body: CallRequest) -> CallReport:
        """Call a tool in the sandbox, without the model.

        A tool that raises, or that the sandbox ends, is an `outcome`, not an error.
        """
        files = uploads.take(owner(), body.files)
        events: list[Event] = []
        work = engine.call(owner(), name, body.arguments, files, watch=events.append)
        flask.request.environ[CONNECTION].await_work(_CALL_SECONDS)
        return call_report(bridge.call(work, _CALL_SECONDS), events)

    @app.post("/api/v1/programs")
    @operation()
    def run_program(body: ProgramRequest) -> ProgramReport:
        """Run a program that imports tools, in one call of the sandbox, without the model.

        A program that raises, or that the sandbox ends, is an `outcome`, not an error.
        """
        program = bridge.call(engine.program(body.code))
        files = uploads.take(owner(), body.files)
        events: list[Event] = []
        work = engine.call(owner(), program, body.arguments, files, watch=events.append)
        flask.request.environ[CONNECTION].await_work(_CALL_SECONDS)
        return program_report(program, bridge.call(work, _CALL_SECONDS), events)

    @app.get("/api/v1/tools/<name>/versions")
    @operation()
    def versions(name: str) -> VersionList:
        """List the versions of a tool, newest first: when and why each was made."""
        history = bridge.call(engine.library.versions(name))
        return VersionList(versions=tuple(map(version_line, history)))

    @app.get("/api/v1/tools/<name>/versions/<number>")
    @operation()
    def version(name: str, number: VersionNumber) -> VersionPage:
        """Show one version of a tool."""
        tool_version = bridge.call(engine.library.version(name, number))
        return version_page(
            tool_version, bridge.call(engine.conversations.examples(owner(), tool_version))
        )

    @app.get("/api/v1/tools/<name>/diff")
    @operation()
    def diff(name: str, query: VersionPair) -> VersionDifference:
        """Show how two versions of a tool differ."""
        difference = bridge.call(engine.review.difference(name, query.from_, query.to))
        return VersionDifference(**{"from": query.from_}, to=query.to, diff=difference)

    @app.get("/api/v1/tools/<name>/recomputed")
    @operation()
    def recomputed(name: str) -> RecomputedAnswers:
        """Call a tool as for your earlier answers, and show those that change."""
        flask.request.environ[CONNECTION].await_work(_CALL_SECONDS)
        return bridge.call(engine.earlier_answers.recompute(owner(), name), _CALL_SECONDS)

    @app.post("/api/v1/tools/<name>/rollback")
    @operation()
    def rollback(name: str, body: Rollback) -> ToolLine:
        """Make a new version of a tool from an old one."""
        return tool_line(bridge.call(engine.library.rollback(name, body.to)))

    @app.post("/api/v1/tools/<name>/retire")
    @operation()
    def retire(name: str) -> ToolLine:
        """Stop offering a tool to searches."""
        return tool_line(bridge.call(engine.library.retire(name)))

    @app.post("/api/v1/tools/<name>/restore")
    @operation()
    def restore(name: str) -> ToolLine:
        """Offer a retired tool again."""
        return tool_line(bridge.call(engine.library.restore(name)))

    @app.post("/api/v1/tools/<name>/forget")
    @operation()
    def forget(name: str, body: Forget) -> ToolPage:
        """Remove a learned request of yours from a tool."""
        remaining_requests = bridge.call(engine.review.forget_request(owner(), name, body.request))
        return bridge.call(_page(engine, owner(), name, remaining_requests))


def add_editing_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add those with which a person edits and teaches tools, and decides on proposals."""

    @app.post("/api/v1/tools/<name>/verdict")
    @operation()
    def verdict(name: str, body: EditedTool) -> Verdict:
        """Run the tests on a tool as you edit it.

        A newer call for the same tool takes the place of one that runs, which is refused.
        """
        flask.request.environ[CONNECTION].await_work(_CALL_SECONDS)
        work = engine.review.verdict(owner(), name, body, proposed=body.proposed)
        return bridge.call(work, _CALL_SECONDS)

    @app.post("/api/v1/tools/<name>/edit")
    @operation()
    def edit(name: str, body: EditedTool) -> SavedTool:
        """Put an edited tool, with rows as further tests, through the gate.

        It becomes the next version; with `LIBRARY_CHANGES=ask` a proposal.
        """
        flask.request.environ[CONNECTION].await_work(_CALL_SECONDS)
        work = engine.review.save(owner(), name, body, proposed=body.proposed)
        return saved_tool(name, bridge.call(work, _CALL_SECONDS))

    @app.post("/api/v1/tools/<name>/teach")
    @operation()
    def teach(name: str, body: TaughtRows) -> SavedTool:
        """Teach a tool what it must return; each row is a test.

        If it does not, a turn begins that makes a version which does.
        """
        flask.request.environ[CONNECTION].await_work(_CALL_SECONDS)
        return saved_tool(name, bridge.call(engine.teach(owner(), name, body.rows), _CALL_SECONDS))

    @app.post("/api/v1/tools/<name>/freeze")
    @operation()
    def freeze(name: str) -> ToolLine:
        """Let no automatic repair change a tool."""
        return tool_line(bridge.call(engine.library.freeze(name)))

    @app.post("/api/v1/tools/<name>/unfreeze")
    @operation()
    def unfreeze(name: str) -> ToolLine:
        """Allow automatic repairs of a tool again."""
        return tool_line(bridge.call(engine.library.freeze(name, False)))

    @app.get("/api/v1/proposals")
    @operation()
    def proposals() -> ProposalList:
        """List the new tools and versions that wait for you."""
        waiting = bridge.call(engine.review.proposals(owner()))
        return ProposalList(proposals=tuple(map(proposal_line, waiting)))

    @app.get("/api/v1/proposals/<name>")
    @operation()
    def proposal(name: str) -> ProposalPage:
        """Show one proposal, with the sources that it changes."""
        return bridge.call(_proposal_page(engine, owner(), name))

    @app.get("/api/v1/proposals/<name>/behaviour")
    @operation()
    def behaviour(name: str) -> Behaviour:
        """Compare what a proposal returns with the version that it follows.

        On your own earlier calls, on those of the tests, and on mutations of them.
        """
        flask.request.environ[CONNECTION].await_work(_CALL_SECONDS)
        return bridge.call(engine.review.behaviour(owner(), name), _CALL_SECONDS)

    @app.post("/api/v1/proposals/<name>/accept")
    @operation()
    def accept(name: str, query: ProposalAccept) -> ToolLine:
        """Put a proposal into the library."""
        accepted = engine.review.accept(owner(), name, anyway=query.anyway)
        return tool_line(bridge.call(accepted))

    @app.post("/api/v1/proposals/<name>/refuse")
    @operation()
    def refuse(name: str) -> ProposalLine:
        """Let a proposal wait no longer."""
        return proposal_line(bridge.call(engine.review.refuse(owner(), name)))

    @app.post("/api/v1/proposals/<name>/reopen")
    @operation()
    def reopen(name: str) -> ProposalLine:
        """Let a refused proposal wait again."""
        return proposal_line(bridge.call(engine.review.refuse(owner(), name, False)))


def add_health_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add those about the whole library."""

    @app.get("/api/v1/health/library")
    @operation()
    def library_health(query: HealthQuery) -> LibraryHealth:
        """List the tools that do the same as another, have weak tests, or are slow or unused.

        They are compared on your own earlier calls and on those of their tests, in the sandbox.
        """
        flask.request.environ[CONNECTION].await_work(_CALL_SECONDS)
        return bridge.call(engine.health.report(owner(), query.days), _CALL_SECONDS)

    @app.post("/api/v1/tools/<name>/merge")
    @operation()
    def merge(name: str, body: MergedTool) -> SavedTool:
        """Merge a tool into another, which searches find in its place.

        That one must pass the tests of both, and return what is recorded of both. With
        `LIBRARY_CHANGES=ask` it is a proposal.
        """
        flask.request.environ[CONNECTION].await_work(_CALL_SECONDS)
        work = engine.review.merge(owner(), body.into, name)
        return saved_tool(body.into, bridge.call(work, _CALL_SECONDS))

    @app.post("/api/v1/tools/<name>/unmerge")
    @operation()
    def unmerge(name: str) -> ToolLine:
        """Offer a tool again that was merged into another."""
        return tool_line(bridge.call(engine.review.unmerge(name)))


def add_grant_routes(app: Flask, bridge: Bridge, engine: "Engine") -> None:
    """Add those with which a person lets tools have what they need."""

    @app.get("/api/v1/grants")
    @operation()
    def grants() -> GrantList:
        """List what tools may have."""
        return GrantList(grants=bridge.call(engine.network.grants()))

    @app.post("/api/v1/tools/<name>/allow")
    @operation()
    def allow_need(name: str, body: NeedNamed) -> GrantList:
        """Allow a tool what it needs, also in later versions that need the same."""
        tool = bridge.call(engine.library.get(name))
        bridge.call(engine.network.allow(owner(), tool, body.need))
        return GrantList(grants=bridge.call(engine.network.grants(name)))

    @app.post("/api/v1/tools/<name>/revoke")
    @operation()
    def revoke_need(name: str, body: NeedNamed) -> GrantList:
        """Ask again before a tool has something, or anything, that it needs."""
        bridge.call(engine.network.revoke(name, body.need))
        return GrantList(grants=bridge.call(engine.network.grants(name)))


async def _proposal_page(engine: "Engine", visitor: str, name: str) -> ProposalPage:
    proposal = await engine.review.proposal(visitor, name)
    before = None
    if proposal.based_on:
        before = await engine.library.version(name, proposal.based_on)
    return proposal_page(proposal, before)


async def _matching_tools(engine: "Engine", visitor: str, text: str) -> tuple[FoundTool, ...]:
    """The tools that the search finds for a text, with the requests that the visitor may see."""
    matches = await engine.library.matches(text, _MOST_FOUND)
    tools = [match.tool for match in matches]
    examples = await engine.conversations.examples_of(visitor, tools)
    used_requests = await engine.review.used_requests(visitor, [tool.name for tool in tools])
    return tuple(
        found_tool(text, match, of_tool, used_requests[match.tool.name])
        for match, of_tool in zip(matches, examples, strict=True)
    )


async def _page(
    engine: "Engine", visitor: str, name: str, used_requests: Sequence[str] | None = None
) -> ToolPage:
    """A tool, with the requests that it has served, unless they are known."""
    tool = await engine.network.with_granted(await engine.library.get(name))
    if used_requests is None:
        used_requests = (await engine.review.used_requests(visitor, [name]))[name]
    return tool_page(
        tool,
        await engine.conversations.examples(visitor, tool),
        used_requests,
        await engine.conversations.habits(visitor, name),
        ungranted=await engine.network.ungranted(tool) if tool.needs else (),
    )
