"""The lessons over HTTP: read, reworded and deleted, and every page is told."""

from typing import Any

import pytest
import requests

from tests.web.fake_engine import LESSON
from tests.web.server_process import ServerProcess
from web.payloads import plain


def test_lessons_are_read_reworded_and_deleted_and_every_page_is_told(
    server: ServerProcess, visitor: requests.Session
) -> None:
    address, own = f"{server.url}/api/v1/lessons", {"Origin": server.url}
    line = {**plain(LESSON), "evidence": 2}
    assert visitor.get(address).json() == {"lessons": [line]}
    words = {"trigger": "floats", "advice": "Compare with approx."}
    for changes in ({}, {"Origin": "http://elsewhere.example"}):
        assert visitor.patch(f"{address}/l1", json=words, headers=changes).status_code == 403
        assert visitor.delete(f"{address}/l1", headers=changes).status_code == 403
    with server.socket(visitor) as page:
        assert visitor.patch(f"{address}/l1", json=words, headers=own).json() == {**line, **words}
        assert page.next("lessons") == {}
        assert visitor.delete(f"{address}/l1", headers=own).json() == {}
        assert page.next("lessons") == {}
    assert visitor.get(address).json() == {"lessons": []}
    for response in (
        visitor.patch(f"{address}/l1", json=words, headers=own),
        visitor.delete(f"{address}/l1", headers=own),
    ):
        assert (response.status_code, response.json()["error"]["message"]) == (
            404,
            "there is no lesson 'l1'",
        )


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "the body is not JSON"),
        (b"[]", "the body is not a JSON object"),
        (b'{"trigger": "a"}', "advice: Field required"),
        (b'{"trigger": " ", "advice": "b"}', "trigger=' ': String should match pattern"),
        (
            b'{"trigger": "a", "advice": "%s"}' % (b"x" * 401),
            "advice: String should have at most 400 characters",
        ),
        (b'{"trigger": "a", "advice": "b", "weight": 1}', "weight: Extra inputs are not permitted"),
    ],
)
def test_words_that_cannot_be_used_are_refused(
    server: ServerProcess, visitor: requests.Session, body: bytes, problem: str
) -> None:
    response = visitor.patch(
        f"{server.url}/api/v1/lessons/l1", data=body, headers={"Origin": server.url}
    )
    error: dict[str, Any] = response.json()["error"]
    assert (response.status_code, error["message"].startswith(problem)) == (400, True), error
    assert error["remedy"] == "send {trigger, advice}"
