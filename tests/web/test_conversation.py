"""A page in a conversation: every record once and in order, to the right people, whatever happens
to the connection.
"""

import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import requests

from tests.web.server_process import ServerProcess, of_somebody_else
from web.sockets import _MOST_JOINED


def _texts(records: list[dict]) -> str:
    return "".join(r["event"]["text"] for r in records if r["event"]["type"] == "answer_token")


@pytest.mark.parametrize("transport", ["websocket", "polling"])
def test_a_turn_arrives_whole_and_in_order(
    server: ServerProcess, visitor: requests.Session, transport: str
) -> None:
    with server.socket(visitor, transport) as page:
        asked = page.ask("say to be or not")
        records = page.records(until="turn_finished")
        assert asked == {
            "ok": True,
            "conversation_id": records[0]["conversation_id"],
            "turn_id": records[0]["turn_id"],
        }
        assert [r["seq"] for r in records] == list(range(1, len(records) + 1))
        assert records[0]["event"] == {
            "type": "turn_started",
            "request": "say to be or not",
            "files": [],
            "keeps": "",
            "after": None,
            "agent": "",
            "answers": [],
            "runs": "",
            "disputes": "",
            "schedule": "",
        }
        assert _texts(records) == records[-1]["event"]["answer"] == "tobeornot"
        assert page.follow(asked["conversation_id"]) == records
        assert page.follow(asked["conversation_id"], after=len(records) - 1) == records[-1:]


def test_the_next_turn_continues_the_numbers_of_its_conversation(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        first = page.ask("say one")
        last = page.records(until="turn_finished")[-1]["seq"]
        second = page.ask("say two", first["conversation_id"])
        assert (second["conversation_id"], second["turn_id"] != first["turn_id"]) == (
            first["conversation_id"],
            True,
        )
        assert page.records(until="turn_finished")[0]["seq"] == last + 1


def test_a_socket_receives_records_of_the_conversations_that_it_joined_last(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page, server.socket(visitor) as other:
        asked = [page.ask("say one") for _ in range(_MOST_JOINED + 1)]
        former, last = asked[0]["conversation_id"], asked[-1]["conversation_id"]
        page.records(until="turn_finished", turn_id=asked[-1]["turn_id"])
        turns = []
        for conversation in (former, last):
            turns.append(other.ask("say two", conversation)["turn_id"])
            other.records(until="turn_finished", turn_id=turns[-1])
        received = page.records(until="turn_finished", turn_id=turns[1])
        assert turns[0] not in {record["turn_id"] for record in received}
        page.follow(former)
        again = other.ask("say three", former)["turn_id"]
        page.records(until="turn_finished", turn_id=again)


def test_keeping_a_plan_begins_a_turn_in_its_conversation(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        first = page.ask("say one")
        page.records(until="turn_finished")
        kept = page.call("keep", {"turn_id": first["turn_id"]})
        assert (kept["ok"], kept["conversation_id"]) == (True, first["conversation_id"])
        assert {r["turn_id"] for r in page.records(until="turn_finished")} == {kept["turn_id"]}
        refused = page.call("keep", {"turn_id": "nobody's"})
        assert refused["error"]["message"] == 'unknown turn "nobody\'s"'


def test_marking_an_answer_as_wrong_begins_a_turn_in_its_conversation(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        first = page.ask("say one")
        page.records(until="turn_finished")
        wrong = page.call("wrong", {"turn_id": first["turn_id"], "complaint": "No", "value": "2"})
        assert (wrong["ok"], wrong["conversation_id"]) == (True, first["conversation_id"])
        assert _texts(page.records(until="turn_finished")) == "No2"


def test_making_a_tool_faster_begins_a_conversation_that_is_followed(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        begun = page.call("refactor", {"name": "distinct"})
        assert begun["ok"], begun
        records = page.records(until="turn_finished")
        assert {(r["turn_id"], r["conversation_id"]) for r in records} == {
            (begun["turn_id"], begun["conversation_id"])
        }
        assert _texts(records) == "distinct"


def test_a_call_by_hand_is_a_turn_of_the_conversation_with_its_files(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        first = page.ask("say one")
        page.records(until="turn_finished")
        conversation = {"conversation_id": first["conversation_id"]}
        origin = {"Origin": server.url}
        address = f"{server.url}/api/v1/files?name=a.csv"
        upload = visitor.post(address, data=b"1", headers=origin).json()["id"]
        call = {"name": "add", "arguments": {"a": 2}, "files": [upload]}
        begun = page.call("run", {**call, **conversation})
        assert (begun["ok"], begun["conversation_id"]) == (True, first["conversation_id"])
        events = [r["event"] for r in page.records(until="turn_finished")]
        assert [f["name"] for f in events[0]["files"]] == ["a.csv"]
        assert [e["execution"]["text"] for e in events if e["type"] == "execution_finished"]
        refused = page.call("run", {"name": "nothing", "arguments": {}})
        assert refused["error"]["message"] == "there is no tool 'nothing'"


def test_answers_go_to_the_engine_as_data_and_a_bad_one_is_refused(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        first = page.ask("question")
        asked = page.records(until="turn_finished")[1]["event"]
        assert (asked["type"], [q["id"] for q in asked["questions"]]) == (
            "questions_asked",
            ["unit", "digits"],
        )
        answers = {"unit": "foot", "digits": 2}
        reply = {"text": "Which unit? foot", "conversation_id": first["conversation_id"]}
        assert page.call("ask", {**reply, "answers": answers})["ok"]
        assert page.records(until="turn_finished")[-1]["event"]["answer"] == "unit=footdigits=2"
        refused = page.call("ask", {**reply, "answers": {"unit": "mile"}})
        assert refused["error"]["message"] == "unit='mile' is not one of metre, foot"
        listed = page.call("ask", {**reply, "answers": [{"id": "unit", "value": "foot"}]})
        assert listed["error"]["message"] == "answers: Input should be an object"


def test_a_page_that_comes_back_in_the_middle_of_a_turn_misses_nothing(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        asked = page.ask("hold reload")
        seen = page.records(until="answer_token")
    with server.socket(visitor) as other:
        other.ask("release reload")
    with server.socket(visitor) as page:
        seen += page.whole(asked["conversation_id"], "turn_finished", after=seen[-1]["seq"])
    assert [r["seq"] for r in seen] == list(range(1, len(seen) + 1))
    assert _texts(seen) == "onetwo"


def test_pages_that_connect_again_and_again_during_a_turn_see_everything_once(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        conversation = page.ask("flood 200")["conversation_id"]

    def watch(visits: int) -> str:
        seen: dict[int, dict] = {}
        last = 0
        while not seen or seen[last]["event"]["type"] != "turn_finished":
            with server.socket(visitor) as page:
                fresh = page.follow(conversation, after=last)
                for _ in range(visits):
                    if any(r["event"]["type"] == "turn_finished" for r in fresh):
                        break
                    fresh += page.next("records")["records"]
            for record in fresh:
                assert seen.setdefault(record["seq"], record) == record
            while last + 1 in seen:
                last += 1
        assert sorted(seen) == list(range(1, last + 1))
        return _texts([seen[n] for n in sorted(seen)])

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(watch, [1, 2, 5, 9])) == {"".join(f"{n} " for n in range(200))}


def test_two_turns_run_at_once(server: ServerProcess, visitor: requests.Session) -> None:
    with server.socket(visitor) as page:
        slow = page.ask("hold both")
        quick = page.ask("say fast")
        assert (
            page.records(until="turn_finished", turn_id=quick["turn_id"])[-1]["event"]["answer"]
            == "fast"
        )
        page.ask("release both")
        assert (
            page.records(until="turn_finished", turn_id=slow["turn_id"])[-1]["event"]["answer"]
            == "onetwo"
        )


def test_two_turns_of_one_conversation_run_at_once(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        slow = page.ask("hold same")
        quick = page.ask("say fast", slow["conversation_id"])
        page.records(until="turn_finished", turn_id=quick["turn_id"])
        page.ask("release same")
        page.records(until="turn_finished", turn_id=slow["turn_id"])
        records = page.follow(slow["conversation_id"])
        assert [r["seq"] for r in records] == list(range(1, len(records) + 1))


def test_all_pages_of_one_person_hear_of_a_turn(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as asker, server.socket(visitor) as other:
        conversation = asker.ask("say first")["conversation_id"]
        records = asker.records(until="turn_finished")
        assert other.follow(conversation) == records
        asker.ask("say second", conversation)
        assert other.records(until="turn_finished") == asker.records(until="turn_finished")


def test_a_turn_can_be_stopped(server: ServerProcess, visitor: requests.Session) -> None:
    with server.socket(visitor) as page:
        turn = page.ask("hold stop")["turn_id"]
        page.records(until="answer_token")
        assert page.call("stop", {"turn_id": turn}) == {"ok": True, "stopped": True}
        assert page.records(until="turn_stopped")[-1]["event"]["reason"] == "Stopped on request."
        assert page.call("stop", {"turn_id": turn}) == {"ok": True, "stopped": False}


def test_a_turn_that_fails_says_so(server: ServerProcess, visitor: requests.Session) -> None:
    with server.socket(visitor) as page:
        page.ask("fail")
        assert (
            page.records(until="turn_failed")[-1]["event"]["message"] == "fail is not in the script"
        )


def test_a_database_that_fails_is_told_and_nothing_is_lost(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        conversation = page.ask("break")["conversation_id"]
        assert (
            page.next("error")["message"]
            == "can't write to the database, so this conversation is paused"
        )
        numbered = [r for r in page.records(until="turn_finished") if r["seq"]]
        while not numbered:
            numbered = [r for r in page.records(until="turn_finished") if r["seq"]]
        assert page.follow(conversation) == numbered


def test_nobody_reads_or_continues_what_belongs_to_somebody_else(
    server: ServerProcess, visitor: requests.Session
) -> None:
    foreign = of_somebody_else(server.folder)
    refused = {
        "message": f"unknown conversation {foreign!r}",
        "remedy": "begin a new one",
        "kind": "request",
        "cause": "missing",
        "values": {},
    }
    with server.socket(visitor) as page:
        payload = {"conversation_id": foreign, "after": 0}
        assert page.call("subscribe", payload) == {"ok": False, "error": refused}
        assert page.ask("say hello", foreign) == {"ok": False, "error": refused}
        response = visitor.get(f"{server.url}/api/v1/conversations/{foreign}/records")
        assert (response.status_code, response.json()) == (404, {"error": refused})
        listed = visitor.get(f"{server.url}/api/v1/conversations").json()["conversations"]
        assert foreign not in [c["id"] for c in listed]


def test_a_page_receives_what_it_follows(server: ServerProcess, visitor: requests.Session) -> None:
    with (
        server.browser() as device,
        server.socket(visitor) as page,
        server.socket(device) as other,
    ):
        asked = page.ask("hold apart")
        page.records(until="answer_token")
        own = other.ask("say end")
        heard = other.records(until="turn_finished")
        assert {r["conversation_id"] for r in heard} == {own["conversation_id"]}
        assert other.call("stop", {"turn_id": asked["turn_id"]}) == {"ok": True, "stopped": True}
        page.records(until="turn_stopped", turn_id=asked["turn_id"])


def test_the_library_and_the_status_concern_everybody(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with (
        server.browser() as stranger,
        server.socket(visitor) as page,
        server.socket(stranger) as other,
    ):
        page.ask("grow reverse_text")
        change = {"name": "reverse_text", "change": "added", "reason": "for the test"}
        assert (page.next("library"), other.next("library")) == (change, change)
        if page.ask("sandbox off") and (status := other.next("status")):
            assert status["sandbox"] == {
                "available": False,
                "backend": "none",
                "detail": "no engine answers",
                "not_guaranteed": {},
            }
            assert visitor.get(f"{server.url}/api/v1/health").json() == status


def test_what_is_being_set_up_is_told_at_once_and_waited_for(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        page.ask("prepare it")
        while (status := page.next("status"))["unready"][1]["total"] == 0 or status["unready"][0][
            "state"
        ] != "failed":
            pass
        remedy = (
            "the package registry can't be reached. What to do: connect this machine to the network"
        )
        assert status["unready"] == [
            {"part": "search", "state": "failed", "detail": remedy, "done": 0, "total": 0},
            {
                "part": "sandbox",
                "state": "working",
                "detail": "3 of 15 tools verified",
                "done": 3,
                "total": 15,
            },
        ]
        page.ask("release it")
        while len((status := page.next("status"))["unready"]) > 1:
            pass


def test_a_page_that_comes_back_sees_the_place_in_the_queue_once(
    server: ServerProcess, visitor: requests.Session
) -> None:
    with server.socket(visitor) as page:
        asked = page.ask("queue places")
        seen = page.records(until="turn_queued")
    with server.socket(visitor) as page:
        seen += page.follow(asked["conversation_id"], after=seen[-1]["seq"])
        page.ask("release places")
        seen += page.records(until="turn_finished", turn_id=asked["turn_id"])
    records = {r["seq"]: r["event"] for r in seen if r["turn_id"] == asked["turn_id"]}
    places = [e["place"] for _, e in sorted(records.items()) if e["type"] == "turn_queued"]
    assert places == [3, 2, 0]


def test_a_full_queue_says_what_to_do(server: ServerProcess, visitor: requests.Session) -> None:
    with server.socket(visitor) as page:
        error = {
            "message": "the queue is full, with 66 requests of yours waiting",
            "remedy": "wait until one of them runs, or stop one",
            "kind": "request",
            "cause": "full",
            "values": {},
        }
        assert page.ask("too many") == {"ok": False, "error": error}


@pytest.mark.parametrize(
    ("with_signal", "exit_code", "reason"),
    [
        pytest.param(signal.SIGTERM, 0, "Stopped on request.", marks=pytest.mark.extended),
        (signal.SIGKILL, -9, "The server ended while this was running."),
    ],
)
def test_conversations_outlive_the_server_and_access_does_not(
    tmp_path: Path, with_signal: int, exit_code: int, reason: str
) -> None:
    first = ServerProcess(tmp_path, "eventlet")
    with first.browser() as session:
        with first.socket(session) as page:
            conversation = page.ask("hold on")["conversation_id"]
            page.records(until="answer_token")
        port = first.url.rpartition(":")[2]
        assert first.end(with_signal) == (exit_code, "")
        second = ServerProcess(tmp_path, "eventlet", FLASK_PORT=port)
        assert session.get(f"{second.url}/api/v1/conversations").status_code == 401
        assert session.get(second.link).status_code == 200
        assert [
            c["id"]
            for c in session.get(f"{second.url}/api/v1/conversations").json()["conversations"]
        ] == [conversation]
        records = session.get(f"{second.url}/api/v1/conversations/{conversation}/records").json()[
            "records"
        ]
        assert [r["event"]["type"] for r in records] == [
            "turn_started",
            "answer_token",
            "turn_stopped",
        ]
        assert records[-1]["event"]["reason"] == reason
    assert second.end() == (0, "")


def test_a_request_that_is_sent_again_is_the_turn_that_it_began(
    server: ServerProcess, visitor: requests.Session
) -> None:
    request = {"text": "say once", "request_id": "r1"}
    with server.socket(visitor) as page, server.socket(visitor) as other:
        with ThreadPoolExecutor() as pool:
            sent = [pool.submit(one.call, "ask", request, 20) for one in (page, other)]
        first, again = (one.result() for one in sent)
        assert first["ok"]
        assert again == first
        # The second request joined when the turn was under way, or over.
        records = page.whole(first["conversation_id"], "turn_finished")
        assert page.call("ask", request, timeout=20) == first
        assert page.follow(first["conversation_id"]) == records
        assert [r["event"]["type"] for r in records].count("turn_started") == 1
