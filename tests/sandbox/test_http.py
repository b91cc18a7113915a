"""The HTTP of tools: ordinary code runs unchanged, and its requests are answered by the host."""

import asyncio
import json
import textwrap
from dataclasses import replace
from typing import Any

import pytest

from sandbox_worker.http_transport import LARGEST_REQUEST, LARGEST_RESPONSE, MOST_REQUESTS
from selfeng.core.http import HttpRequest, HttpResponse
from selfeng.core.verdict import Execution, Killed, Raised, Returned, SandboxJob
from selfeng.sandbox import SecureSandbox
from tests.sandbox.http_world import ORIGIN, DictionaryNetwork, echo, exchange, response

pytestmark = pytest.mark.asyncio(loop_scope="session")


def moved(request: HttpRequest) -> HttpResponse:
    return response({"moved": True}, url=f"{ORIGIN}/new?a=1")


def paths() -> dict[str, Any]:
    return {
        "missing": response({"error": "none"}, 404, x_reason="gone"),
        "text": response("one\ntwo\nthree\n", content_type="text/plain; charset=utf-8"),
        "umlaut": response("gr\u00fcn", content_type="text/plain; charset=utf-8"),
        "bytes": response(bytes(range(256)) * 100, content_type="application/octet-stream"),
        "decoded": response({"a": 1}, content_encoding="gzip", transfer_encoding="chunked"),
        "empty": response(b"", 204),
        "cookies": response({}, set_cookie="a=b; Path=/"),
        "moved": moved,
    }


async def call(
    sandbox: SecureSandbox, body: str, network: DictionaryNetwork | None = None, **arguments: object
) -> Execution:
    code = f"def tool():\n{textwrap.indent(body, '    ')}\n"
    return await sandbox.execute(SandboxJob("tool", code), arguments, network=network)


URLLIB = (
    "from urllib.request import Request, urlopen\nfrom urllib.error import HTTPError\nimport json\n"
)
REQUESTS = "import requests\n"
HTTPX = "import asyncio, httpx\n"

RETURNS = {
    "urlopen": (URLLIB + "return json.load(urlopen(A + '/a?x=1'))['url']", f"{ORIGIN}/a?x=1"),
    "urlopen as a context": (
        URLLIB + "with urlopen(A + '/text', timeout=5) as r: return [r.status, r.read().decode()]",
        [200, "one\ntwo\nthree\n"],
    ),
    "lines of urlopen": (
        URLLIB + "return [line.decode() for line in urlopen(A + '/text')]",
        ["one\n", "two\n", "three\n"],
    ),
    "headers of urlopen": (
        URLLIB + "r = urlopen(A + '/a'); return [r.headers['Content-Type'], r.getcode()]",
        ["application/json", 200],
    ),
    "Request with data": (
        URLLIB
        + "q = Request(A + '/a', data=b'{}', headers={'X-Key': 'v'}, method='PUT')\n"
        + "g = json.load(urlopen(q)); return [g['method'], g['body'], g['headers']['x-key']]",
        ["PUT", "{}", "v"],
    ),
    "HTTPError": (
        URLLIB
        + "try: urlopen(A + '/missing')\n"
        + "except HTTPError as e: return [e.code, json.load(e), e.headers['X-Reason'], e.reason]",
        [404, {"error": "none"}, "gone", "Not Found"],
    ),
    "urlopen follows": (
        URLLIB + "r = urlopen(A + '/moved'); return [r.url, json.load(r)]",
        [f"{ORIGIN}/new?a=1", {"moved": True}],
    ),
    "urlretrieve": (
        "from urllib.request import urlretrieve\n"
        "urlretrieve(A + '/bytes', 'b.bin'); return len(open('b.bin', 'rb').read())",
        25600,
    ),
    "http.client": (
        "import http.client\nc = http.client.HTTPSConnection('api.example.org', timeout=9)\n"
        "c.request('POST', '/a', body=iter([b'0\\r\\n', b'b']), headers={'A': 'b'}, "
        "encode_chunked=True)\n"
        "r = c.getresponse(); import json; g = json.load(r)\n"
        "c.request('HEAD', '/text'); h = c.getresponse()\n"
        "return [r.status, r.reason, g['body'], h.status]",
        [200, "OK", "0\r\nb", 200],
    ),
    "requests.get": (
        REQUESTS + "r = requests.get(A + '/a', params={'q': 'x y', 'n': 2}, timeout=5)\n"
        "return [r.ok, r.json()['url'], r.headers['content-type']]",
        [True, f"{ORIGIN}/a?q=x+y&n=2", "application/json"],
    ),
    "requests.post": (
        REQUESTS + "g = requests.post(A + '/a', json={'a': 1}, auth=('u', 'p')).json()\n"
        "return [g['body'], g['headers']['authorization'], g['headers']['content-type']]",
        ['{"a": 1}', "Basic dTpw", "application/json"],
    ),
    "a form of requests": (
        REQUESTS + "g = requests.post(A + '/a', data={'a': 1}, files={'f': b'x'}).json()\n"
        "return g['body'].count('form-data')",
        2,
    ),
    "a session": (
        REQUESTS
        + "with requests.Session() as s:\n"
        + "    s.headers['X-Key'] = 'v'\n"
        + "    s.get(A + '/cookies')\n"
        + "    g = s.get(A + '/a').json()['headers']\n"
        + "return [g['x-key'], g['cookie']]",
        ["v", "a=b"],
    ),
    "raise_for_status": (
        REQUESTS + "r = requests.get(A + '/missing')\n"
        "try: r.raise_for_status()\n"
        "except requests.HTTPError as e: return [e.response.status_code, str(e), r.json()]",
        [404, f"404 Client Error: Not Found for url: {ORIGIN}/missing", {"error": "none"}],
    ),
    "iter_content": (
        REQUESTS + "with requests.get(A + '/bytes', stream=True) as r:\n"
        "    return [len(c) for c in r.iter_content(10000)]",
        [10000, 10000, 5600],
    ),
    "iter_lines": (
        REQUESTS + "return list(requests.get(A + '/text').iter_lines(decode_unicode=True))",
        ["one", "two", "three"],
    ),
    "requests follows": (
        REQUESTS + "r = requests.get(A + '/moved'); return [r.url, r.json(), len(r.history)]",
        [f"{ORIGIN}/new?a=1", {"moved": True}, 1],
    ),
    "requests without redirects": (
        REQUESTS + "r = requests.get(A + '/moved', allow_redirects=False)\n"
        "return [r.status_code, r.headers['Location']]",
        [302, f"{ORIGIN}/new?a=1"],
    ),
    "nothing is decoded twice": (
        REQUESTS + "import httpx\n"
        "return [requests.get(A + '/decoded').json(), httpx.get(A + '/decoded').json()]",
        [{"a": 1}, {"a": 1}],
    ),
    "nothing to read": (
        REQUESTS + "r = requests.delete(A + '/empty'); return [r.status_code, r.text]",
        [204, ""],
    ),
    "the text of requests": (REQUESTS + "return requests.get(A + '/umlaut').text", "gr\u00fcn"),
    "a read timeout of requests": (
        REQUESTS + "try: requests.get(A + '/never', timeout=(5, 0.1))\n"
        "except requests.exceptions.ReadTimeout as e: return 'late'",
        "late",
    ),
    "httpx.get": (
        HTTPX + "r = httpx.get(A + '/a', params={'q': 'x'}, timeout=5)\n"
        "return [r.status_code, r.json()['url'], r.reason_phrase]",
        [200, f"{ORIGIN}/a?q=x", "OK"],
    ),
    "a client of httpx": (
        HTTPX + "with httpx.Client(base_url=A, headers={'x-key': 'v'}) as c:\n"
        "    g = c.post('/a', json={'a': 1}).json()\n"
        "    return [g['body'], g['headers']['x-key'], c.get('/umlaut').text]",
        ['{"a":1}', "v", "gr\u00fcn"],
    ),
    "several at once": (
        HTTPX + "async def all():\n"
        "    async with httpx.AsyncClient() as c:\n"
        "        return await asyncio.gather(*(c.get(A + f'/{n}') for n in range(20)))\n"
        "return [r.json()['url'] for r in asyncio.run(all())]",
        [f"{ORIGIN}/{n}" for n in range(20)],
    ),
    "a stream of httpx": (
        HTTPX + "with httpx.stream('GET', A + '/text') as r: return [*r.iter_lines()]",
        ["one", "two", "three"],
    ),
    "raise_for_status of httpx": (
        HTTPX + "try: httpx.get(A + '/missing').raise_for_status()\n"
        "except httpx.HTTPStatusError as e: return e.response.json()",
        {"error": "none"},
    ),
    "httpx follows": (
        HTTPX + "r = httpx.get(A + '/moved', follow_redirects=True)\n"
        "return [str(r.url), r.json(), httpx.get(A + '/moved').status_code]",
        [f"{ORIGIN}/new?a=1", {"moved": True}, 302],
    ),
    "a timeout of httpx": (
        HTTPX + "try: httpx.get(A + '/never', timeout=0.1)\n"
        "except httpx.TimeoutException as e: return type(e).__name__",
        "ReadTimeout",
    ),
    "a timeout of urlopen": (
        URLLIB + "try: urlopen(A + '/never', timeout=0.1)\nexcept TimeoutError as e: return str(e)",
        "timed out",
    ),
    "threads": (
        REQUESTS + "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    urls = [A + f'/{n}' for n in range(40)]\n"
        "    return [r.json()['url'] for r in pool.map(requests.get, urls)] == urls",
        True,
    ),
    "pandas": (
        "import pandas\nreturn pandas.read_csv(A + '/text').columns.tolist()",
        ["one"],
    ),
    "plain http": (
        REQUESTS + "return requests.get('http://api.example.org:8080/').json()['url']",
        "http://api.example.org:8080/",
    ),
}


@pytest.mark.parametrize("name", RETURNS)
async def test_ordinary_code_runs_unchanged(sandbox: SecureSandbox, name: str) -> None:
    body, expected = RETURNS[name]
    network = DictionaryNetwork(**paths())
    outcome = await call(sandbox, f"A = {ORIGIN!r}\n{body}", network)
    assert isinstance(outcome, Returned), outcome
    assert json.loads(outcome.data or "null") == expected
    assert outcome.stdout == ""


REFUSED = "no consent for other.example.org: only for api.example.org"
LATE = "api.example.org did not answer in 20 s"
RAISES = [
    (URLLIB + "urlopen('https://other.example.org/')", "URLError", REFUSED),
    (REQUESTS + "requests.get('https://other.example.org/')", "ConnectionError", REFUSED),
    (HTTPX + "httpx.get('https://other.example.org/')", "ConnectError", REFUSED),
    (URLLIB + "urlopen(A + '/late')", "TimeoutError", LATE),
    (REQUESTS + "requests.get(A + '/late')", "ReadTimeout", ""),
    (HTTPX + "httpx.get(A + '/late')", "ReadTimeout", LATE),
    (
        REQUESTS + f"requests.post(A, data=b'0' * ({LARGEST_REQUEST} + 1))",
        "ConnectionError",
        f"a request to api.example.org has {LARGEST_REQUEST + 1} bytes",
    ),
    (
        HTTPX + f"c = httpx.Client()\nfor n in range({MOST_REQUESTS} + 1): c.get(A)",
        "ConnectError",
        f"a request to api.example.org follows {MOST_REQUESTS} others",
    ),
    (
        "import http.client\nhttp.client.HTTPSConnection('api.example.org').request('TRACE', '/')",
        "ConnectionError",
        "the request is malformed: method='TRACE'",
    ),
]


@pytest.mark.parametrize(("body", "type_name", "message"), RAISES)
async def test_a_refusal_is_an_error_of_the_client(
    sandbox: SecureSandbox, body: str, type_name: str, message: str
) -> None:
    outcome = await call(sandbox, f"A = {ORIGIN!r}\n{body}", DictionaryNetwork())
    assert isinstance(outcome, Raised), outcome
    assert outcome.type_name == type_name
    assert message in outcome.message


@pytest.mark.parametrize(
    "body",
    [
        URLLIB + "urlopen('https://api.example.org/')",
        REQUESTS + "requests.get('https://api.example.org/')",
        HTTPX + "httpx.get('https://api.example.org/')",
    ],
)
async def test_without_network_the_error_names_the_host(sandbox: SecureSandbox, body: str) -> None:
    outcome = await call(sandbox, body)
    assert isinstance(outcome, Raised), outcome
    assert "no consent for api.example.org: this code was granted no network" in outcome.message
    assert outcome.no_exchange == ""


async def test_large_bodies_pass_both_ways(sandbox: SecureSandbox) -> None:
    large = DictionaryNetwork(large=response(b"7" * LARGEST_RESPONSE))
    body = f"import requests\nr = requests.post('{ORIGIN}/large', data=b'0' * {LARGEST_REQUEST})\n"
    outcome = await call(sandbox, f"{body}return len(r.content)", large)
    assert isinstance(outcome, Returned), outcome
    assert outcome.text == str(LARGEST_RESPONSE)
    assert len(large.requests[0].body) == (LARGEST_REQUEST + 2) // 3 * 4


async def test_a_response_that_is_too_large_is_refused(sandbox: SecureSandbox) -> None:
    large = DictionaryNetwork(large=response(b"7" * (LARGEST_RESPONSE + 10)))
    outcome = await call(sandbox, f"import httpx\nhttpx.get('{ORIGIN}/large')", large)
    assert isinstance(outcome, Raised), outcome
    assert f"larger than {LARGEST_RESPONSE} bytes" in outcome.message


async def test_waiting_for_the_host_prolongs_the_limits(impatient: SecureSandbox) -> None:
    async def slow(sandbox: SecureSandbox) -> Execution:
        network = DictionaryNetwork()
        answered = asyncio.Event()

        async def send(request: HttpRequest) -> HttpResponse:
            await asyncio.sleep(4)  # the sandbox lets code wait for three seconds
            answered.set()
            return echo(request)

        network.send = send  # type: ignore[method-assign]
        return await call(
            sandbox, f"import urllib.request as u\nreturn u.urlopen('{ORIGIN}').status", network
        )

    outcome = await slow(impatient)
    assert isinstance(outcome, Returned), outcome
    assert outcome.text == "200"


async def test_a_process_of_the_tools_sends_nothing(sandbox: SecureSandbox) -> None:
    body = f"""
import os, urllib.request
read, write = os.pipe()
if os.fork() == 0:
    try: urllib.request.urlopen('{ORIGIN}')
    except OSError as error: os.write(write, str(error).encode())
    os._exit(0)
return os.read(read, 1000).decode()
"""
    outcome = await call(sandbox, body, DictionaryNetwork())
    assert isinstance(outcome, Returned), outcome
    assert "comes from a process that the tool started; use threads" in outcome.text


async def test_the_end_of_a_call_cancels_its_requests(sandbox: SecureSandbox) -> None:
    network = DictionaryNetwork()
    body = f"""
import threading, urllib.request
threading.Thread(target=urllib.request.urlopen, args=['{ORIGIN}/never'], daemon=True).start()
urllib.request.urlopen('{ORIGIN}/a')
return 1
"""
    outcome = await call(sandbox, body, network)
    assert isinstance(outcome, Returned), outcome
    await network.hangs.wait()
    assert network.cancelled == 1
    assert isinstance(await call(sandbox, "return 2"), Returned)


async def test_an_error_of_the_network_is_no_outcome_of_the_tool(sandbox: SecureSandbox) -> None:
    def broken(request: HttpRequest) -> HttpResponse:
        raise ValueError("the database is away")

    body = f"import urllib.request\nurllib.request.urlopen('{ORIGIN}/broken')"
    with pytest.raises(ValueError, match="the database is away"):
        await call(sandbox, body, DictionaryNetwork(broken=broken))


async def test_a_call_that_may_have_changed_something_is_not_repeated(
    impatient: SecureSandbox,
) -> None:
    body = f"import time, urllib.request as u\nu.urlopen('{ORIGIN}', b'')\ntime.sleep(60)"
    for repeatable, times in ((False, 1), (True, 2)):
        network = DictionaryNetwork(repeatable)
        assert isinstance(await call(impatient, body, network), Killed)
        assert len(network.requests) == times


async def test_the_next_call_of_a_session_is_answered_by_its_own_exchanges(
    sandbox: SecureSandbox,
) -> None:
    code = f"""
def tool():
    import requests
    return requests.get("{ORIGIN}/a").text
"""
    job = SandboxJob("tool", code, session="http")
    for sources in ({"network": DictionaryNetwork(a=response("one"))}, {}):
        outcome = await sandbox.execute(
            replace(job, exchanges=(exchange("/a", response("two")),)),
            {},
            **sources,  # type: ignore[arg-type]
        )
        assert isinstance(outcome, Returned), outcome
        assert outcome.text == ("one" if sources else "two")


async def test_two_calls_of_a_session_send_requests(sandbox: SecureSandbox) -> None:
    body = f"""
import requests, sys
sys.calls = getattr(sys, "calls", 0) + 1
return [sys.calls, requests.get("{ORIGIN}/a").json()["url"]]
"""
    job = SandboxJob("tool", f"def tool():\n{textwrap.indent(body, '    ')}", session="both")
    for number in (1, 2):
        outcome = await sandbox.execute(job, {}, network=DictionaryNetwork())
        assert isinstance(outcome, Returned), outcome
        assert json.loads(outcome.data or "") == [number, f"{ORIGIN}/a"]


ERRORS = {
    "a refused status in requests": (
        "import requests\ndef tool():\n    requests.get(A + '/missing').raise_for_status()\n",
        "import requests\n",
        "requests.HTTPError",
        "caught.value.response.status_code == 404",
    ),
    "a refused status in httpx": (
        "import httpx\ndef tool():\n    httpx.get(A + '/missing').raise_for_status()\n",
        "import httpx\n",
        "httpx.HTTPStatusError",
        "caught.value.response.status_code == 404",
    ),
    "an error of its own, of a package's class": (
        "import requests\nclass Gone(requests.ConnectionError): pass\n"
        "def tool():\n    raise Gone('away')\n",
        "import requests\n",
        "requests.exceptions.RequestException",
        "str(caught.value) == 'away'",
    ),
    "one that the tests import late": (
        "import requests\ndef tool():\n    requests.get(A + '/missing').json()\n",
        "",
        "__import__('requests').exceptions.JSONDecodeError",
        "caught.value.pos == 0",
    ),
}


@pytest.mark.parametrize(("code", "imports", "error", "check"), ERRORS.values(), ids=ERRORS.keys())
async def test_suites_know_the_exceptions_of_packages(
    sandbox: SecureSandbox, code: str, imports: str, error: str, check: str
) -> None:
    tests = (
        f"import pytest\n{imports}from tool import tool\n\n\ndef test_error():\n"
        "    with pytest.raises(Exception):\n        tool()\n"
        f"    with pytest.raises({error}) as caught:\n        tool()\n    assert {check}\n"
    )
    recorded = exchange("/missing", response("no such thing", 404))
    job = SandboxJob("tool", f"A = {ORIGIN!r}\n{code}", tests, exchanges=(recorded,))
    verdict = await sandbox.verify(job, lambda result: None)
    assert verdict.passed, verdict
