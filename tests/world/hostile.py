"""Hostile cases: what a tool may try with the network, and what services may try with a tool.

The same table runs against the broker itself, and through a sandbox as code that a tool might be.
"""

import base64
import html
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, get_args
from urllib.parse import unquote

from selfeng.core.errors import NetworkRefused
from selfeng.core.http import HttpRequest, Method, Network, NetworkAccess, SecretUse
from selfeng.core.verdict import Execution, Returned
from selfeng.servers.broker import BrokerLimits
from tests.world.world import CANARY, MB, PUBLIC, World

LIMITS = BrokerLimits(seconds=1.0, rate=1e6)
"""Limits with which the slow cases end soon."""
_KEY = SecretUse(name="KEY", place="bearer")
_NAMES = {
    "loopback": "127.0.0.1",
    "loopback-six": "::1",
    "unspecified": "0.0.0.0",
    "unspecified-six": "::",
    "class-a": "10.0.0.5",
    "class-b": "172.16.0.5",
    "class-c": "192.168.0.5",
    "carrier": "100.64.0.1",
    "link-local": "169.254.169.254",
    "link-local-six": "fe80::1",
    "unique-local": "fd00::1",
    "site-local": "fec0::1",
    "multicast": "224.0.0.1",
    "multicast-six": "ff02::1",
    "broadcast": "255.255.255.255",
    "reserved": "240.0.0.1",
    "documentation": "203.0.113.7",
    "benchmarking": "198.18.0.1",
    "mapped": "::ffff:127.0.0.1",
    "compatible": "::7f00:1",
    "nat64": "64:ff9b::7f00:1",
    "nat64-local": "64:ff9b:1::7f00:1",
    "sixtofour": "2002:7f00:1::1",
    "teredo": "2001:0:4136:e378:8000:63bf:3fff:fdd2",
    "isatap": "2a00:1450::5efe:7f00:1",
    "azure": "168.63.129.16",
    "alibaba": "100.100.100.200",
    "amazon-six": "fd00:ec2::254",
}
"""Names that an access allows, and whose addresses it does not."""
ACCESSES: Sequence[NetworkAccess] = (
    NetworkAccess(host="api.world.example", methods=("GET", "POST"), secrets=(_KEY,)),
    NetworkAccess(host="two.world.example"),
    NetworkAccess(host="reports.world.example", path="/v1/rates"),
    NetworkAccess(host="other.world.example"),
    NetworkAccess(host="stranger.world.example"),
    NetworkAccess(host="rebinding.world.example"),
    NetworkAccess(host="mixed.world.example"),
    NetworkAccess(host="nowhere.world.example"),
    NetworkAccess(host="169.254.169.254", private=True, port=80, scheme="http"),
    *(NetworkAccess(host=f"{name}.world.example") for name in _NAMES),
)
"""The access that the tool of the cases is allowed."""


class Case(NamedTuple):
    """One request of a hostile tool, or to a hostile service."""

    name: str
    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    size: int = 0
    """Of the request's body, in bytes."""
    refused: bool = True
    """Whether it has to end with an error; else its answer has to be harmless."""

    @property
    def code(self) -> str:
        """A tool `attempt` that does the same."""
        return (
            "import urllib.request\n\n\n"
            "def attempt() -> str:\n"
            f"    body = {b'x'!r} * {self.size} or None\n"
            f"    request = urllib.request.Request({self.url!r}, body, dict({self.headers!r}))\n"
            f"    request.method = {self.method!r}\n"
            "    with urllib.request.urlopen(request) as response:\n"
            "        return f'{response.status} {response.headers} {response.read()!r}'\n"
        )


_API, _OTHER, _REPORTS = (f"https://{name}.world.example" for name in ("api", "other", "reports"))
CASES: Sequence[Case] = (
    *(Case(f"address-{name}", f"https://{name}.world.example/v1/rates") for name in _NAMES),
    Case("address-one-of-two", "https://mixed.world.example/v1/rates"),
    Case("address-none", "https://nowhere.world.example/v1/rates"),
    Case("address-metadata-granted", "http://169.254.169.254/latest/meta-data"),
    Case("rebinding", "https://rebinding.world.example/v1/rates", refused=False),
    Case("rebinding-again", "https://rebinding.world.example/v1/rates"),
    *(
        Case(f"spelling-{number}", url)
        for number, url in enumerate(
            [
                *("https://127.0.0.1/", "https://127.1/", "https://2130706433/", "https://0x7f.1/"),
                *("https://0177.0.0.1/", "https://[::1]/", "https://[::ffff:7f00:1]/"),
                *(
                    "https://localhost/",
                    "https://api.world.example./v1/rates",
                    f"https://{PUBLIC}1/",
                ),
                *("https://user:password@api.world.example/v1/rates", "https:///v1/rates"),
                "https://api.world.example@evil.example/v1/rates",
                "https://evil.example\\@api.world.example/v1/rates",
                "https://api.world.example\\.evil.example/v1/rates",
                "https://api.world.example#@evil.example/",
                "https://ⓐpi.world.exampl\u2488/v1/rates",
                *("file:///etc/passwd", "ftp://api.world.example/", "gopher://api.world.example/"),
                "unix:///var/run/docker.sock",
            ]
        )
        if "#" not in url
    ),
    Case("port", "https://api.world.example:22/v1/rates"),
    Case("scheme", "http://api.world.example/v1/rates"),
    Case("path-outside", f"{_REPORTS}/v1/private"),
    Case("path-beside", f"{_REPORTS}/v1/rates-of-others"),
    Case("path-up", f"{_REPORTS}/v1/rates/../private"),
    Case("path-up-encoded", f"{_REPORTS}/v1/rates/%2e%2e/private"),
    Case("path-up-twice-encoded", f"{_REPORTS}/v1/rates/%252e%252e/private"),
    Case("path-up-parameter", f"{_REPORTS}/v1/rates/..;/private"),
    Case("path-up-backslash", f"{_REPORTS}/v1/rates/..%5cprivate"),
    Case("url-line-break", f"{_API}/v1/rates HTTP/1.1\r\nX-Evil: evil\r\n\r\n"),
    Case("method", f"{_REPORTS}/v1/rates", "POST"),
    Case("method-delete", f"{_API}/v1/rates", "DELETE"),
    Case("method-override", f"{_API}/v1/echo", headers=(("X-HTTP-Method-Override", "DELETE"),)),
    Case("header-host", f"{_API}/v1/echo", headers=(("Host", "evil.example"),), refused=False),
    Case("header-line-break", f"{_API}/v1/echo", headers=(("Accept", "a\r\nX-Evil: evil"),)),
    Case("header-name", f"{_API}/v1/echo", headers=(("Accept: a\r\nX-Evil", "evil"),)),
    Case("header-authorization", f"{_API}/v1/echo", headers=(("Authorization", "evil"),)),
    Case("header-cookie", f"{_API}/v1/echo", headers=(("Cookie", "evil=1"),)),
    Case("header-forwarded", f"{_API}/v1/echo", headers=(("X-Forwarded-For", "127.0.0.1"),)),
    Case(
        "header-smuggling",
        f"{_API}/v1/echo",
        "POST",
        (("Transfer-Encoding", "evil"),),
        9,
        refused=False,
    ),
    Case("header-long", f"{_API}/v1/echo", headers=(("Accept", "a" * 100_000),)),
    Case(
        "header-many", f"{_API}/v1/echo", headers=tuple((f"a{n}-version", "1") for n in range(99))
    ),
    Case("body-large", f"{_API}/v1/echo", "POST", size=9 * MB),
    *(
        Case(f"redirect-{name}", f"{_API}/redirect/{status}/{target}", method)
        for name, status, method, target in (
            ("private", 302, "GET", "http://10.0.0.1/"),
            ("loopback", 302, "GET", "https://loopback.world.example/"),
            ("metadata", 302, "GET", "http://169.254.169.254/latest"),
            ("elsewhere", 302, "GET", "https://evil.example/"),
            ("downgrade", 302, "GET", "http://api.world.example/v1/rates"),
            ("file", 302, "GET", "file:///etc/passwd"),
            ("credentials", 302, "GET", "https://a:b@other.world.example/"),
            ("path", 302, "GET", f"{_REPORTS}/v1/private"),
            ("post", 307, "POST", f"{_OTHER}/v1/echo"),
            ("nonsense", 302, "GET", "http://["),
        )
    ),
    Case("redirect-loop", f"{_API}/loop"),
    Case("redirect-many", f"{_API}/hops/7"),
    Case("redirect-secret", f"{_API}/redirect/302/{_OTHER}/v1/echo", refused=False),
    Case("redirect-secret-in-place", f"{_API}/repeat/redirect", refused=False),
    *(
        Case(f"repeat-{form}", f"{_API}/repeat/{form}", refused=False)
        for form in (
            *("plain", "json", "percent", "percent-lower", "base64", "base64-within", "base64-url"),
            *("base64-percent", "hex", "html", "header"),
        )
    ),
    Case("bomb-gzip", f"{_API}/bomb/gzip"),
    Case("bomb-deflate", f"{_API}/bomb/deflate"),
    Case("bomb-twice", f"{_API}/bomb/gzip, gzip"),
    Case("bomb-unknown", f"{_API}/bomb/br"),
    Case("after-the-end", f"{_API}/after-the-end"),
    Case("large", f"{_API}/large/9000000"),
    Case("slow", f"{_API}/slow"),
    Case("drip", f"{_API}/drip"),
    Case("endless", f"{_API}/endless"),
    Case("endless-events", f"{_API}/endless/text/event-stream"),
    Case("cookie", f"{_API}/cookie", refused=False),
    Case("headers-many", f"{_API}/headers/90/9", refused=False),
    Case("headers-large", f"{_API}/headers/30/9000"),
    Case("certificate", "https://stranger.world.example/v1/rates"),
)

Attempt = Callable[[Case], Awaitable[tuple[bool, str]]]
"""Makes a case's request; whether it was refused, and all that the tool sees."""


def through(network: Network) -> Attempt:
    """Cases against the broker itself."""

    async def attempt(case: Case) -> tuple[bool, str]:
        try:
            method = case.method if case.method in get_args(Method) else "GET"
            body = base64.b64encode(b"x" * case.size).decode()
            response = await network.send(
                HttpRequest(method=method, url=case.url, headers=case.headers, body=body)  # type: ignore[arg-type]
            )
        except NetworkRefused as error:
            return True, f"{error.message} {error.remedy} {error.values}"
        body = base64.b64decode(response.body).decode(errors="replace")
        return False, f"{response.status} {response.headers} {response.url} {body}"

    return attempt


def in_sandbox(call: Callable[[str], Awaitable[Execution]]) -> Attempt:
    """Cases as the code of a tool, which `call` runs with `ACCESSES` and returns what came."""

    async def attempt(case: Case) -> tuple[bool, str]:
        execution = await call(case.code)
        return not isinstance(execution, Returned), execution.model_dump_json()

    return attempt


def reveals(text: str) -> bool:
    """Whether the text has the secret, also encoded; by decoding, as who looks for it would."""
    views = [text, unquote(text), html.unescape(text)]
    views += [view.replace("\\", "") for view in views]
    for view in tuple(views):
        for digits in re.findall(r"[A-Za-z0-9+/_-]{16,}", view):
            plain = digits.replace("-", "+").replace("_", "/")
            shifts = (plain[n : n + (len(plain) - n) // 4 * 4] for n in range(4))
            views += [base64.b64decode(digits).decode("latin-1") for digits in shifts]
        for digits in re.findall(r"(?:[0-9a-fA-F]{2}){16,}", view):
            views.append(bytes.fromhex(digits).decode("latin-1"))
    return any(CANARY[:12] in view or CANARY[-12:] in view for view in views)


async def harm(case: Case, world: World, attempt: Attempt) -> str:
    """The forbidden target that the case reached; "" if none."""
    world.hosts.update({f"{name}.world.example": [address] for name, address in _NAMES.items()})
    world.hosts["mixed.world.example"] = [f"{PUBLIC}7", "10.0.0.5"]
    world.hosts["rebinding.world.example"] = ["127.0.0.1"]
    if case.name == "rebinding":
        world.answers["rebinding.world.example"] = [[f"{PUBLIC}1"]]
    seen, strayed = len(world.seen), len(world.strayed)
    refused, view = await attempt(case)
    if strayed != len(world.strayed):
        return f"it reached {world.strayed[-1]}"
    if reveals(view):
        return "the tool sees the secret"
    for request in world.seen[seen:]:
        text = f"{request.path} {request.headers}"
        if reveals(text) and request.host != "api.world.example":
            return f"{request.host} got the secret"
        if "evil" in str(request.headers) or "x-http-method-override" in request.headers:
            return f"{request.host} got a header of the tool: {text}"
        if case.name == "header-smuggling" and "content-length" not in request.headers:
            return f"{request.host} got a body without its length"
    if "evil" in view and not refused and case.name == "cookie":
        return "the tool sees a cookie"
    if case.refused and not refused:
        return f"it got an answer: {view[:200]}"
    return "" if refused == case.refused else f"it was refused: {view[:200]}"
