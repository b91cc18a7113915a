"""The access middleware: every request passes it first, including those to Socket.IO, to static
files and to unknown addresses.

It refuses requests without access, under an unknown host name or from another site's page, and
gives every response its security headers. Handlers read the visitor (`visitor_of`) and the nonce
for scripts from the WSGI environment. Only what a link shares needs no access (`shared_of`).
"""

import math
import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import flask
from werkzeug import Request, Response

from selfeng.store.shares import SharedConversation
from web.access import Access, RequestRate, Visitor, WrongTokens, token_of
from web.connections import CONNECTION, is_websocket, origin
from web.error_forms import HOOKS, error_response, is_socket
from web.hosts import Hosts, parse_host
from web.texts import language_of

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

LARGEST_BODY = 64 * 1024
_VISITOR, _NONCE, _SHARED = "agent.visitor", "agent.nonce", "agent.shared"
_ROBOTS = "noindex, nofollow"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_POLICY = (
    "default-src 'none'; script-src 'self' 'nonce-{nonce}'; style-src 'self'{style}; img-src "
    "'self' data:; font-src 'self'; "
    "connect-src 'self'; frame-src 'self'; manifest-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
SHARES = "/share/"
"""The only paths that are open without the token, each to who knows the token of a link."""
ALIVE = "/healthz"
"""The only path that anybody may ask, under any host name: it says nothing but that the server is
there.
"""
_ASSETS = ("/bundle/", "/static/", "/vendor/", "/texts/", "/diagram")
"""The paths that the page of a link loads: the program's own files, below the link's path."""


class AccessMiddleware:
    """WSGI middleware. `host` is the address that the server listens on, `allowed` are additional
    names, such as those of proxies.

    `page` renders the HTML page that asks for the token, from a nonce and a message, and
    `gone_page` the one for links that open nothing; `shared` is what the token of a link opens;
    `bodies` are the paths that accept larger bodies than others, with their limits; `programs` is
    what those with the token in a header may send; `pause` waits for some seconds while other
    requests run; `hooks` is what those with a signature may send, None for nothing; `scheme` is
    what the server speaks.
    """

    def __init__(
        self,
        app: "WSGIApplication",
        access: Access,
        host: str,
        allowed: Iterable[str],
        page: Callable[[str, str, bool], str],
        *,
        bodies: Mapping[str, int],
        programs: RequestRate,
        pause: Callable[[float], object],
        shared: Callable[[str], SharedConversation | None],
        gone_page: Callable[[str, str], str],
        hooks: RequestRate | None = None,
        scheme: str = "http",
    ) -> None:
        self._hooks = hooks
        self._app = app
        self._access = access
        self._hosts = Hosts(host, allowed, scheme)
        self._pause = pause
        self._wrong_tokens, self._programs = WrongTokens(), programs
        self._page = page
        self._bodies = bodies
        self._shared = shared
        self._gone_page = gone_page

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        request = Request(environ)
        environ[_NONCE] = secrets.token_urlsafe(16)
        if request.path.startswith(SHARES):
            return self._open_share(request, start_response)
        if request.path == ALIVE and request.method in {"GET", "HEAD"}:
            return self._app(environ, self._secured(environ, start_response))
        if self._hooks and request.path.startswith(HOOKS) and request.method == "POST":
            return self._open_hook(request, start_response)
        visitor = self._access.visitor(request)
        self._count_token(request, visitor)
        if visitor is not None:
            environ[CONNECTION].await_response(request.content_length or 0)
        response = self._refuse_request(request, visitor) or self._open(request, visitor)
        if visitor is None or response is not None:
            response = response or self._ask_for_token(request)
            self._secure(response.headers, environ[_NONCE], own_style=True)
            return response(environ, start_response)
        environ[_VISITOR] = visitor
        if is_websocket(environ):
            environ[CONNECTION].await_messages()
        return self._app(environ, self._secured(environ, start_response))

    def _secured(
        self, environ: "WSGIEnvironment", start_response: "StartResponse", **more: str
    ) -> "StartResponse":
        """`start_response` with the security headers, and `more` of them."""

        def start(status: str, headers: list[tuple[str, str]], *exc_info: Any) -> Any:
            final = Response(headers=headers)
            final.headers.update(more)
            self._secure(final.headers, environ[_NONCE])
            return start_response(status, [*final.headers.to_wsgi_list()], *exc_info)

        return start

    def _open_share(self, request: Request, start_response: "StartResponse") -> Iterable[bytes]:
        """Serve a link's page and what belongs to it to anybody; who is known otherwise makes no
        difference. Unknown, expired and revoked links are all the same, and count as wrong tokens.
        """
        environ = request.environ
        token, _, asset = request.path.removeprefix(SHARES).partition("/")
        response = self._refuse_request(request, None)
        shared = None
        if response is None and request.method in {"GET", "HEAD"}:
            shared = self._shared(token)
        if response is None and shared is None:
            self._pause(self._wrong_tokens.add(origin(request.remote_addr or "")))
            response = Response(
                self._gone_page(environ[_NONCE], language_of(request)), 404, mimetype="text/html"
            )
        if response is not None:
            self._secure(response.headers, environ[_NONCE], own_style=True)
            response.headers["X-Robots-Tag"] = _ROBOTS
            return response(environ, start_response)
        environ[CONNECTION].await_response(0)
        environ[_SHARED] = shared
        if f"/{asset}".startswith(_ASSETS):
            environ["SCRIPT_NAME"] += f"{SHARES}{token}"
            environ["PATH_INFO"] = environ["PATH_INFO"].removeprefix(f"{SHARES}{token}")
        return self._app(
            environ, self._secured(environ, start_response, **{"X-Robots-Tag": _ROBOTS})
        )

    def _open_hook(self, request: Request, start_response: "StartResponse") -> Iterable[bytes]:
        """Serve a request of a schedule's hook, which checks its signature."""
        environ = request.environ
        response = self._refuse_request(request, None)
        if response is None and self._hooks and (seconds := self._hooks.wait()):
            words = "wait, or raise HOOK_REQUESTS_PER_MINUTE"
            response = _refusal(request, 429, "too many requests of hooks", words)
            response.headers["Retry-After"] = str(math.ceil(seconds))
        if response is not None:
            self._secure(response.headers, environ[_NONCE])
            return response(environ, start_response)
        environ[CONNECTION].await_response(request.content_length or 0)
        return self._app(environ, self._secured(environ, start_response))

    def _refuse_request(self, request: Request, visitor: Visitor | None) -> Response | None:
        host = parse_host(request.environ.get("HTTP_HOST", ""))
        if host is None or not self._hosts.allow(host):
            host_text = request.environ.get("HTTP_HOST", "")[:80]
            return _refusal(
                request,
                403,
                f"the host name {host_text!r} is not allowed",
                "add it to ALLOWED_HOSTS, or use localhost",
            )
        asking = request.headers.get("Origin")
        if asking is not None and not self._hosts.allow_origin(asking, host):
            return _refusal(
                request,
                403,
                f"the origin {asking[:80]!r} is not allowed",
                "open the page itself, or add the origin to ALLOWED_HOSTS",
            )
        changes = request.method not in _SAFE_METHODS or is_websocket(request.environ)
        if changes and asking is None and visitor is not None and not visitor.bearer:
            return _refusal(
                request,
                403,
                "the request names no origin",
                "browsers send one; programs send Authorization: Bearer <token>",
            )
        if visitor is not None and visitor.bearer and (seconds := self._programs.wait()):
            response = _refusal(
                request,
                429,
                "programs send too many requests",
                f"wait {seconds:.1f} seconds, or raise PROGRAM_REQUESTS_PER_MINUTE",
            )
            response.headers["Retry-After"] = str(math.ceil(seconds))
            return response
        largest = self._bodies.get(request.path, LARGEST_BODY)
        if not is_socket(request) and (request.content_length or 0) > largest:
            return _refusal(request, 413, f"the body is larger than {largest} bytes", "send less")
        return None

    def _count_token(self, request: Request, visitor: Visitor | None) -> None:
        """Delay the answer to wrong tokens. A right token is answered at once, even while others
        guess from its address.
        """
        token = token_of(request)
        if token is None and request.path == "/":
            token = request.args.get("token")
        if not token:
            return
        address = origin(request.remote_addr or "")
        if (visitor is not None and visitor.bearer) or self._access.opens(token):
            self._wrong_tokens.forgive(address)
        else:
            self._pause(self._wrong_tokens.add(address))

    def _open(self, request: Request, visitor: Visitor | None) -> Response | None:
        """The answer to the link with the token: a redirect to the clean address, with a cookie
        that replaces the token.
        """
        if (
            request.path != "/"
            or "token" not in request.args
            or request.method not in {"GET", "HEAD"}
        ):
            return None
        opened = self._access.opens(request.args["token"])
        if not opened and visitor is None:
            return None
        response = Response(status=303, headers={"Location": "/"})
        if opened:
            self._access.admit(response, request.is_secure)
        return response

    def _ask_for_token(self, request: Request) -> Response:
        if request.path == "/":
            page = self._page(
                request.environ[_NONCE], language_of(request), "token" in request.args
            )
            response = Response(page, 401, {"Vary": "Accept-Language, Cookie"}, "text/html")
        else:
            response = _refusal(
                request, 401, "this needs the access token", "open the link that the server printed"
            )
        response.headers["WWW-Authenticate"] = "Bearer"
        return response

    def _secure(self, headers: Any, nonce: str, own_style: bool = False) -> None:
        for name, value in _HEADERS.items():
            headers.setdefault(name, value)
        style = f" 'nonce-{nonce}'" if own_style else ""
        headers.setdefault("Content-Security-Policy", _POLICY.format(nonce=nonce, style=style))
        headers.setdefault("Cache-Control", "no-store")


def visitor_of(environ: "WSGIEnvironment") -> Visitor:
    """The sender of the request; the middleware lets nothing through without one."""
    visitor: Visitor = environ[_VISITOR]
    return visitor


def shared_of(environ: "WSGIEnvironment") -> SharedConversation:
    """The conversation that the link of the request opens."""
    shared: SharedConversation = environ[_SHARED]
    return shared


def owner() -> str:
    """The owner of the current Flask request."""
    return visitor_of(flask.request.environ).owner


def nonce_of(environ: "WSGIEnvironment") -> str:
    """The nonce of this response's scripts."""
    return str(environ[_NONCE])


def _refusal(request: Request, status: int, message: str, remedy: str) -> Response:
    if response := error_response(request, status, message, remedy):
        return response
    return Response(
        f"{message[:1].upper()}{message[1:]}: {remedy}.\n", status, mimetype="text/plain"
    )
