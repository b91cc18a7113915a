"""Tools that use hosts in whole turns, on a scripted model, sandbox and network: consent, probes,
calls, and services that change.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from selfeng.agents import coder, proxy
from selfeng.core.consent_question import needs_consent
from selfeng.core.errors import AgentError, RequestError
from selfeng.core.events import (
    ConsentDecided,
    Event,
    Executing,
    ExecutionFailed,
    ExecutionFinished,
    QuestionsAsked,
    SynthesisStep,
    TurnFinished,
)
from selfeng.core.http import HttpRequest, NetworkAccess, SecretUse
from selfeng.core.package_lock import Package
from selfeng.core.plan import PlannedStep
from selfeng.core.prompt import FunctionCall
from selfeng.core.question import Answer
from selfeng.core.spec import SpecificationReply, SpecifiedTool
from selfeng.core.turn import Request, Turn
from selfeng.core.verdict import CallLimits, Raised
from selfeng.engine import Engine
from selfeng.sandboxes.sandbox_options import SandboxOptions
from selfeng.stages.executor import Call
from tests.doubles import (
    CODE,
    TESTS,
    ScriptedModel,
    ScriptedNetwork,
    ScriptedSandbox,
    failing,
    fenced,
    passing,
    recorded,
    returned,
    specification,
)
from tests.engine.test_lessons import engine_on
from tests.engine.test_mending import KEPT, MENDED
from tests.engine.test_questions import turn
from tests.lessons.notebook import Notebook

URL = "https://api.example.org/rates?day=1"
ACCESS = NetworkAccess(
    host="api.example.org",
    path="/rates",
    secrets=(SecretUse(name="RATES_KEY", place="bearer"),),
    purpose="It gives the rates.",
)
RATE = {"rate": 1.5}
SPEC = specification().model_copy(update={"network": (ACCESS,), "probes": (URL,)})
SPECIFIED = SpecificationReply(
    outcome="tool", message="", specification=SPEC, call="double_number(number=4)"
)
IMPOSSIBLE = SpecificationReply(
    outcome="impossible", message="Without the rates I can only double.", specification=None
)
CALL = FunctionCall(name="add_numbers", arguments={"a": 2})
RATES = KEPT.model_copy(update={"network": (ACCESS,), "exchanges": (recorded(URL, RATE),)})
BUILDS = (fenced(TESTS), fenced(CODE))
"""The replies after the specification, for a policy of one candidate."""


@asynccontextmanager
async def engine_with(
    database: sa.Engine, model: ScriptedModel, sandbox: ScriptedSandbox, pages: ScriptedNetwork
) -> AsyncIterator[Engine]:
    async with engine_on(Notebook(database), model, sandbox, pages=pages) as engine:
        yield engine


def of(kind: type[Any], events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


async def say(engine: Engine, conversation: str, first: list[Event], value: str) -> list[Event]:
    (question,) = of(QuestionsAsked, first)[0].questions
    answers = (Answer(id=question.id, value=value),)
    _, events = await turn(engine, conversation, "", answers=answers)
    return events


def model(*replies: object) -> ScriptedModel:
    return ScriptedModel(*replies)  # type: ignore[arg-type]


def building(*more: object, sends: bool = True) -> tuple[ScriptedSandbox, ScriptedNetwork]:
    sandbox = ScriptedSandbox(failing(), passing(), *more)  # type: ignore[arg-type]
    sandbox.sends = [HttpRequest(method="GET", url=URL)] if sends else []
    return sandbox, ScriptedNetwork({URL: RATE})


async def test_a_tool_is_built_after_consent_and_probes(database: sa.Engine) -> None:
    sandbox, pages = building(returned())
    script = model(SPECIFIED, *BUILDS, "It is 8.")
    async with engine_with(database, script, sandbox, pages) as engine:
        begun, first = await turn(engine, None, "the rate, doubled")
        assert (pages.sent, script.asked()) == ([], ["specification"])
        second = await say(engine, begun.conversation_id, first, "always")
        (grant,) = await engine.network.grants()
        built = await engine.model_parts.current.executor._library.get("double_number")
    (asked,) = of(QuestionsAsked, first)
    assert asked.questions[0].question == (
        "May the tool 'double_number' send requests to api.example.org?"
    )
    assert asked.questions[0].why == (
        "It sends GET https://api.example.org/rates with the secret RATES_KEY as bearer "
        "(It gives the rates). Its arguments may be part of that."
    )
    assert asked.questions[0].options == ("once", "always", "no")
    assert asked.specified == SpecifiedTool(**dict(SPECIFIED))
    assert of(ConsentDecided, second) == [
        ConsentDecided(tool="double_number", server="api.example.org", decision="always")
    ]
    assert pages.sent == [URL, URL]  # the probe, and the call
    probes = [
        e.text for e in of(SynthesisStep, second) if (e.step, e.state) == ("probe", "finished")
    ]
    assert probes == ["1 of 1 probe answered."]
    tests, implementation = script.prompts[1:3]
    for prompt in (tests, implementation):
        assert '"body":"{\\"rate\\": 1.5}"' in prompt.messages[-1].content
    assert of(Executing, second)[0].hosts == "api.example.org"
    assert (grant.tool, grant.version, grant.need, grant.owner) == (
        "double_number",
        1,
        ACCESS,
        "me",
    )
    assert (built.network, built.exchanges) == ((ACCESS,), (recorded(URL, RATE),))
    assert second[-1].answer == "It is 8."


async def test_the_question_survives_a_restart(database: sa.Engine) -> None:
    sandbox, pages = building(returned())
    async with engine_with(database, model(SPECIFIED), sandbox, pages) as engine:
        begun, first = await turn(engine, None, "the rate, doubled")
    script = model(*BUILDS, "It is 8.")
    async with engine_with(database, script, sandbox, pages) as engine:
        second = await say(engine, begun.conversation_id, first, "always")
        grants = await engine.network.grants()
    assert script.asked() == ["tests", "implementation", "answer"]
    assert (second[-1].answer, [grant.tool for grant in grants]) == ("It is 8.", ["double_number"])


async def test_once_asks_again_at_the_next_call(database: sa.Engine) -> None:
    sandbox, pages = building(returned())
    again = FunctionCall(name="double_number", arguments={"number": 4})
    script = model(SPECIFIED, *BUILDS, "It is 8.", again)
    async with engine_with(database, script, sandbox, pages) as engine:
        begun, first = await turn(engine, None, "the rate, doubled")
        second = await say(engine, begun.conversation_id, first, "once")
        assert await engine.network.grants() == ()
        _, third = await turn(engine, None, "the rate, doubled")
    assert second[-1].answer == "It is 8."
    assert of(QuestionsAsked, third)[0].call == again


async def test_after_no_nothing_is_sent_and_the_model_says_what_can_be_done(
    database: sa.Engine,
) -> None:
    sandbox, pages = ScriptedSandbox(), ScriptedNetwork({URL: RATE})
    script = model(SPECIFIED, SPECIFIED, IMPOSSIBLE)
    async with engine_with(database, script, sandbox, pages) as engine:
        begun, first = await turn(engine, None, "the rate, doubled")
        second = await say(engine, begun.conversation_id, first, "no")
    assert pages.sent == []
    assert "the person does not allow api.example.org" in script.prompts[2].messages[-1].content
    assert (second[-1].answer, second[-1].outcome) == (IMPOSSIBLE.message, "declined")


async def test_a_probe_that_fails_has_the_specification_written_again(database: sa.Engine) -> None:
    right = URL.replace("day=1", "day=2")
    fixed = SPECIFIED.model_copy(
        update={"specification": SPEC.model_copy(update={"probes": (right,)})}
    )
    sandbox = ScriptedSandbox(failing(), passing(), returned())
    pages = ScriptedNetwork({right: RATE})
    script = model(SPECIFIED, fixed, *BUILDS, "It is 8.")
    async with engine_with(database, script, sandbox, pages) as engine:
        begun, first = await turn(engine, None, "the rate, doubled")
        second = await say(engine, begun.conversation_id, first, "always")
    assert pages.sent == [URL, right]
    assert "no probe works" in script.prompts[1].messages[-1].content
    assert second[-1].answer == "It is 8."


async def with_rates(engine: Engine, granted: bool = True) -> None:
    library = engine.model_parts.current.executor._library
    library.replace(RATES)
    if granted:
        await engine.network.allow("me", RATES)


async def by_hand(engine: Engine) -> None:
    """A call without a conversation."""
    called = Call(tool=RATES, arguments={"a": 2})
    run = engine.model_parts.current.executor.run
    await run(Turn(Request("2 plus 1"), lambda event: None), called)


async def test_a_call_without_a_grant_asks_first(database: sa.Engine) -> None:
    sandbox, pages = ScriptedSandbox(returned("3")), ScriptedNetwork({URL: RATE})
    script = model(CALL, "It is 3.")
    async with engine_with(database, script, sandbox, pages) as engine:
        await with_rates(engine, granted=False)
        with pytest.raises(AgentError, match="add_numbers needs your consent") as refusal:
            await by_hand(engine)
        begun, first = await turn(engine, None, "2 plus 1")
        assert sandbox.executed == []
        second = await say(engine, begun.conversation_id, first, "always")
        grants = await engine.network.grants("add_numbers")
        revoked = await engine.network.revoke("add_numbers", "api.example.org")
        left = await engine.network.grants()
    assert "selfeng grants allow add_numbers" in refusal.value.remedy
    assert of(QuestionsAsked, first)[0].call == CALL
    assert (len(sandbox.executed), second[-1].answer) == (1, "It is 3.")
    assert ([grant.need for grant in grants], revoked, left) == ([ACCESS], 1, ())


async def test_a_plan_that_has_sent_something_is_not_done_again_for_a_question(
    database: sa.Engine,
) -> None:
    sending = NetworkAccess(host="api.example.org", methods=("POST",))
    order = RATES.model_copy(update={"name": "order", "network": (sending,), "exchanges": ()})
    steps = SpecificationReply(
        outcome="steps",
        message="",
        specification=None,
        steps=(
            PlannedStep(id="order", request="Order 2", needs=()),
            PlannedStep(id="rates", request="2 plus the rate", needs=("order",)),
        ),
    )
    none = FunctionCall(name="no_tool_fits", arguments={"reason": "it takes two"})
    replies = (none, steps, CALL.model_copy(update={"name": "order"}), CALL)
    sandbox, pages = ScriptedSandbox(returned("1")), ScriptedNetwork()
    async with engine_with(database, model(*replies), sandbox, pages) as engine:
        await with_rates(engine, granted=False)
        engine.model_parts.current.executor._library.replace(order)
        await engine.network.allow("me", order)
        _, events = await turn(engine, None, "order 2, and add the rate")
    assert of(QuestionsAsked, events) == []
    assert "add_numbers needs your consent" in events[-1].message
    assert "selfeng grants allow add_numbers" in events[-1].remedy


async def test_a_version_that_needs_more_asks_again(database: sa.Engine) -> None:
    other = NetworkAccess(host="other.example.org")
    sandbox, pages = ScriptedSandbox(), ScriptedNetwork()
    async with engine_with(database, model(), sandbox, pages) as engine:
        await engine.network.allow("me", RATES)
        same = RATES.model_copy(update={"version": 2})
        more = same.model_copy(update={"network": (ACCESS, other)})
        assert await engine.network.ungranted(same) == ()
        assert await engine.network.ungranted(more) == (other,)


async def test_one_question_names_all_that_a_tool_needs_and_later_only_what_is_new(
    database: sa.Engine,
) -> None:
    limits, other = CallLimits(seconds=600, memory=2048), NetworkAccess(host="other.example.org")
    wanting = SPEC.model_copy(update={"limits": limits})
    specified = SPECIFIED.model_copy(update={"specification": wanting})
    sandbox, pages = building(returned())
    script = model(specified, *BUILDS, "It is 8.")
    async with engine_with(database, script, sandbox, pages) as engine:
        begun, first = await turn(engine, None, "the rate, doubled")
        second = await say(engine, begun.conversation_id, first, "always")
        built = await engine.model_parts.current.executor._library.get("double_number")
        assert await engine.network.ungranted(built) == ()
        more = built.model_copy(update={"network": (ACCESS, other)})
        assert await engine.network.ungranted(more) == (other,)
    (asked,) = of(QuestionsAsked, first)
    assert asked.questions[0].question == (
        "May the tool 'double_number' send requests to api.example.org, and take 600 s, "
        "2,048 MB of memory in a call?"
    )
    assert {name: asked.values[name] for name in ("seconds", "memory", "space", "packages")} == {
        "seconds": 600,
        "memory": 2048,
        "space": 0,
        "packages": "none",
    }
    assert of(ConsentDecided, second)[0].server == "api.example.org, limits"
    assert (built.limits, second[-1].answer) == (limits, "It is 8.")


def sends(recipient: str, message: str) -> FunctionCall:
    return FunctionCall(name="SendMessage", arguments={"recipient": recipient, "message": message})


def exits(outcome: str, result: str) -> FunctionCall:
    return FunctionCall(name="exit", arguments={"outcome": outcome, "result": result})


async def test_an_agent_asks_for_what_its_part_needs_and_begins_again_after_a_restart(
    database: sa.Engine,
) -> None:
    book, pages = Notebook(database), ScriptedNetwork({URL: RATE})
    work = (sends("coder", "add the rate to 2"), sends("toolsmith", "2 plus the rate"), CALL)
    script, sandbox = model(*work), ScriptedSandbox()
    agents = (proxy(script), coder(script))
    async with engine_on(book, script, sandbox, pages=pages, agents=agents) as engine:
        await with_rates(engine, granted=False)
        begun, first = await turn(engine, None, "2 plus the rate", agent="proxy")
    (asked,) = of(QuestionsAsked, first)
    assert (asked.agent, asked.call, pages.sent) == ("proxy", None, [])
    assert "send requests to api.example.org" in asked.questions[0].question
    assert of(TurnFinished, first)[0].outcome == "asked"

    sandbox = ScriptedSandbox(returned("3"))
    script = model(*work, exits("done", "It is 3."), exits("done", "3"))
    agents = (proxy(script), coder(script))
    async with engine_on(book, script, sandbox, pages=pages, agents=agents) as engine:
        await with_rates(engine, granted=False)
        second = await say(engine, begun.conversation_id, first, "once")
        assert await engine.network.grants() == ()
    assert second[-1].answer == "3", second[-1]
    assert [decision.decision for decision in of(ConsentDecided, second)] == ["once"]
    assert "2 plus the rate" in script.prompts[0].messages[-1].content


async def test_after_no_the_agent_is_told_what_it_can_not_have(database: sa.Engine) -> None:
    work = (sends("toolsmith", "2 plus the rate"), CALL)
    script, pages = model(*work, *work, exits("done", "Not without the rates.")), ScriptedNetwork()
    agents = (proxy(script),)
    book, sandbox = Notebook(database), ScriptedSandbox()
    async with engine_on(book, script, sandbox, pages=pages, agents=agents) as engine:
        await with_rates(engine, granted=False)
        begun, first = await turn(engine, None, "2 plus the rate", agent="proxy")
        second = await say(engine, begun.conversation_id, first, "no")
    assert second[-1].answer == "Not without the rates.", second[-1]
    assert "`selfeng grants allow add_numbers api.example.org`" in str(script.prompts[-1].messages)
    assert pages.sent == []


async def test_what_one_tool_may_have_another_one_asks_for(database: sa.Engine) -> None:
    plan = SpecificationReply(
        outcome="steps",
        message="",
        specification=None,
        steps=(
            PlannedStep(id="rates", request="2 plus the rate", needs=()),
            PlannedStep(id="more", request="1 plus the rate", needs=("rates",)),
        ),
    )
    none = FunctionCall(name="no_tool_fits", arguments={"reason": "it takes two"})
    again = FunctionCall(name="add_more", arguments={"a": 1})
    begins = (none, plan, CALL)
    script = model(*begins, *begins, again)
    sandbox, pages = ScriptedSandbox(returned("3"), returned("3")), ScriptedNetwork({URL: RATE})
    async with engine_with(database, script, sandbox, pages) as engine:
        await with_rates(engine, granted=False)
        more = RATES.model_copy(update={"name": "add_more"})
        engine.model_parts.current.executor._library.replace(more)
        begun, first = await turn(engine, None, "the rates of 1 and 2")
        second = await say(engine, begun.conversation_id, first, "once")
    questions = [of(QuestionsAsked, events)[0].questions[0] for events in (first, second)]
    assert "'add_numbers'" in questions[0].question
    assert "'add_more'" in questions[1].question


OTHER = NetworkAccess(host="other.example.org")


async def test_a_tool_that_a_step_builds_asks_as_well_and_each_answer_holds(
    database: sa.Engine,
) -> None:
    plan = SpecificationReply(
        outcome="steps",
        message="",
        specification=None,
        steps=(
            PlannedStep(id="rates", request="2 plus the rate", needs=()),
            PlannedStep(id="double", request="the rate, doubled", needs=("rates",)),
        ),
    )
    none = FunctionCall(name="no_tool_fits", arguments={"reason": "it takes two"})
    begins = (none, plan, CALL)
    script = model(*begins, *begins, none, SPECIFIED)
    sandbox = ScriptedSandbox(returned("3"), returned("3"), failing(), passing(), returned())
    pages = ScriptedNetwork({URL: RATE})
    async with engine_with(database, script, sandbox, pages) as engine:
        other = RATES.model_copy(update={"network": (OTHER,), "exchanges": ()})
        engine.model_parts.current.executor._library.replace(other)
        begun, first = await turn(engine, None, "2 plus the rate, then double it")
        second = await say(engine, begun.conversation_id, first, "once")
        script.extend(*begins, none, SPECIFIED, *BUILDS, "It is 8.")
        third = await say(engine, begun.conversation_id, second, "once")
    questions = [of(QuestionsAsked, events)[0].questions[0] for events in (first, second)]
    assert "'add_numbers'" in questions[0].question
    assert "'double_number'" in questions[1].question
    assert of(QuestionsAsked, third) == []
    assert third[-1].answer == "It is 8.", third[-1]
    assert [decided.tool for decided in of(ConsentDecided, third)] == [
        "add_numbers",
        "double_number",
    ]


HOUR = SandboxOptions("image", 5.0, Path(), most_seconds=3600.0).for_call
TOO_LONG = "a call of the tool would use 7200 s, and gets at most 3600 s here (CALL_MAX_SECONDS)"


async def test_limits_that_no_call_gets_are_lowered_before_the_question(
    database: sa.Engine,
) -> None:
    def lasting(seconds: int) -> SpecificationReply:
        spec = specification().model_copy(update={"limits": CallLimits(seconds=seconds)})
        return SPECIFIED.model_copy(update={"specification": spec})

    sandbox, script = ScriptedSandbox(), model(lasting(7200), lasting(3000))
    book, pages = Notebook(database), ScriptedNetwork()
    async with engine_on(book, script, sandbox, pages=pages, check_limits=HOUR) as engine:
        _, first = await turn(engine, None, "double it for long")
    assert TOO_LONG in script.prompts[1].messages[-1].content
    (question,) = of(QuestionsAsked, first)[0].questions
    assert question.question == "May the tool 'double_number' take 3,000 s in a call?"


async def test_a_call_that_no_consent_allows_is_refused_instead_of_asked(
    database: sa.Engine,
) -> None:
    long_tool = KEPT.model_copy(update={"limits": CallLimits(seconds=7200)})
    sandbox, script = ScriptedSandbox(), model(CALL)
    book, pages = Notebook(database), ScriptedNetwork()
    async with engine_on(book, script, sandbox, pages=pages, check_limits=HOUR) as engine:
        engine.model_parts.current.executor._library.replace(long_tool)
        _, events = await turn(engine, None, "2 plus 1")
        with pytest.raises(RequestError, match="gets at most 3600 s here"):
            await engine.network.allow("me", long_tool)
        assert await engine.network.grants() == ()
    assert of(QuestionsAsked, events) == []
    assert (events[-1].message, events[-1].cause) == (TOO_LONG, "limits")
    assert events[-1].values == {
        "amount": "7200 s",
        "most": "3600 s",
        "setting": "CALL_MAX_SECONDS",
    }


def test_the_question_about_packages_says_what_is_known_of_them() -> None:
    known = Package(
        name="humanize", version="4.9.0", size=126_000, licence="MIT", vulnerabilities=()
    )
    first = needs_consent("ordinal", [known])
    assert first.question.question == "May the tool 'ordinal' use the package humanize?"
    assert first.question.why == (
        "Its code needs humanize 4.9.0 (0.1 MB, MIT), which are installed for it in the sandbox. "
        "Their size: 0.1 MB. They have no known vulnerabilities."
    )
    second = needs_consent("ordinal", [known, Package(name="other", version="1")])
    assert second.question.why == (
        "Its code needs humanize 4.9.0 (0.1 MB, MIT); other 1 (?), which are installed for it in "
        "the sandbox. Their licence is not known: other. Whether they have known vulnerabilities "
        "is not known."
    )
    weak = known.model_copy(update={"vulnerabilities": ("GHSA-1", "PYSEC-2")})
    third = needs_consent("ordinal", [weak])
    assert third.question.why.endswith("Known vulnerabilities: humanize GHSA-1, PYSEC-2.")


async def test_a_request_outside_of_the_grant_names_the_host(database: sa.Engine) -> None:
    failed = Raised(type_name="URLError", message="<urlopen error no consent>")
    sandbox, pages = ScriptedSandbox(failed), ScriptedNetwork()
    sandbox.sends = [HttpRequest(method="GET", url="https://evil.example.org/")]
    async with engine_with(database, model(CALL, "No."), sandbox, pages) as engine:
        await with_rates(engine)
        _, events = await turn(engine, None, "2 plus 1")
    (execution,) = [event.execution for event in of(ExecutionFailed, events)]
    assert (execution.type_name, execution.message) == (
        "NetworkRefused",
        "no consent for GET https://evil.example.org/",
    )
    assert events[-1].remedy == "look at the hosts on the tool's page, or try again later"
    assert pages.sent == []


NEW = {"price": 1.5}


async def test_a_service_that_changed_is_noticed_and_the_tool_mended(database: sa.Engine) -> None:
    sandbox = ScriptedSandbox(returned("9"), passing(), failing(), returned("3"), returned("3"))
    sandbox.sends = [HttpRequest(method="GET", url=URL)]
    pages = ScriptedNetwork({URL: NEW})
    script = model(CALL, fenced(MENDED), "It is 3.")
    async with engine_with(database, script, sandbox, pages) as engine:
        await with_rates(engine)
        _, events = await turn(engine, None, "2 plus 1")
        library = engine.model_parts.current.executor._library
        mended = await library.get("add_numbers")
    (failure,) = of(ExecutionFailed, events)
    assert (failure.execution.type_name, failure.execution.message) == (
        "ServiceChanged",
        "api.example.org answers otherwise than recorded: value.rate is missing",
    )
    assert library.changes == [f"add_numbers 1: {failure.execution.message}"]
    prompt = script.prompts[1].messages[-1].content
    assert '"body":"{\\"price\\": 1.5}"' in prompt
    assert (mended.version, mended.code) == (2, MENDED)
    of_call = recorded(URL, NEW).model_copy(update={"from_call": True})
    assert mended.exchanges == (recorded(URL, RATE), of_call)
    assert mended.replays == (recorded(URL, RATE),)
    assert [job.exchanges for job in sandbox.jobs if job.exchanges] == [(recorded(URL, NEW),)]
    assert of(ExecutionFinished, events)[-1].execution.text == "3"
    assert events[-1].answer == "It is 3."


async def test_what_an_unmended_tool_returns_is_not_believed(database: sa.Engine) -> None:
    sandbox = ScriptedSandbox(returned("9"))
    sandbox.sends = [HttpRequest(method="GET", url=URL)]
    script = model(CALL, "misuse", "The service has changed.")
    async with engine_with(database, script, sandbox, ScriptedNetwork({URL: NEW})) as engine:
        await with_rates(engine)
        _, events = await turn(engine, None, "2 plus 1")
    assert "9" not in script.prompts[-1].messages[-1].content
    assert "answers otherwise than recorded" in script.prompts[-1].messages[-1].content
    assert of(TurnFinished, events)[0].outcome == "failed"
    assert of(ExecutionFinished, events) == []


async def test_events_never_hold_what_was_exchanged(database: sa.Engine) -> None:
    sandbox, pages = ScriptedSandbox(returned("3")), ScriptedNetwork({URL: {"rate": 1.25}})
    sandbox.sends = [HttpRequest(method="GET", url=URL)]
    async with engine_with(database, model(CALL, "It is 3."), sandbox, pages) as engine:
        await with_rates(engine)
        _, events = await turn(engine, None, "2 plus 1")
    assert pages.sent == [URL]
    assert not [event for event in events if "day=1" in event.model_dump_json()]
