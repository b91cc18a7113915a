"""The engine's tools for agents of other programs: fixed ones, and those of the library."""

import json
import logging
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, Literal

import mcp_types as types

from selfeng.core.changes import Changes
from selfeng.core.consent_question import needs_consent, not_granted, titles
from selfeng.core.errors import (
    AgentError,
    LibraryError,
    RequestError,
    ResourceNotFound,
    ToolNotFound,
)
from selfeng.core.events import Event, Outcome
from selfeng.core.question import ALWAYS, NO, answers_of
from selfeng.core.schedule import Schedule, SchedulePlan
from selfeng.core.status import Asked
from selfeng.core.tool import Need, Tool
from selfeng.core.value import Value, validated
from selfeng.core.visible import one_line
from selfeng.core.words import count
from selfeng.doors.call_results import described, executed, program_result, refused, text_result
from selfeng.doors.fixed_tools import (
    AT_ONCE,
    FIXED,
    AddScheduleCall,
    AllowCall,
    AskCall,
    FindCall,
    GivenFile,
    GrantsCall,
    HealthCall,
    ListSchedulesCall,
    PauseScheduleCall,
    ProgramCall,
    RevokeCall,
    RunCall,
    RunScheduleCall,
    WrongCall,
)
from selfeng.doors.mcp_server import Report
from selfeng.doors.turn_story import TurnStory
from selfeng.engine import Engine

log = logging.getLogger(__name__)

Listed = Literal["trusted", "all", "none"]
"""Which tools of the library are listed by their own names; retired ones never are."""
MOST_LISTED = 40
"""Some clients take no more tools of all servers together."""
_FOUND = 5
_FINDS = "find_tools finds those there are"
_POLL = 1_000
"""Milliseconds between two looks of a client at a task."""
_TASK_STATUS = {None: "working", Outcome.STOPPED: "cancelled"}


class EngineTools:
    """The tools for one person of an engine; on its event loop."""

    def __init__(self, engine: Engine, owner: str, listed: Listed) -> None:
        self._engine, self._owner, self._listed = engine, owner, listed
        self.changed = Changes[[]]()
        engine.changes.subscribe(lambda change: self._tell())

    async def tools(self) -> list[types.Tool]:
        """The fixed tools, then the library's most used."""
        library_tools = [_offered(tool) for tool in await self._library_tools()]
        return [*(_fixed(name, kind) for name, kind in FIXED.items()), *library_tools]

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        report: Report,
        answers: Mapping[str, Any] | None = None,
    ) -> types.CallToolResult:
        """The result of a tool. An error of the request, of the library or of the sandbox is a
        result that says what to do.
        """
        try:
            if FIXED.get(name) in AT_ONCE:
                return await self._answer(name, arguments, answers or {})
            work = await self._work(name, arguments)
            if isinstance(work, RunCall):
                return await self._run(work.name, work.arguments, work.files)
            return await self._told(work, report)
        except ToolNotFound as error:
            return refused(ToolNotFound(error.message, _FINDS))
        except AgentError as error:
            return refused(error)
        except Exception:
            log.exception("the tool %s failed for another program", name[:80])
            return text_result("An unexpected error; the server's log has it.", failed=True)

    async def begin(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The id of the turn that such a call begins, which continues without its caller; "" for a
        call that begins none.
        """
        with suppress(AgentError):  # `call` reports it
            if FIXED.get(name) not in AT_ONCE:
                work = await self._work(name, arguments)
                return "" if isinstance(work, RunCall) else (await work).turn_id
        return ""

    async def task(self, turn_id: str, *, stop: bool = False) -> dict[str, Any]:
        """The state of a turn, with the fields that the extension gives a task; `stop` it before.
        Raises: ResourceNotFound.
        """
        records = await self._engine.conversations.records(self._owner, turn_id)
        if stop:
            await self._engine.stop(self._owner, turn_id)
        story = TurnStory()
        for record in records:
            story.add(record)
        task: dict[str, Any] = {
            "taskId": turn_id,
            "status": _TASK_STATUS.get(story.outcome, "completed"),
            "statusMessage": story.step,
            "createdAt": records[0].at.isoformat(),
            "lastUpdatedAt": records[-1].at.isoformat(),
            "ttlMs": None,
            "pollIntervalMs": _POLL,
        }
        if task["status"] == "completed":
            result = await self._result(story)
            task["result"] = result.model_dump(mode="json", by_alias=True, exclude_none=True)
        return task

    async def _work(self, name: str, arguments: Mapping[str, Any]) -> Awaitable[Asked] | RunCall:
        """The work of such a call: a turn that begins, as for a tool that may take long, or the
        call of a tool.
        """
        match name:
            case "ask":
                call = validated(AskCall, arguments)
                return self._engine.ask(
                    self._owner,
                    call.conversation or None,
                    call.request,
                    [file.file() for file in call.files],
                    answers=answers_of(call.answers),
                )
            case "answer_is_wrong":
                wrong = validated(WrongCall, arguments)
                return self._engine.dispute(self._owner, wrong.turn, wrong.complaint, wrong.value)
            case "run_schedule":
                schedule = validated(RunScheduleCall, arguments)
                return self._engine.schedules.start(self._owner, schedule.name)
            case "run_tool":
                run = validated(RunCall, arguments)
            case _:
                await self._check_listed(name)
                run = RunCall(name=name, arguments=dict(arguments))
        if not str((await self._engine.library.get(run.name)).limits):
            return run
        files = [file.file() for file in run.files]
        return self._engine.run(self._owner, None, run.name, run.arguments, files)

    async def _answer(
        self, name: str, arguments: Mapping[str, Any], answers: Mapping[str, Any]
    ) -> types.CallToolResult:
        """The result of a call that begins no turn."""
        match name:
            case "find_tools":
                return await self._find(validated(FindCall, arguments))
            case "run_program":
                return await self._run_program(validated(ProgramCall, arguments))
            case "list_grants":
                return await self._grants(validated(GrantsCall, arguments))
            case "allow_need":
                return await self._allow(validated(AllowCall, arguments), answers)
            case "revoke_grant":
                return await self._revoke(validated(RevokeCall, arguments))
            case "library_health":
                return await self._health(validated(HealthCall, arguments))
        return await self._schedules(name, arguments)

    async def _schedules(self, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """The result of a call about schedules that begins no run."""
        schedules, owner = self._engine.schedules, self._owner
        match name:
            case "list_schedules":
                validated(ListSchedulesCall, arguments)
                return _listed(await schedules.list(owner))
            case "add_schedule":
                call = validated(AddScheduleCall, arguments)
                if call.deliver or call.hook or call.watch:
                    raise RequestError(
                        "an agent can't open a schedule to other hosts or folders",
                        "a person adds such a schedule, by `selfeng schedules add` or REST",
                    )
                plan = SchedulePlan(**call.model_dump(include={*SchedulePlan.model_fields}))
                files = [file.file() for file in call.files]
                return _listed([await self._engine.schedule(owner, plan, files)])
        pause = validated(PauseScheduleCall, arguments)
        change = schedules.resume if pause.resume else schedules.pause
        return _listed([await change(owner, pause.name)])

    async def _told(self, pending_turn: Awaitable[Asked], report: Report) -> types.CallToolResult:
        """The result of a turn; `report` gets the name of each step."""
        story, reported_step = TurnStory(), ""
        async with aclosing(self._engine.turn(self._owner, pending_turn)) as records:
            async for record in records:
                story.add(record)
                if story.step != reported_step:
                    await report(story.step)
                    reported_step = story.step
        return await self._result(story)

    async def _result(self, story: TurnStory) -> types.CallToolResult:
        files = await story.read_files(self._engine, self._owner)
        structured = story.structured()
        structured["new_tools"] = [await self._built(name) for name in story.new_tools]
        if story.runs:
            with suppress(ResourceNotFound):
                value = await self._engine.conversations.result_of_turn(self._owner, story.turn)
                structured["value"] = json.loads(value.content)
        return text_result(
            story.whole_text,
            structured,
            files,
            failed=story.outcome in (Outcome.FAILED, Outcome.STOPPED, None),
        )

    async def _built(self, name: str) -> dict[str, Any]:
        """The description of a tool that a turn built; its name alone if it is gone already."""
        try:
            return described(await self._engine.library.get(name))
        except LibraryError:
            return {"name": name}

    async def _find(self, call: FindCall) -> types.CallToolResult:
        matches = [
            {
                **described(match.tool),
                "import": f"from {match.tool.name} import {match.tool.name}",
                "signature": str(match.tool.signature),
                "confidence": round(match.confidence, 2),
            }
            for match in await self._engine.library.matches(call.request, _FOUND)
        ]
        lines = [
            f"{match['name']} ({match['confidence']:.0%}): {match['description']}"
            for match in matches
        ]
        none = "No tool of the library fits; `ask` builds one."
        return text_result("\n".join(lines) or none, {"tools": matches})

    async def _run(
        self, name: str, arguments: Mapping[str, Any], files: Sequence[GivenFile] = ()
    ) -> types.CallToolResult:
        events: list[Event] = []
        given_files = [file.file() for file in files]
        execution = await self._engine.call(
            self._owner, name, arguments, given_files, watch=events.append
        )
        return executed(execution, events)

    async def _run_program(self, call: ProgramCall) -> types.CallToolResult:
        events: list[Event] = []
        program = await self._engine.program(call.code)
        files = [file.file() for file in call.files]
        execution = await self._engine.call(
            self._owner, program, call.arguments, files, watch=events.append
        )
        return program_result(program, execution, events)

    async def _grants(self, call: GrantsCall) -> types.CallToolResult:
        network = self._engine.network
        grants = await network.grants(call.tool)
        lines = [one_line(f"{grant.tool} may have {grant.need}") for grant in grants]
        needs: tuple[Need, ...] = ()
        if call.tool:
            needs = await network.ungranted(await self._engine.library.get(call.tool))
            lines += [one_line(f"{call.tool} lacks {need}") for need in needs]
        structured = {
            "grants": [grant.model_dump(mode="json", exclude={"owner"}) for grant in grants],
            "ungranted": [need.model_dump(mode="json") for need in needs],
        }
        return text_result("\n".join(lines) or "No tool has a grant.", structured)

    async def _allow(self, call: AllowCall, answers: Mapping[str, Any]) -> types.CallToolResult:
        """The grant, where the person has said so in a form; no model fills in one. Else the
        question, for a form, and where else they can consent.
        """
        tool, network = await self._engine.library.get(call.tool), self._engine.network
        needs = network.needed(tool, call.need)
        question = needs_consent(tool.name, needs).question
        question = question.model_copy(update={"options": (ALWAYS, NO)})
        match answers.get(question.id):
            case "always":
                granted = await network.allow(self._owner, tool, call.need)
                lines = [one_line(f"{tool.name} may have {need}") for need in granted]
                return text_result("\n".join(lines), {"allowed": titles(granted)})
            case "no":
                return text_result("The person does not allow it.", {"allowed": ""}, failed=True)
        refusal = refused(not_granted(tool.name, needs))
        questions = {"questions": [question.model_dump(mode="json")], "answer": question.question}
        structured = {**(refusal.structured_content or {}), "outcome": "asked", **questions}
        return refusal.model_copy(update={"structured_content": structured})

    async def _revoke(self, call: RevokeCall) -> types.CallToolResult:
        revoked = await self._engine.network.revoke(call.tool, call.need)
        return text_result(f"{count(revoked, 'grant')} revoked", {"revoked": revoked})

    async def _health(self, call: HealthCall) -> types.CallToolResult:
        report = await self._engine.health.report(self._owner, call.days)
        lines = [f"{finding.tools[0]}: {finding.words}" for finding in report.findings]
        return text_result("\n".join(lines) or "Nothing to do.", report.model_dump(mode="json"))

    async def _library_tools(self) -> Sequence[Tool]:
        """Those that are listed, the most used first."""
        if self._listed == "none":
            return ()
        standings = {"trusted"} if self._listed == "trusted" else {"trusted", "provisional"}
        tools = [
            tool
            for tool in await self._engine.library.tools()
            if tool.standing in standings and tool.name not in FIXED
        ]
        return sorted(tools, key=lambda tool: (-tool.uses, tool.name))[:MOST_LISTED]

    async def _check_listed(self, name: str) -> None:
        """Raises: ToolNotFound."""
        if name not in {tool.name for tool in await self._library_tools()}:
            raise ToolNotFound(f"there is no tool {name[:80]!r} in this list", _FINDS)

    def _tell(self) -> None:
        if self._listed != "none":
            self.changed.tell()


def _listed(schedules: Sequence[Schedule]) -> types.CallToolResult:
    lines = [
        f"{s.name}: {s.tool}, {s.cron} {s.timezone}, {s.reason or s.next_at.isoformat()}"
        for s in schedules
    ]
    listed = [schedule.model_dump(mode="json") for schedule in schedules]
    return text_result("\n".join(lines) or "There are no schedules.", {"schedules": listed})


def _fixed(name: str, kind: type[Value]) -> types.Tool:
    schema = kind.model_json_schema()
    fields = {
        field: {key: value for key, value in field_schema.items() if key != "title"}
        for field, field_schema in schema["properties"].items()
    }
    return types.Tool(
        name=name,
        description=" ".join((kind.__doc__ or "").split()),
        input_schema={
            "type": "object",
            "properties": fields,
            "required": schema.get("required", []),
            "additionalProperties": False,
        },
        annotations=types.ToolAnnotations(
            read_only_hint=kind in (FindCall, GrantsCall, HealthCall, ListSchedulesCall),
            destructive_hint=kind is RevokeCall,
            idempotent_hint=kind in AT_ONCE and kind is not AddScheduleCall,
            open_world_hint=False,
        ),
    )


def _offered(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.signature.input_schema(),
        annotations=types.ToolAnnotations(
            destructive_hint=any(not access.reads for access in tool.network),
            open_world_hint=bool(tool.network),
        ),
    )
