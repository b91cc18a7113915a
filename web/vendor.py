"""The page's libraries: which file under node_modules each import name refers to.

There is no build step: the import map made from this table is all that a browser needs, and the
table is also the list of what `/vendor/` serves. The version is part of the address, so that
browsers may cache a file forever.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from selfeng.core.errors import ConfigurationError
from selfeng.core.places import HOME

NODE_MODULES = HOME / "node_modules"

LIBRARIES: dict[str, tuple[str, str]] = {
    "preact": ("preact", "dist/preact.mjs"),
    "preact/hooks": ("preact", "hooks/dist/hooks.mjs"),
    "@preact/signals": ("@preact/signals", "dist/signals.mjs"),
    "@preact/signals-core": ("@preact/signals-core", "dist/signals-core.mjs"),
    "htm": ("htm", "dist/htm.mjs"),
    "socket.io-client": ("socket.io-client", "dist/socket.io.esm.min.js"),
    "marked": ("marked", "lib/marked.esm.js"),
    "dompurify": ("dompurify", "dist/purify.es.mjs"),
    "@highlightjs/cdn-assets/es/core.min.js": ("@highlightjs/cdn-assets", "es/core.min.js"),
    "@highlightjs/cdn-assets/es/languages/python.min.js": (
        "@highlightjs/cdn-assets",
        "es/languages/python.min.js",
    ),
    "@highlightjs/cdn-assets/es/languages/json.min.js": (
        "@highlightjs/cdn-assets",
        "es/languages/json.min.js",
    ),
}
"""Import name → package and file in it; each file imports only names of this table."""


@dataclass(frozen=True)
class Vendor:
    """The libraries of one installation."""

    addresses: dict[str, str]
    """Import name → path on this server."""
    files: dict[str, Path]
    """Path below `/vendor/` → file."""

    @property
    def import_map(self) -> str:
        """JSON that can be embedded in a script element as it is."""
        return json.dumps({"imports": self.addresses}).replace("<", "\\u003c")


def load_vendor(node_modules: Path = NODE_MODULES) -> Vendor:
    """Look up the installed versions.

    Raises:
        ConfigurationError: a library is not installed.
    """
    addresses, files = {}, {}
    for name, (package, inner) in LIBRARIES.items():
        file = node_modules / package / inner
        try:
            version = json.loads((node_modules / package / "package.json").read_text())["version"]
        except FileNotFoundError as error:
            raise ConfigurationError(
                f"the page's library {package} is not installed", "run: npm ci"
            ) from error
        if not file.is_file():
            raise ConfigurationError(
                f"the page's library {package} {version} has no {inner}", "run: npm ci"
            )
        key = f"{package}@{version}/{inner}"
        addresses[name], files[key] = f"/vendor/{key}", file
    return Vendor(addresses, files)
