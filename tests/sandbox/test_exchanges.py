"""Recorded exchanges answer the requests of a tool in every run without a network."""

from typing import Any

import pytest

from selfeng.core.http import Exchange
from selfeng.core.verdict import Raised, Returned, SandboxJob, Verdict, Version
from selfeng.sandbox import SecureSandbox
from tests.sandbox.http_world import ORIGIN, DictionaryNetwork, exchange, response

pytestmark = pytest.mark.asyncio(loop_scope="session")

RATES = f"""
import json
from urllib.request import Request, urlopen

def rate(day):
    with urlopen("{ORIGIN}/rates?day=%s&base=EUR" % day) as answer:
        return json.load(answer)["rate"]
"""
DAY_1 = exchange("/rates?base=EUR&day=1", response({"rate": 1.5}))
TESTS = "from rate import rate\n\ndef test_first():\n    assert rate(1) == 1.5\n"
SECOND = "def test_second():\n    assert rate(2) == 2\n"
UNMATCHED = (
    f"no recorded exchange for GET {ORIGIN}/rates?day=2&base=EUR; the nearest differs in the query:"
    " base=EUR&day=1"
)


async def verified(
    sandbox: SecureSandbox, code: str, tests: str, *exchanges: Exchange, name: str = "rate"
) -> Verdict:
    job = SandboxJob(name, code, tests, exchanges=exchanges)
    return await sandbox.verify(job, lambda _: None)


async def test_tests_pass_on_what_was_recorded(sandbox: SecureSandbox) -> None:
    verdict = await verified(sandbox, RATES, TESTS, DAY_1)
    assert (verdict.passed, verdict.problem, verdict.no_exchange) == (True, None, "")


async def test_what_was_not_recorded_fails_its_test_with_the_difference(
    sandbox: SecureSandbox,
) -> None:
    verdict = await verified(sandbox, RATES, TESTS + SECOND, DAY_1)
    assert [t.outcome for t in verdict.tests] == ["passed", "failed"]
    assert UNMATCHED in verdict.tests[1].message
    assert verdict.no_exchange == UNMATCHED


async def test_a_tool_that_catches_the_error_fails_too(sandbox: SecureSandbox) -> None:
    code = RATES + "\ninner = rate\ndef rate(day):\n    try:\n        return inner(day)\n"
    verdict = await verified(
        sandbox, code + "    except OSError:\n        return 2\n", TESTS + SECOND, DAY_1
    )
    assert [(t.outcome, t.message) for t in verdict.tests] == [
        ("passed", ""),
        ("failed", UNMATCHED),
    ]


async def test_versions_are_answered_alike(sandbox: SecureSandbox) -> None:
    job = SandboxJob("rate", tests=TESTS, exchanges=(DAY_1,))
    wrong = RATES.replace("base=EUR", "base=USD")
    versions = [
        Version(code=RATES, order="reversed", replay="thorough", whole=True),
        Version(code=RATES, apart=False),
        Version(code=wrong, apart=False),
        Version(code=RATES.replace('["rate"]', '["rate"] + 1'), apart=False),
    ]
    verdicts = await sandbox.verify_versions(job, versions)
    assert [v.passed for v in verdicts] == [True, True, False, False]
    assert [bool(v.no_exchange) for v in verdicts] == [False, False, True, False]
    assert verdicts[0].replay is not None
    assert verdicts[0].replay.noticed > 0


async def test_a_call_without_network_is_answered_too(sandbox: SecureSandbox) -> None:
    job = SandboxJob("rate", RATES, exchanges=(DAY_1,))
    outcome = await sandbox.execute(job, {"day": 1})
    assert isinstance(outcome, Returned), outcome
    assert (outcome.text, outcome.no_exchange) == ("1.5", "")
    outcome = await sandbox.execute(job, {"day": 2})
    assert isinstance(outcome, Raised), outcome
    assert outcome.message == f"<urlopen error {UNMATCHED}>"
    assert outcome.no_exchange == UNMATCHED
    caught = "def rate():\n    from urllib.request import urlopen\n    try: urlopen('http://x.y')\n"
    outcome = await sandbox.execute(
        SandboxJob("rate", caught + "    except OSError: return 1", exchanges=(DAY_1,)), {}
    )
    assert isinstance(outcome, Returned), outcome
    assert outcome.no_exchange == (
        f"no recorded exchange for GET http://x.y/; the nearest is GET {DAY_1.request.url}"
    )


async def test_a_network_is_used_instead_of_exchanges(sandbox: SecureSandbox) -> None:
    network = DictionaryNetwork(rates=response({"rate": 7}))
    job = SandboxJob("rate", RATES, exchanges=(DAY_1,))
    outcome = await sandbox.execute(job, {"day": 1}, network=network)
    assert isinstance(outcome, Returned), outcome
    assert outcome.text == "7"
    assert len(network.requests) == 1


async def test_a_repeated_request_is_answered_in_order_in_each_call(
    sandbox: SecureSandbox,
) -> None:
    code = f"""
import httpx, requests
def states(count):
    return [requests.get("{ORIGIN}/job").text for _ in range(count)]
"""
    tests = "from states import states\n" + "".join(
        f"def test_{n}():\n    assert states(4) == ['new', 'at work', 'over', 'over']\n"
        for n in range(2)
    )
    exchanges = [exchange("/job", response(text)) for text in ("new", "at work", "over")]
    verdict = await verified(sandbox, code, tests, *exchanges, name="states")
    assert verdict.passed, verdict


SEND = """
def send(method, url, body, headers):
    import httpx
    return httpx.request(method, url, content=body, headers=headers).text
"""
POSTED = exchange("/a?x=1&y=", response("yes"), "POST", '{"a": 1, "b": [2]}')


def _case(recorded: Exchange, method: str, url: str, body: str, difference: str) -> Any:
    return recorded, {"method": method, "url": url, "body": body}, difference


DIFFERENCES = [
    _case(POSTED, "POST", f"{ORIGIN}/a?y=&x=1", '{"b":[2],"a":1}', ""),
    _case(POSTED, "POST", "https://API.example.org:443/%61?x=1&y=#part", '{"a": 1, "b": [2]}', ""),
    _case(POSTED, "POST", f"{ORIGIN}/a?x=1", '{"a": 1, "b": [2]}', "the query: x=1&y="),
    _case(POSTED, "GET", f"{ORIGIN}/a?x=1&y=", '{"a": 1, "b": [2]}', "the method: POST"),
    _case(POSTED, "POST", f"{ORIGIN}/a?x=1&y=", "{}", 'the body: {"a": 1, "b": [2]}'),
    _case(POSTED, "PUT", f"{ORIGIN}/a", "", "the method: POST and the query: x=1&y= and the body:"),
    _case(POSTED, "GET", "https://api.example.org:8443/", "", f"nearest is POST {ORIGIN}/a?x=1&y="),
    _case(
        exchange("/", response("yes"), "POST", "--one\r\n\r\nx\r\n--one--"),
        "POST",
        ORIGIN,
        "--two\r\n\r\nx\r\n--two--",
        "",
    ),
]


@pytest.mark.parametrize(("recorded", "request_fields", "difference"), DIFFERENCES)
async def test_a_request_matches_by_method_address_and_body(
    sandbox: SecureSandbox, recorded: Exchange, request_fields: dict[str, str], difference: str
) -> None:
    job = SandboxJob("send", SEND, exchanges=(recorded,))
    outcome = await sandbox.execute(job, {**request_fields, "headers": {"x-key": "v"}})
    if difference:
        assert isinstance(outcome, Raised), outcome
        assert difference in outcome.message
        assert outcome.no_exchange == outcome.message
    else:
        assert isinstance(outcome, Returned), outcome
        assert outcome.text == "yes"


async def test_the_tests_process_has_neither_network_nor_exchanges(sandbox: SecureSandbox) -> None:
    tests = f"""
from rate import rate
import urllib.request

def test_own_request():
    try:
        urllib.request.urlopen("{DAY_1.request.url}")
    except Exception:
        pass
    assert rate(1) == 1.5
"""
    verdict = await verified(sandbox, RATES, tests, DAY_1)
    assert not verdict.passed
    assert "The suite opens a connection" in str(verdict.problem)


async def test_a_suite_can_import_the_clients(sandbox: SecureSandbox) -> None:
    tests = "import httpx, requests, urllib.request\n" + TESTS
    verdict = await verified(sandbox, RATES, tests, DAY_1)
    assert verdict.passed, verdict


async def test_exchanges_that_are_too_large_are_the_jobs_problem(sandbox: SecureSandbox) -> None:
    large = exchange("/large", response(b"0" * 8 * 1024 * 1024))
    verdict = await verified(sandbox, RATES, TESTS, large, large)
    assert "The job is too large for the sandbox" in str(verdict.problem)
