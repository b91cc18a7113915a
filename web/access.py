"""Access: which requests are accepted.

The access token, new at each start unless ACCESS_TOKEN sets one, opens the page; a cookie then
replaces it. Programs send the token as `Authorization: Bearer`. Everyone who has the token is the
one person of this server: all devices, browsers and programs see the same conversations, also with
a later token.
"""

import hashlib
import hmac
import logging
import secrets
import threading
import time
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from filelock import FileLock
from flask import Flask
from markupsafe import Markup
from werkzeug import Request, Response

from selfeng.core.private import make_file_private, make_private, new_private_file
from web.texts import text

log = logging.getLogger(f"selfeng.{__name__}")

_STYLE = ("css/tokens.css", "css/base.css", "css/controls.css", "css/login.css")
PERSON = "person"
"""The owner of everything that is begun with the token."""
_KEY_BYTES = 32
_FREE_GUESSES = 8
_FIRST_WAIT, _LONGEST_WAIT = 0.25, 2.0  # seconds
_MOST_ADDRESSES = 1000  # the ones that guessed longest ago are forgotten


@dataclass(frozen=True)
class Visitor:
    """A browser or program that has access."""

    bearer: bool
    """Whether a header had the token, which no other site's page can make a browser send."""
    owner: str = PERSON


class Access:
    """Checks tokens and cookies. `key` signs the cookies; anyone with the key and the token can
    forge them.
    """

    def __init__(self, token: str, key: bytes) -> None:
        self._token = token.encode()
        self._pass = _mac(key, "access", self._token)
        # Cookies are not bound to a port; the name keeps two servers on one machine apart.
        self._cookie = f"access_{_mac(key, 'cookie names', b'')[:8]}"

    def opens(self, token: str) -> bool:
        return hmac.compare_digest(token.encode("utf-8", "replace"), self._token)

    def visitor(self, request: Request) -> Visitor | None:
        """The sender of the request; None if it has no valid token or cookie."""
        if (token := token_of(request)) is not None:
            return Visitor(bearer=True) if self.opens(token) else None
        passed = request.cookies.get(self._cookie, "").encode("utf-8", "replace")
        return Visitor(bearer=False) if hmac.compare_digest(passed, self._pass.encode()) else None

    def admit(self, response: Response, secure: bool) -> None:
        """Let the browser in without the token until the server ends.

        Lax rather than Strict: a link to the page from a mail or a chat works, while no other
        site's page can send a request that changes anything, which the Origin check also prevents.
        """
        response.set_cookie(self._cookie, self._pass, httponly=True, samesite="Lax", secure=secure)


class WrongTokens:
    """Counts the wrong tokens of each address until it sends the right one. Safe to use from
    several threads.
    """

    def __init__(self) -> None:
        self._counts: OrderedDict[str, int] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, address: str) -> float:
        """Count a wrong token; returns the seconds that the answer should wait."""
        with self._lock:
            count = self._counts[address] = self._counts.pop(address, 0) + 1
            if len(self._counts) > _MOST_ADDRESSES:
                self._counts.popitem(last=False)
        if count >= _FREE_GUESSES and count & (count - 1) == 0:  # 8, 16, 32 ...
            log.warning("%d wrong access tokens from %s", count, address)
        return (
            min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** min(count - _FREE_GUESSES - 1, 10))
            if count > _FREE_GUESSES
            else 0.0
        )

    def __len__(self) -> int:
        """How many addresses are counted."""
        return len(self._counts)

    def forgive(self, address: str) -> None:
        with self._lock:
            self._counts.pop(address, None)


class RequestRate:
    """How many requests programs may send. Safe to use from several threads."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`per_minute` on the average, and as many at once; 0: any number."""
        self._per_minute, self._clock = per_minute, clock
        self._remaining, self._at = float(per_minute), clock()
        self._lock = threading.Lock()

    def wait(self) -> float:
        """Seconds until the next request may come; 0.0: it may now, and is counted."""
        if not self._per_minute:
            return 0.0
        rate = self._per_minute / 60
        with self._lock:
            now = self._clock()
            self._remaining = min(self._per_minute, self._remaining + (now - self._at) * rate)
            self._at = now
            if self._remaining < 1:
                return (1 - self._remaining) / rate
            self._remaining -= 1
            return 0.0


class AccessPage:
    """The page that asks for the access token. It includes its style and icon, because nothing else
    may be loaded yet.
    """

    def __init__(self, app: Flask) -> None:
        static = Path(app.static_folder or "")
        style = "".join((static / name).read_text() for name in _STYLE)
        icon = "data:image/svg+xml;base64," + b64encode((static / "icon.svg").read_bytes()).decode()
        self._values = {"style": Markup(style), "icon": icon}  # noqa: S704 - our own files
        self._template = app.jinja_env.get_template("access.html")
        self._gone_template = app.jinja_env.get_template("gone.html")

    def __call__(self, nonce: str, language: str, refused: bool) -> str:
        """`refused`: a token was given, and it does not open the page."""
        return self._template.render(
            nonce=nonce,
            language=language,
            refused=refused,
            t=partial(text, language),
            **self._values,
        )

    def render_gone(self, nonce: str, language: str) -> str:
        """The page in place of a conversation whose link opens nothing."""
        words = partial(text, language)
        return self._gone_template.render(nonce=nonce, language=language, t=words, **self._values)


def token_of(request: Request) -> str | None:
    """The token in the header, if any. Schemes other than Bearer may be meant for a proxy."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None


def signing_key(folder: Path) -> bytes:
    """The key in `folder`/cookie.key; if there is none, it is created and closed to other users."""
    path = folder / "cookie.key"
    make_private(folder)
    with FileLock(f"{path}.lock", mode=0o600):
        make_file_private(path)
        if path.stat().st_size < _KEY_BYTES:
            path.unlink(missing_ok=True)
            with new_private_file(path) as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
        return path.read_bytes()


def shared_key(token: str) -> bytes:
    """The key of all servers with this token, which must be hard to guess: a browser that one of
    them let in is known to the others.
    """
    return hashlib.sha256(b"cookies\0" + token.encode()).digest()


def _mac(key: bytes, purpose: str, message: bytes) -> str:
    return hmac.new(key, purpose.encode() + b"\0" + message, hashlib.sha256).hexdigest()
