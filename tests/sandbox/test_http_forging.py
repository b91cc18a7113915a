"""Tools that misuse the frames of HTTP: nothing of it reaches the host or the next call."""

import pytest

from sandbox_worker.http_transport import LARGEST_REQUEST, LARGEST_RESPONSE, MOST_REQUESTS
from selfeng.core.verdict import Execution, Killed, Raised, Returned, SandboxJob, Version
from selfeng.sandbox import SecureSandbox
from tests.sandbox.http_world import ORIGIN, DictionaryNetwork, exchange, response

pytestmark = pytest.mark.asyncio(loop_scope="session")

SEND = f"""
import json, os, struct

def frame(**fields):
    body = json.dumps(fields).encode()
    return struct.pack(">I", len(body)) + body

def request(number, url="{ORIGIN}/a", method="GET", headers=(), body=""):
    fields = {{"method": method, "url": url, "headers": list(headers), "body": body}}
    return frame(number=number, request=fields)

def write(data):
    while data:
        data = data[os.write(3, data):]

def nested(depth):
    return json.loads("[" * depth + "]" * depth)
"""


async def attack(
    sandbox: SecureSandbox, body: str, network: DictionaryNetwork, **job: str
) -> Execution:
    """The outcome of a call that does this. The next one must work."""
    code = SEND + "\ndef tool():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    outcome = await sandbox.execute(SandboxJob("tool", code, **job), {}, network=network)
    after = DictionaryNetwork()
    following = f"import urllib.request as u\ndef tool(): return u.urlopen('{ORIGIN}/b').read()"
    healthy = await sandbox.execute(SandboxJob("tool", following), {}, network=after)
    assert isinstance(healthy, Returned), healthy
    assert [r.url for r in after.requests] == [f"{ORIGIN}/b"]
    return outcome


WAIT = "\nimport time\ntime.sleep(60)"
MALFORMED = "The tool's process sent a malformed request."
ENDED = {
    "another number": ("write(request(7))", MALFORMED),
    "a number of another type": ("write(request(1.0))", MALFORMED),
    "a number twice": ("write(request(1) + request(1))", MALFORMED),
    "no number": ("write(frame(request={}))", MALFORMED),
    "no fields": ("write(frame(number=1, request=[]))", MALFORMED),
    "deep headers": ("write(request(1, headers=nested(400)))", MALFORMED),
    "headers of three": ("write(request(1, headers=[['a', 'b', 'c']]))", MALFORMED),
    "long headers": ("write(request(1, headers=[['a', 'b' * 10**5]]))", MALFORMED),
    "a large body": (f"write(request(1, body='0' * {LARGEST_REQUEST * 2}))", MALFORMED),
    "a deep frame": (
        "data = b'{\"request\":' + b'[' * 10**5\nwrite(struct.pack('>I', len(data)) + data)",
        "The tool's process cut itself off from the judge.",
    ),
    "a huge frame": (
        "write(struct.pack('>I', 2**31))",
        "The tool's process cut itself off from the judge.",
    ),
    "a flood": (f"for n in range(1, {MOST_REQUESTS + 2}): write(request(n))", MALFORMED),
    "an end with a nonce": (
        "write(frame(nonce='0' * 32, kind='end', execution={'outcome': 'returned'}))",
        "The tool's process reported a malformed outcome.",
    ),
    "an answer": (
        "write(frame(number=1, response={}))",
        "The tool's process reported a malformed outcome.",
    ),
}


@pytest.mark.parametrize("name", ENDED)
async def test_a_forged_frame_ends_the_call(sandbox: SecureSandbox, name: str) -> None:
    body, reason = ENDED[name]
    network = DictionaryNetwork()
    outcome = await attack(sandbox, body + WAIT, network)
    assert isinstance(outcome, Killed), outcome
    assert outcome.reason == reason
    assert len(network.requests) <= (MOST_REQUESTS if name == "a flood" else 1)


async def test_answers_that_nobody_reads_end_with_the_time(impatient: SecureSandbox) -> None:
    network = DictionaryNetwork(a=response(b"7" * LARGEST_RESPONSE))
    body = "import signal\nfor n in range(1, 101): write(request(n))\n"
    body += "os.kill(os.getpid(), signal.SIGSTOP)  # all of its threads"
    outcome = await attack(impatient, body, network)
    assert isinstance(outcome, Killed), outcome
    assert outcome.reason.startswith("It did not end within ")
    assert len(network.requests) < 2 * 20  # in two tries


LATER = """
import threading, time
def flood():
    n = 0
    while True:
        n += 1
        write(request(n))
threading.Thread(target=flood, daemon=True).start()
time.sleep(0.01)
"""


async def test_a_thread_that_goes_on_sending_ends_with_its_call(sandbox: SecureSandbox) -> None:
    outcome = await attack(sandbox, LATER + "return 1", DictionaryNetwork())
    assert isinstance(outcome, Returned | Killed), outcome
    for number in range(3):
        outcome = await attack(
            sandbox, LATER + "return 1", DictionaryNetwork(), session=f"later {number}"
        )
        assert isinstance(outcome, Returned | Killed), outcome


async def test_a_process_of_the_tools_has_the_grants_of_the_call_only(
    sandbox: SecureSandbox,
) -> None:
    body = """
if os.fork() == 0:
    write(request(1, "https://other.example.org/"))
    os._exit(0)
os.wait()
import time
time.sleep(0.5)
return 1
"""
    network = DictionaryNetwork()
    assert isinstance(await attack(sandbox, body, network), Returned)
    assert [r.url for r in network.requests] == ["https://other.example.org/"]


async def test_a_tool_that_answers_itself_deceives_nobody_else(sandbox: SecureSandbox) -> None:
    body = f"""
from sandbox_worker.http_transport import ClientResponse, HttpTransport
HttpTransport.send = lambda self, *_: ClientResponse(200, [], b"own")
import urllib.request
return urllib.request.urlopen("{ORIGIN}/a").read().decode()
"""
    network = DictionaryNetwork()
    outcome = await attack(sandbox, body, network)
    assert isinstance(outcome, Returned), outcome
    assert (outcome.text, network.requests) == ("own", [])


async def test_a_call_cannot_read_the_responses_of_another(sandbox: SecureSandbox) -> None:
    secret = DictionaryNetwork(a=response("the secret of another call"))
    await attack(sandbox, "for n in range(1, 30): write(request(n))\nreturn 1", secret)
    body = """
import fcntl, select, time
time.sleep(0.3)
seen = []
for number in range(3, 20):
    try:
        if select.select([number], [], [], 0)[0]:
            seen.append(os.read(number, 1000).decode(errors="replace"))
    except OSError:
        pass
return seen
"""
    outcome = await sandbox.execute(
        SandboxJob("tool", SEND + "\ndef tool():\n" + body.replace("\n", "\n    ")), {}
    )
    assert isinstance(outcome, Returned), outcome
    assert outcome.data == "[]"


SOCKETS = [
    "import socket\nsocket.create_connection(('1.1.1.1', 443))",
    "import socket\nsocket.getaddrinfo('api.example.org', 443)",
    "import socket\nsocket.socket(socket.AF_INET6, socket.SOCK_DGRAM)",
    "import socket\nsocket.socket(socket.AF_UNIX)",
    "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    "if libc.socket(2, 1, 0) < 0: raise OSError(ctypes.get_errno(), 'refused')",
    "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\n"
    "if libc.ptrace(16, 1, 0, 0) < 0: raise OSError(ctypes.get_errno(), 'refused')",
    "channels = [f'/proc/1/fd/{n}' for n in os.listdir('/proc/1/fd')]\n"
    "os.open(next(c for c in channels if 'socket' in os.readlink(c)), os.O_RDWR)",
]
"""The last lists the judge's descriptors, which gVisor allows, and opens its channel."""


@pytest.mark.parametrize("body", SOCKETS)
async def test_a_network_opens_no_socket(sandbox: SecureSandbox, body: str) -> None:
    network = DictionaryNetwork()
    outcome = await attack(sandbox, body, network)
    assert isinstance(outcome, Raised), outcome
    assert outcome.type_name in {"OSError", "PermissionError", "ConnectionRefusedError", "gaierror"}
    assert network.requests == []


async def test_no_request_of_a_suite_leaves_its_tool(sandbox: SecureSandbox) -> None:
    # the judge has to read it before the suite ends
    code = (
        SEND
        + "\nimport time\ndef tool():\n    write(request(1))\n    time.sleep(0.2)\n    return 1\n"
    )
    tests = "from tool import tool\ndef test_it():\n    assert tool() == 1\n"
    job = SandboxJob("tool", code, tests, exchanges=(exchange("/a", response("x")),))
    verdicts = [
        await sandbox.verify(job, lambda _: None),
        *await sandbox.verify_versions(job, [Version(code=code, apart=False)]),
    ]
    for verdict in verdicts:
        assert not verdict.passed
        assert verdict.problem == "The tool's process sent a report of its own."


async def test_a_request_without_network_ends_the_call(sandbox: SecureSandbox) -> None:
    code = SEND + "\ndef tool():\n    write(request(1))\n    return 1\n"
    outcome = await sandbox.execute(SandboxJob("tool", code), {})
    assert isinstance(outcome, Killed), outcome
    assert outcome.reason == "The tool's process reported a malformed outcome."


async def test_what_a_tool_says_of_exchanges_is_cut(sandbox: SecureSandbox) -> None:
    for value in ('"x" * 10**6', "nested(300)", "[1]"):
        code = SEND + f"\ndef tool():\n    write(frame(no_exchange={value}, execution=[]))\n"
        outcome = await sandbox.execute(SandboxJob("tool", code + WAIT.replace("\n", "\n    ")), {})
        assert isinstance(outcome, Killed), outcome
        assert len(outcome.no_exchange) < 3000
