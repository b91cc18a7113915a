"""The MCP server: tools for the agents of other programs, over any transport of the protocol, and
the questions of a turn as a form that they show to their person (elicitation).
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import anyio
import mcp_types as types
from mcp import MCPError
from mcp.server import NotificationOptions, Server, ServerRequestContext
from mcp.server.models import InitializationOptions
from mcp.server.subscriptions import ListenHandler, ServerEvent, ToolsListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from selfeng.core.changes import Changes
from selfeng.core.errors import ResourceNotFound
from selfeng.core.places import VERSION
from selfeng.core.question import Question
from selfeng.doors.call_results import text_result

if TYPE_CHECKING:
    from selfeng.doors.engine_tools import EngineTools

ANSWERS = "answers"
"""The name of the one request for input."""
CONSENT = "consent"
"""In place of a conversation: the state of a call that waits for a person's consent."""
_TYPES = {"number": "number", "yes_no": "boolean"}
_MOST_FORMS = 5
"""Rounds of questions of one call that a client shows as forms."""

Report = Callable[[str], Awaitable[None]]
"""Tells the client, if it wants to know, what is being done, in a few words."""

Left = Callable[[Any], asyncio.Event]
"""Gives, for the request that carries a call, the event that is set once its client is gone."""
TASKS = "io.modelcontextprotocol/tasks"
"""The extension by which calls continue without their clients, which poll their progress."""
_ALIVE = 15.0
"""Seconds of silence after which a client that asked for progress gets the last step again."""

_INSTRUCTIONS = (
    "An agent that builds its own tools. `ask` it for anything that code can work out: it uses a "
    "tool of its library, or writes, tests and keeps a new one. `find_tools`, `run_tool` "
    "and `run_program` use the library directly, without a model."
)


class ToolSource(Protocol):
    """Where the tools of a server come from."""

    @property
    def changed(self) -> Changes[[]]:
        """Told whenever `tools` may say something else."""

    async def tools(self) -> list[types.Tool]: ...

    async def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        report: Report,
        answers: Mapping[str, Any] | None = None,
    ) -> types.CallToolResult:
        """The result of a tool; its failure is a result, too. Cancelling it stops the work.
        `answers` are those of a person to the form of an earlier result; no model gives them.
        """


class _TaskParams(types.RequestParams):
    task_id: str


class _Bus:
    """Events for the streams of clients that listen; those of the source among them."""

    def __init__(self, source: ToolSource) -> None:
        self._events = Changes[ServerEvent]()
        source.changed.subscribe(lambda: self._events.tell(ToolsListChanged()))

    async def publish(self, event: ServerEvent) -> None:
        self._events.tell(event)

    def subscribe(self, listener: Callable[[ServerEvent], None]) -> Callable[[], None]:
        return self._events.subscribe(listener)


class _ToolServer(Server[dict[str, Any]]):
    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Over HTTP nobody else can say that changes of the list are told."""
        return super().create_initialization_options(
            notification_options or NotificationOptions(tools_changed=True),
            experimental_capabilities,
            extensions,
        )


def mcp_server(
    source: ToolSource,
    departure: Left = lambda _: asyncio.Event(),
    tasks: "EngineTools | None" = None,
) -> Server[dict[str, Any]]:
    """The server for the tools of `source`; several clients may use it at once. A client that
    cancels a call, or leaves meanwhile, stops it; with `tasks`, a client that knows them gets one
    instead of waiting.
    """

    async def listed(
        context: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=await source.tools())

    async def called(
        context: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        steps, latest = count(1), ""

        async def report(words: str) -> None:
            nonlocal latest
            latest = words
            await context.session.report_progress(next(steps), message=words)

        async def call(
            name: str, arguments: Mapping[str, Any], answers: Mapping[str, Any] | None = None
        ) -> types.CallToolResult:
            work = source.call(name, arguments, report, answers)
            return await _while_there(departure(context.request), work, lambda: report(latest))

        async def go_on(state: str, answers: Mapping[str, Any]) -> types.CallToolResult:
            if state == CONSENT:
                return await call(params.name, params.arguments or {}, answers)
            return await call("ask", continued(state, answers))

        arguments: Mapping[str, Any] = params.arguments or {}
        if (
            tasks
            and _knows_tasks(context)
            and (turn_id := await tasks.begin(params.name, arguments))
        ):
            return cast(types.CallToolResult, {"resultType": "task", **await tasks.task(turn_id)})
        answers = filled_in((params.input_responses or {}).get(ANSWERS))
        if params.request_state and answers is not None:
            result = await go_on(params.request_state, answers)
        elif params.request_state not in (None, "", CONSENT):
            return unanswered(params.request_state)
        else:
            result = await call(params.name, arguments)
            if params.request_state:
                return result
        return await _with_forms(context, result, go_on)

    async def task(context: ServerRequestContext[Any, Any], params: _TaskParams) -> dict[str, Any]:
        assert tasks is not None
        stops = context.method == "tasks/cancel"
        try:
            state = await tasks.task(params.task_id, stop=stops)
        except ResourceNotFound as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        return {} if stops else state

    server = _ToolServer(
        "selfeng",
        version=VERSION,
        title="Self-Engineering Agent",
        instructions=_INSTRUCTIONS,
        on_list_tools=listed,
        on_call_tool=called,
        on_subscriptions_listen=ListenHandler(_Bus(source)),
        get_tool_input_schema=lambda name: None,  # no schema of ours asks for headers
    )

    async def on_initialized(
        context: ServerRequestContext[Any, Any], params: types.NotificationParams | None
    ) -> None:
        _tell_of_changes(source, context)

    server.add_notification_handler(
        "notifications/initialized", types.NotificationParams, on_initialized
    )
    for method in ("tasks/get", "tasks/cancel") if tasks else ():
        server.extensions[TASKS] = {}
        server.add_request_handler(method, _TaskParams, task)
    return server


def _knows_tasks(context: ServerRequestContext[Any, Any]) -> bool:
    able, modern = context.session.client_capabilities, MODERN_PROTOCOL_VERSIONS
    return context.protocol_version in modern and TASKS in ((able and able.extensions) or ())


def _shows_forms(context: ServerRequestContext[Any, Any]) -> bool:
    able = context.session.client_capabilities
    elicits = able.elicitation if able else None
    return elicits is not None and (elicits.form is not None or elicits.url is None)


def _tell_of_changes(source: ToolSource, context: ServerRequestContext[Any, Any]) -> None:
    """Tell a client of a protocol before 2026, which can't listen, of changes while it stays."""
    session, sending = context.session, set[asyncio.Task[None]]()

    def tell() -> None:
        task = asyncio.create_task(session.send_tool_list_changed())
        sending.add(task)
        task.add_done_callback(sending.discard)

    # the SDK hands out no other sign of a connection's end
    session._connection.exit_stack.callback(source.changed.subscribe(tell))


async def _with_forms(
    context: ServerRequestContext[Any, Any],
    result: types.CallToolResult,
    resume: Callable[[str, Mapping[str, Any]], Awaitable[types.CallToolResult]],
) -> types.CallToolResult | types.InputRequiredResult:
    """The result, or the result of the call that the person's answers resume: a form for each
    question that it asks, where the client shows forms.
    """
    for _ in range(_MOST_FORMS):
        form = form_of(result) if _shows_forms(context) else None
        if form is None:
            break
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            requests: types.InputRequests = {ANSWERS: form.request}
            return types.InputRequiredResult(
                input_requests=requests, request_state=form.conversation
            )
        filled = await context.session.elicit_form(form.message, form.schema, context.request_id)
        if (answers := filled_in(filled)) is None:
            break
        result = await resume(form.conversation, answers)
    return result


async def _while_there(
    departure: asyncio.Event,
    work: Coroutine[Any, Any, types.CallToolResult],
    say_alive: Callable[[], Awaitable[None]],
) -> types.CallToolResult:
    """The result of `work`, which is stopped when the caller is cancelled, or has left.

    It is a task of its own, as the SDK's cancellation would also cut off what stops a turn.
    """
    task, leaving = asyncio.create_task(work), asyncio.create_task(departure.wait())
    first = partial(asyncio.wait, timeout=_ALIVE, return_when=asyncio.FIRST_COMPLETED)
    try:
        while not (await first({task, leaving}))[0]:
            await say_alive()
    finally:
        task.cancel()
        leaving.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({task, leaving})
    if task.cancelled():
        return types.CallToolResult(
            content=[types.TextContent(text="The client left, and the work was stopped.")],
            is_error=True,
        )
    return task.result()


class Form(NamedTuple):
    """The open questions of a conversation."""

    conversation: str
    """Or `CONSENT`."""
    message: str
    schema: dict[str, Any]
    """JSON Schema of an object with an answer for each question, as elicitation allows it."""

    @property
    def request(self) -> types.ElicitRequest:
        params = types.ElicitRequestFormParams(message=self.message, requested_schema=self.schema)
        return types.ElicitRequest(params=params)


def form_of(result: types.CallToolResult) -> Form | None:
    """The form for what a turn asks; None if it asks nothing."""
    content = result.structured_content or {}
    if content.get("outcome") != "asked" or not content.get("questions"):
        return None
    questions = [Question.model_validate(question) for question in content["questions"]]
    schema = {
        "type": "object",
        "properties": {question.id: _field(question) for question in questions},
        "required": [question.id for question in questions],
    }
    return Form(content.get("conversation", CONSENT), content["answer"], schema)


def filled_in(result: object) -> dict[str, Any] | None:
    """The person's entries in the form; None if they declined."""
    if not isinstance(result, types.ElicitResult) or result.action != "accept":
        return None
    return dict(result.content or {})


def continued(conversation: str, answers: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `ask` that continue with the answers."""
    return {"request": "", "conversation": conversation, "answers": dict(answers)}


def unanswered(conversation: str) -> types.CallToolResult:
    """The result for a program whose person declined to answer."""
    text = (
        "The person gave no answer. To answer, call `ask` with conversation "
        f"{conversation!r} and answers."
    )
    return text_result(text, {"conversation": conversation, "outcome": "asked"})


def _field(question: Question) -> dict[str, Any]:
    more = {"enum": list(question.options)} if question.answer == "choice" else {}
    about = {"description": question.why} if question.why else {}
    kind = _TYPES.get(question.answer, "string")
    return {"type": kind, "title": question.question, **about, **more}
