"""Agents at work: who sends whom what, what goes back to the model, and how a turn ends; the model
is scripted over HTTP.
"""

import asyncio
import json

from selfeng.core.errors import RequestError, SandboxFailed
from selfeng.core.events import CodeRun, QuestionsAsked, TurnFinished
from selfeng.core.files import File
from selfeng.core.question import Answer, Question
from selfeng.core.tool import Requirement
from selfeng.core.verdict import CallLimits, Killed, Raised
from selfeng_offline.completion import Completion
from tests.agents.workshop import Workshop, call, done, printed, run, send
from tests.doubles import ListedLibrary, ScriptedSandbox, returned, tool

REVERSE = tool("reverse_text", "def reverse_text(text):\n    return text[::-1]\n")
HELLO = File(name="hello.py", content=b"print('Hello')\n")


async def test_the_proxy_relays_to_the_coder_and_answers_when_the_work_is_done(hall):
    replies = [run("write"), run("run"), done("hello.py prints Hello.")]
    outcomes = (printed("", HELLO), printed("Hello\n", left=("hello.py",)))
    async with Workshop(
        hall,
        *outcomes,
        proxy=[send("coder", "write hello.py"), done("It prints Hello.")],
        coder=replies,
    ) as shop:
        *_, last = await shop.ask("Write hello.py and run it", "proxy")
    assert isinstance(last, TurnFinished)
    assert (last.answer, last.usage.calls) == ("It prints Hello.", 5)
    assert shop.told == [
        "turn_started",
        "delegation user to proxy started",
        "1: delegation proxy to coder started",
        "2: code_run started",
        "2: code_run finished",
        "2: files_made hello.py",
        "2: code_run started",
        "2: code_run finished",
        "1: delegation proxy to coder finished",
        "delegation user to proxy finished",
        "answer_token",
        "turn_finished",
    ]
    assert shop.sandbox.files == [(), (HELLO,)]
    assert json.loads(shop.seen(2)[-1]) == {
        "result_of": "run_python",
        "outcome": "ended",
        "printed": "",
        "files": ["hello.py"],
    }
    assert json.loads(shop.seen(4)[-1]) == {
        "result_of": "SendMessage",
        "from": "coder",
        "outcome": "done",
        "text": "hello.py prints Hello.",
    }


async def test_a_thread_goes_on_in_the_next_turn_with_its_system_prompt(hall):
    proxy = [send("coder", "one"), done("1"), send("coder", "two"), done("2")]
    async with Workshop(hall, proxy=proxy, coder=[done("first"), done("second")]) as shop:
        await shop.ask("do one", "proxy")
        thread = shop.events[2].thread
        before = shop.thread("proxy", "coder").messages
        await shop.ask("do two", "proxy")
    kept = shop.thread("proxy", "coder")
    assert (kept.id, kept.sender, kept.agent, [m.role for m in kept.messages]) == (
        thread,
        "proxy",
        "coder",
        ["system", *["user", "assistant"] * 2],
    )
    assert kept.messages[: len(before)] == before
    assert [
        json.loads(m.content)["arguments"]["result"] for m in kept.messages if m.role == "assistant"
    ] == ["first", "second"]
    system, first, _ = (m.content for m in before)
    (said,) = (m for m in shop.script.requests[4].messages if "tool_calls" in m)
    assert shop.seen(4)[:-1] == [system, first, None, "{}"], "the end of the work is a call, too"
    assert said["tool_calls"][0]["function"]["name"] == "exit"
    assert shop.threads.open("another conversation", "proxy", "coder").messages == ()


async def test_an_unknown_recipient_is_told_the_valid_ones(hall):
    async with Workshop(
        hall, proxy=[send("plumber", "help"), send("proxy", "help"), done("No plumber.")]
    ) as shop:
        await shop.ask("fix it", "proxy")
    error = {
        "error": "unknown agent 'plumber'",
        "remedy": "valid recipients: coder, toolsmith",
    }
    assert json.loads(shop.seen(1)[-1]) == {"result_of": "SendMessage", **error}
    assert "valid recipients: coder, toolsmith" in shop.seen(2)[-1]
    assert shop.events[-1].answer == "No plumber."


async def test_agents_that_send_each_other_in_circles_come_to_an_end(hall):
    proxy = [
        send("coder", "you"),
        send("coder", "no, you"),
        done("gave it back"),
        done("Nobody did it."),
    ]
    async with Workshop(
        hall, proxy=proxy, coder=[send("proxy", "no, you"), done("nothing")]
    ) as shop:
        await shop.ask("do it", "proxy")
    assert (
        json.loads(shop.seen(3)[-1])["error"]
        == "coder is waiting for the result of an earlier message"
    )
    assert [word for word in shop.told if "delegation" in word] == [
        "delegation user to proxy started",
        "1: delegation proxy to coder started",
        "2: delegation coder to proxy started",
        "2: delegation coder to proxy finished",
        "1: delegation proxy to coder finished",
        "delegation user to proxy finished",
    ]
    assert shop.events[-1].answer == "Nobody did it."


async def test_errors_of_the_code_go_back_to_the_model(hall):
    outcomes = (
        Raised(type_name="KeyError", message="'x'", traceback="line 1", stdout="so far"),
        Killed(reason="It used 30 s of processor time."),
    )
    async with Workshop(
        hall, *outcomes, coder=[run("x"), run("y"), run(""), done("gave up trying")]
    ) as shop:
        await shop.ask("try", "coder")
    raised = {
        "outcome": "raised",
        "error": "KeyError: 'x'",
        "traceback": "line 1",
        "printed": "so far",
        "files": [],
    }
    assert json.loads(shop.seen(1)[-1]) == {"result_of": "run_python", **raised}
    assert json.loads(shop.seen(2)[-1])["error"] == "It used 30 s of processor time."
    assert json.loads(shop.seen(3)[-1]) == {
        "result_of": "run_python",
        "error": "code='': String should have at least 1 character",
        "remedy": "call it again",
    }
    assert [e.state for e in shop.events if isinstance(e, CodeRun)] == [
        "started",
        "failed",
        "started",
        "failed",
    ]


async def test_a_broken_sandbox_ends_the_turn_and_never_reaches_the_model(hall):
    async with Workshop(
        hall, SandboxFailed("the engine died"), proxy=[send("coder", "x")], coder=[run("x")]
    ) as shop:
        *_, last = await shop.ask("try", "proxy")
    assert (last.type, last.where, last.kind, last.message) == (
        "turn_failed",
        "coder",
        "sandbox",
        "the engine died",
    )
    assert len(shop.script.requests) == 2
    assert shop.told[-3:] == [
        "1: delegation proxy to coder failed",
        "delegation user to proxy failed",
        "turn_failed",
    ]
    assert shop.thread("user", "proxy").messages == ()


async def test_files_that_are_too_many_can_be_deleted(hall):
    outcomes = (printed("", HELLO), RequestError("there are 11 files; 10 are allowed"))
    replies = [
        run("write"),
        run("more"),
        call("delete_files", names=["hello.py", "x"]),
        done("deleted"),
    ]
    async with Workshop(hall, *outcomes, coder=replies) as shop:
        await shop.ask("tidy", "coder")
    assert json.loads(shop.seen(2)[-1])["error"] == "there are 11 files; 10 are allowed"
    assert json.loads(shop.seen(3)[-1]) == {
        "result_of": "delete_files",
        "files": [],
        "error": "there was no file x",
    }


async def test_stopping_the_turn_ends_the_code_that_runs(hall):
    running, ended = asyncio.Event(), asyncio.Event()

    class Endless(ScriptedSandbox):
        async def execute(self, *arguments, **options):
            running.set()
            try:
                await asyncio.sleep(60)
            finally:
                ended.set()

    async with Workshop(
        hall, proxy=[send("coder", "loop")], coder=[run("while True: pass")], sandbox=Endless()
    ) as shop:
        turn = shop.begin("loop", "proxy")
        await running.wait()
        turn.stop("Stopped on request.")
        *_, last = [event async for event in turn]
        assert last.type == "turn_stopped"
        await asyncio.wait_for(ended.wait(), 5)


async def test_an_agent_that_never_ends_is_ended_after_its_steps(hall):
    async with Workshop(hall, *[printed("")] * 5, coder=run("pass")) as shop:
        *_, last = await shop.ask("loop", "coder")
    assert (last.type, last.where, last.message) == (
        "turn_failed",
        "coder",
        "The coder did not finish within 5 steps.",
    )


async def test_the_toolsmith_serves_agents_with_tools(hall):
    add = call("add_numbers", a=2, b=3)
    proxy = [send("toolsmith", "2 plus 3"), done("5")]
    async with Workshop(
        hall, returned("5"), library=ListedLibrary(tool()), proxy=proxy, decide=[add]
    ) as shop:
        await shop.ask("add 2 and 3 for me", "proxy")
    assert shop.told[3:7] == [
        "2: searching",
        "2: tool_found",
        "2: executing",
        "2: execution_finished",
    ]
    assert (shop.way(), shop.way("2")) == (
        ["gather", "delegate", "respond"],
        ["gather", "search", "execute", "respond"],
    )
    assert [m.content for m in shop.thread("proxy", "toolsmith").messages] == ["2 plus 3", "5"]
    assert json.loads(shop.seen(2)[-1])["text"] == "5"


async def test_what_an_agent_must_know_is_asked_and_answered_in_the_next_turn(hall):
    question = {
        "id": "name",
        "question": "Which name?",
        "why": "for the greeting",
        "answer": "text",
        "options": [],
        "default": None,
    }
    asks = call("ask_person", intro="One thing first.", questions=[question])
    async with Workshop(hall, proxy=[asks, done("Hello Ada")]) as shop:
        *_, last = await shop.ask("greet somebody", "proxy")
        assert (
            QuestionsAsked(
                questions=(Question(**question),), intro="One thing first.", agent="proxy"
            )
            in shop.events
        )
        assert last.answer == "One thing first.\n- **name**: Which name? for the greeting"
        assert shop.way() == ["gather", "delegate", "clarify", "respond"]
        answers = (Answer(id="name", question="Which name?", value="Ada"),)
        *_, last = await shop.ask("Which name? Ada", "proxy", answers=answers, rounds=1)
    assert last.answer == "Hello Ada"
    assert shop.seen(1)[-1] == "The person says:\n<message>\nWhich name? Ada\n</message>"


async def test_agents_cost_a_simple_request_no_call(hall):
    answer = [call("add_numbers", a=2, b=3)]
    async with Workshop(
        hall,
        returned("5"),
        library=ListedLibrary(tool()),
        decide=answer,
        answer=Completion(content="5"),
    ) as shop:
        *_, last = await shop.ask("2 plus 3")
    assert (last.answer, last.usage.calls) == ("5", 2)


def handed_to(agent: str) -> list[Completion]:
    reply = {
        "outcome": "delegate",
        "message": "",
        "specification": None,
        "agent": agent,
        "steps": [],
        "questions": [],
    }
    return [Completion(content=json.dumps(reply))]


async def test_a_script_is_begun_in_the_third_call_and_its_coder_answers(hall):
    replies = [run("print(1)"), done("It prints 1.")]
    none = [call("no_tool_fits", reason="A script is wanted.")]
    async with Workshop(
        hall,
        printed("1\n"),
        library=ListedLibrary(tool()),
        decide=none,
        specification=handed_to("coder"),
        coder=replies,
    ) as shop:
        *_, last = await shop.ask("write me a script")
    assert last.answer == "It prints 1."
    prompts = [request.prompt for request in shop.script.requests]
    assert prompts == ["decide", "specification", "coder", "coder"]


async def test_what_the_coder_must_know_is_asked_by_itself_and_told_to_it(hall):
    question = {"id": "name", "question": "Which name?", "why": "", "answer": "text"}
    asks = call("ask_person", intro="One thing first.", questions=[question])
    async with Workshop(hall, specification=handed_to("coder"), coder=[asks]) as shop:
        await shop.ask("write me a script that greets somebody")
    (asked,) = (event for event in shop.events if isinstance(event, QuestionsAsked))
    assert asked.agent == "coder"


async def test_the_coder_writes_files_as_they_are_and_runs_them_as_a_person_would(hall):
    source = "import sys\n\nprint('Hello', sys.argv[1])\n"
    replies = [
        call("create_file", name="../hello.py", content="x"),
        call("create_file", name="hello.py", content=source),
        call("run_file", name="hallo.py"),
        call("run_file", name="hello.py", arguments=["Ada"]),
        done("It says hello."),
    ]
    async with Workshop(hall, printed("Hello Ada\n", left=("hello.py",)), coder=replies) as shop:
        await shop.ask("greet Ada", "coder")
    results = [json.loads(shop.seen(number)[-1]) for number in range(1, 5)]
    assert "can't be the name of a file" in results[0]["error"]
    assert results[1:] == [
        {"result_of": "create_file", "files": ["hello.py"]},
        {
            "result_of": "run_file",
            "error": "there is no file hallo.py",
            "files": ["hello.py"],
        },
        {
            "result_of": "run_file",
            "outcome": "ended",
            "printed": "Hello Ada\n",
            "files": ["hello.py"],
        },
    ]
    (begun,) = (e for e in shop.events if isinstance(e, CodeRun) and e.state == "started")
    assert begun.code == f"# hello.py Ada\n{source}", "what a person sees running"
    assert shop.sandbox.files == [(File(name="hello.py", content=source.encode()),)]
    assert "files_made hello.py" in "".join(shop.told)


async def test_calls_travel_natively_and_their_code_is_escaped_once(hall):
    replies = [run('print("a\\n")'), done("It prints a.")]
    async with Workshop(hall, printed("a\n"), coder=replies) as shop:
        await shop.ask("print a", "coder")
    *_, made, result = shop.script.requests[1].messages
    (native,) = made["tool_calls"]
    assert made["role"] == "assistant"
    assert json.loads(native["function"]["arguments"]) == {"code": 'print("a\\n")'}
    assert (result["role"], result["tool_call_id"]) == ("tool", native["id"])
    assert json.loads(result["content"])["printed"] == "a\n"


async def test_a_server_without_tool_calling_sees_and_writes_calls_as_text(hall):
    written = [
        Completion(content=json.dumps({"name": name, "arguments": arguments}))
        for name, arguments in (
            ("run_python", {"code": "print(1)"}),
            ("exit", {"outcome": "done", "result": "It prints 1."}),
        )
    ]
    async with Workshop(hall, printed("1\n"), refuses=("tools",), coder=written) as shop:
        *_, last = await shop.ask("print 1", "coder")
    assert last.answer == "It prints 1."
    made, result = shop.script.requests[-1].messages[-2:]
    assert json.loads(made["content"])["name"] == "run_python"
    assert '"result_of": "run_python"' in result["content"]


async def test_code_imports_the_tools_that_it_finds(hall):
    slow = tool("slow_text", "def slow_text():\n    pass\n").model_copy(
        update={"limits": CallLimits(seconds=600)}
    )
    shout = tool(
        "shout_text",
        "from reverse_text import reverse_text\ndef shout_text(text):\n    return text.upper()\n",
    ).model_copy(update={"requires": (Requirement(name="reverse_text", version=1),)})
    code = (
        "import numpy, gone, slow_text\nfrom shout_text import shout_text\nprint(shout_text('a'))"
    )
    async with Workshop(
        hall,
        printed("A"),
        printed(""),
        library=ListedLibrary(REVERSE, slow, shout),
        coder=[call("find_tools", request="shout"), run(code), run("(:"), done("A")],
    ) as shop:
        await shop.ask("shout", agent="coder")
    reply = json.loads(shop.seen(1)[-1])
    assert [found["import"] for found in reply["tools"]] == [
        "from reverse_text import reverse_text",
        "from shout_text import shout_text",
    ]
    assert [sorted(job.library) for job in shop.sandbox.jobs] == [
        ["reverse_text", "shout_text"],
        [],
    ]


async def test_what_a_script_takes_from_the_conversation_is_told_to_its_coder(hall):
    (told,) = handed_to("coder")
    reply = json.dumps({**json.loads(told.content), "message": "The rate is 4.2 %."})
    specification = [Completion(content=reply)]
    async with Workshop(hall, specification=specification, coder=[done("Done.")]) as shop:
        await shop.ask("write a script for that")
    assert (
        "<message>\nwrite a script for that\n(Before that: The rate is 4.2 %.)\n</message>"
        in shop.seen(1)[-1]
    )


async def test_work_that_takes_several_agents_goes_to_the_proxy(hall):
    async with Workshop(hall, specification=handed_to("proxy"), proxy=[done("Done.")]) as shop:
        *_, last = await shop.ask("write me a project")
    assert last.answer == "Done."
    assert shop.way() == ["gather", "search", "specify", "delegate", "respond"]
    assert shop.told[:6] == [
        "turn_started",
        "searching",
        "no_tool_found",
        "synthesis_step started",
        "synthesis_step finished",
        "delegation user to proxy started",
    ]
