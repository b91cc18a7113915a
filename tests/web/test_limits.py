"""The limits of one address at a server: guesses at the token."""

import time
from pathlib import Path
from typing import Any

import pytest
import requests

from selfeng.core.errors import ConfigurationError
from selfeng.core.settings import Settings, load_settings
from tests.web.server_process import ServerProcess
from web.access import RequestRate, WrongTokens


@pytest.mark.parametrize(
    "mode", ["eventlet", pytest.param("threading", marks=pytest.mark.extended)]
)
@pytest.mark.extended
def test_who_guesses_waits_and_who_knows_does_not(tmp_path: Path, mode: Any) -> None:
    server = ServerProcess(tmp_path, mode)

    def seconds(path: str = "/", status: int = 401, **asking: Any) -> float:
        began = time.monotonic()
        assert requests.get(server.url + path, timeout=20, **asking).status_code == status
        return time.monotonic() - began

    with server.program() as program:
        for way in (
            {"headers": {"Authorization": "Bearer wrong"}},
            {"params": {"token": "wrong"}},
            {"headers": {"Authorization": "bearer  x"}},
            {"path": "/share/wrong", "status": 404},
        ):
            assert max(seconds(**way) for _ in range(8)) < 0.25
            assert seconds(**way) + seconds(**way) > 0.7
            began = time.monotonic()
            assert program.get(f"{server.url}/api/v1/tools").status_code == 200
            assert time.monotonic() - began < 0.25
    assert server.end() == (0, "")
    assert server.errors == "WARNING:selfeng.web.access:8 wrong access tokens from 127.0.0.1\n" * 4


def test_wrong_tokens_are_counted_in_bounded_memory_and_each_address_for_itself() -> None:
    counts = WrongTokens()
    waits = [counts.add("192.0.2.1") for _ in range(20)]
    assert waits[:8] == [0.0] * 8
    assert waits[8:12] == [0.25, 0.5, 1.0, 2.0]
    assert set(waits[12:]) == {2.0}
    assert counts.add("192.0.2.2") == 0.0
    counts.forgive("192.0.2.1")
    assert counts.add("192.0.2.1") == 0.0
    for n in range(5000):
        counts.add(f"2001:db8:{n:x}::")
    assert len(counts) == 1000


def test_programs_send_as_many_requests_as_are_allowed_and_as_many_at_once() -> None:
    now = 0.0
    rate = RequestRate(120, clock=lambda: now)
    assert [rate.wait() for _ in range(121)] == [*[0.0] * 120, 0.5]
    now = 0.5
    assert [rate.wait(), rate.wait()] == [0.0, 0.5]
    now = 1000.0
    assert [rate.wait() for _ in range(121)][-2:] == [0.0, 0.5]
    assert RequestRate(0).wait() == 0.0


def test_a_program_that_sends_too_much_is_told_to_wait_and_the_page_is_not(tmp_path: Path) -> None:
    server = ServerProcess(tmp_path, "eventlet", PROGRAM_REQUESTS_PER_MINUTE="2")
    with server.program() as program, server.browser() as page:
        address = f"{server.url}/api/v1/lessons"
        answers = [program.get(address) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        assert answers[-1].json()["error"]["message"] == "programs send too many requests"
        assert int(answers[-1].headers["Retry-After"]) in range(1, 31)
        openai = program.get(f"{server.url}/v1/models")
        assert (openai.status_code, openai.json()["error"]["code"]) == (429, "rate_limit_exceeded")
        assert page.get(address).status_code == 200
        assert requests.get(f"{server.url}/healthz", timeout=20).status_code == 200
    assert server.end() == (0, "")


@pytest.mark.parametrize(
    ("token", "problem"),
    [
        ("1", "has fewer than 16 characters"),
        ("Tr0ub4dor&3", "has fewer than 16 characters"),
        ("a" * 40, "is too easy to guess"),
        ("1234567890123456", "is too easy to guess"),
        ("abcdefghijklmnopqrstuvwxyz", "is too easy to guess"),
        ("passwordpassword", "is too easy to guess"),
        ("abcABC" * 10, "is too easy to guess"),
        ("ababababababababababab", "is too easy to guess"),
    ],
)
def test_a_token_that_can_be_guessed_is_refused_with_how_to_make_one(
    monkeypatch: pytest.MonkeyPatch, token: str, problem: str
) -> None:
    monkeypatch.setenv("ACCESS_TOKEN", token)
    with pytest.raises(ConfigurationError) as caught:
        load_settings(None)
    make = "python3 -c 'import secrets; print(secrets.token_urlsafe(24))'"
    assert (
        caught.value.message
        == f"ACCESS_TOKEN=(hidden): {problem}; leave it empty for a new one at each start, or "
        f"make one: {make}"
    )


@pytest.mark.parametrize(
    "token",
    [
        "rEI7ZW_ruJsoRMJQRXUkmG-almtsM-rI",
        "9f86d081884c7d65",
        "open sesame & come in",
        "3b241101-e2bb-4255-8caf-4136c566a962",
        "8Zq!w3Rt#v7Lp@x2",
    ],
)
def test_a_token_that_was_drawn_is_accepted(token: str) -> None:
    assert Settings(_env_file=None, access_token=token).access_token
