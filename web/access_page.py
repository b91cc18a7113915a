"""The page that asks for the access token; it carries its style and icon itself, as nothing else may be reached yet."""

from base64 import b64encode
from pathlib import Path

from flask import Flask
from markupsafe import Markup

_STYLE = ("css/tokens.css", "css/base.css", "css/controls.css", "css/login.css")


class AccessPage:
    """Rendered without a request context, because the gate stands before Flask."""

    def __init__(self, app: Flask) -> None:
        static = Path(app.static_folder or "")
        style = "".join((static / name).read_text() for name in _STYLE)
        icon = "data:image/svg+xml;base64," + b64encode((static / "icon.svg").read_bytes()).decode()
        self._values = {"style": Markup(style), "icon": icon}  # noqa: S704 - our own files
        self._template = app.jinja_env.get_template("access.html")

    def __call__(self, nonce: str, message: str) -> str:
        """`message` says why the token that was given does not open the page; "" if none was given."""
        return self._template.render(nonce=nonce, message=message, **self._values)
