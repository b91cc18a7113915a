"""The page's libraries: which file under node_modules each import name refers to.

A page that is served unbundled needs only the import map made from this table, which is also the
list of what `/vendor/` serves: there is no build step between an edit and a reload. The version is
part of the address, so that browsers may cache a file forever.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path

from selfeng.core.errors import ConfigurationError
from selfeng.core.places import HOME

NODE_MODULES = HOME / "node_modules"

LIBRARIES: dict[str, tuple[str, str]] = {
    "preact": ("preact", "dist/preact.mjs"),
    "preact/hooks": ("preact", "hooks/dist/hooks.mjs"),
    "@preact/signals": ("@preact/signals", "dist/signals.mjs"),
    "@preact/signals-core": ("@preact/signals-core", "dist/signals-core.mjs"),
    "@fluent/bundle": ("@fluent/bundle", "esm/index.js"),
    "uplot": ("uplot", "dist/uPlot.esm.js"),
    "htm": ("htm", "dist/htm.mjs"),
    "lucide/dist/esm/icons/": ("lucide", "dist/esm/icons/"),
    "socket.io-client": ("socket.io-client", "dist/socket.io.esm.min.js"),
    "diff": ("diff", "libesm/index.js"),
    "papaparse": ("papaparse", "papaparse.min.js"),
    "katex": ("katex", "dist/katex.mjs"),
    "marked": ("marked", "lib/marked.esm.js"),
    "dompurify": ("dompurify", "dist/purify.es.mjs"),
    "@highlightjs/cdn-assets/es/core.min.js": ("@highlightjs/cdn-assets", "es/core.min.js"),
    "@highlightjs/cdn-assets/es/languages/": ("@highlightjs/cdn-assets", "es/languages/"),
}
"""Import name → package and file in it, or the start of several and their folder; each file imports
only names of this table.
"""
_COMMONJS = {"papaparse.min.js"}
"""Files that export nothing to a module by themselves."""


@dataclass(frozen=True)
class Vendor:
    """The libraries of one installation; none where the bundle ships."""

    addresses: dict[str, str] = field(default_factory=dict)
    """Import name → path on this server."""
    files: dict[str, Path] = field(default_factory=dict)
    """Path below `/vendor/` → file."""

    def module(self, name: str) -> bytes:
        """The file at that path below `/vendor/`, as a module."""
        source = self.files[name].read_bytes()
        if self.files[name].name in _COMMONJS:
            return b"%s\n%s\n%s" % (
                b"const module = { exports: {} }, { exports } = module;",
                source,
                b"export default module.exports;\n",
            )
        return source


def embedded(value: object) -> str:
    """JSON that can be embedded in a script element as it is."""
    return json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")


def load_vendor(node_modules: Path = NODE_MODULES) -> Vendor:
    """Look up the installed versions.

    Raises:
        ConfigurationError: a library is not installed.
    """
    addresses: dict[str, str] = {}
    files: dict[str, Path] = {}
    for name, (package, inner) in LIBRARIES.items():
        file = node_modules / package / inner
        try:
            version = json.loads((node_modules / package / "package.json").read_text())["version"]
        except FileNotFoundError as error:
            raise ConfigurationError(
                f"the page's library {package} is not installed",
                "run `npm ci` in a checkout; an installed package has no modules for DEVELOPMENT",
            ) from error
        if not file.exists():
            raise ConfigurationError(
                f"the page's library {package} {version} has no {inner}", "run: npm ci"
            )
        top = f"{package}@{version}"
        addresses[name] = f"/vendor/{top}/{inner}"
        if inner.endswith("/"):
            files |= {f"{top}/{inner}{f.name}": f for f in file.glob("*.*js")}
            continue
        files[f"{top}/{inner}"] = file
        if file.name == "index.js":  # which imports the others of its folder
            folder = node_modules / package
            files |= {f"{top}/{f.relative_to(folder)}": f for f in file.parent.rglob("*.js")}
    return Vendor(addresses, files)
