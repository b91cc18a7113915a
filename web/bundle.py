"""The page's bundle: its modules, libraries and style sheets, joined into a few files by esbuild.

In a checkout it is made in a tenth of a second when the server starts, and stored by the state of
the sources; a distribution has it. Each file is named by its content, so that browsers may cache it
forever. The page works without it, too: see `web.vendor`.
"""

import gzip
import hashlib
import json
import logging
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from selfeng.core.places import FILES
from web.vendor import NODE_MODULES

log = logging.getLogger(f"selfeng.{__name__}")

STATIC = Path(__file__).parent / "static"
SHIPPED = FILES / "page"
"""The folder of the bundle in a distribution; `hatch_build.py` makes it."""
_ENTRIES = ("script.js", "share.js", "style.css")
DIAGRAM = "diagram.html"
"""The frame that draws diagrams; its script is in it, with Mermaid, because a sandboxed frame sends
no cookie.
"""
_OPTIONS = (
    "--bundle",
    "--splitting",
    "--format=esm",
    "--target=es2022,chrome120,firefox121,safari17.2",  # the first that nest style rules
    "--minify",
    "--sourcemap",
    "--legal-comments=none",
    "--external:#texts",  # the import map names the catalogue of the page's language
    "--external:#later-texts",
    "--entry-names=[name]-[hash]",
    "--chunk-names=[name]-[hash]",
    "--log-level=error",
)
_LONGEST_USE = 7 * 24 * 3600.0
"""Seconds after which a stored bundle is removed when another one is made."""


@dataclass(frozen=True)
class Bundle:
    """The files that a browser loads, below `/bundle/`."""

    files: dict[str, bytes]
    """Name → content, compressed by gzip."""
    scripts: dict[str, tuple[str, ...]]
    """The script of each page by the name of its source, then the modules that it imports, before
    anything else is loaded.
    """
    style: str


def load_bundle(node_modules: Path = NODE_MODULES) -> Bundle | None:
    """The bundle that ships, or that of the sources as they are; None, with a warning, if esbuild
    can't make it.
    """
    if SHIPPED.is_dir():
        return _read(SHIPPED)
    esbuild = esbuild_of(node_modules)
    if esbuild is None:
        log.warning("the page is served unbundled, because esbuild is not installed: run npm ci")
        return None
    store = node_modules / ".cache" / "page"
    stored = store / _digest()
    try:
        if not stored.is_dir():
            store.mkdir(parents=True, exist_ok=True)
            _remove_old(store)
            with tempfile.TemporaryDirectory(dir=store) as directory:
                build(esbuild, node_modules, Path(directory, "page"))
                with suppress(OSError):  # another server made it meanwhile
                    Path(directory, "page").rename(stored)
        os.utime(stored)
        return _read(stored)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", None) or error
        log.warning("the page is served unbundled, because esbuild failed: %s", reason)
        return None


def esbuild_of(node_modules: Path) -> Path | None:
    """The program, if npm installed one for this kind of machine."""
    return next(node_modules.glob("@esbuild/*/bin/esbuild"), None)


def build(esbuild: Path, node_modules: Path, folder: Path) -> None:
    """Make the bundle in a new folder: compressed files, esbuild's account of them, and the
    licenses of the libraries.

    Raises:
        OSError: esbuild can't be run, or the folder can't be written.
        CalledProcessError: a source has an error; `stderr` says which.
    """
    command = [str(esbuild), *_ENTRIES, *_OPTIONS, f"--outdir={folder}"]
    subprocess.run(  # noqa: S603 - fixed arguments
        [*command, f"--metafile={folder / 'meta.json'}"],
        cwd=STATIC,
        env={**os.environ, "NODE_PATH": str(node_modules)},
        capture_output=True,
        text=True,
        check=True,
    )
    parts = (node_modules / "@mermaid-js/tiny/dist/mermaid.tiny.js", STATIC / "diagram.js")
    script = "".join(part.read_text("utf-8") for part in parts).replace("</script", "<\\/script")
    frame = f'<!doctype html><meta charset="utf-8"><script>{script}</script>'
    (folder / DIAGRAM).write_text(frame, "utf-8")
    for file in folder.iterdir():
        if file.suffix != ".json":
            file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes(), mtime=0))
            file.unlink()
    (folder / "licenses.txt").write_text(_licenses(node_modules), "utf-8")


def _licenses(node_modules: Path) -> str:
    """Of all libraries that may be in the bundle. A package without a text of its license names
    one of which another package has the text.
    """
    packages = json.loads((FILES / "package-lock.json").read_text("utf-8"))["packages"]
    parts = []
    for path, package in packages.items():
        name = path.removeprefix("node_modules/")
        if not path or name == "esbuild" or package.get("dev") or package.get("optional"):
            continue
        heading = f"{name} {package['version']}, {package.get('license', 'see below')}"
        texts = sorted((node_modules / name).glob("[Ll][Ii][Cc][Ee][Nn][SsCc][Ee]*"))
        parts += [heading, *(text.read_text("utf-8").strip() for text in texts)]
    return "\n\n".join(["The page contains these libraries:", *parts]) + "\n"


def _digest() -> str:
    """Changes with the sources, the libraries and what is in this module."""
    digest = hashlib.sha256()
    sources = sorted(f for f in STATIC.rglob("*") if f.suffix in {".js", ".css", ".svg"})
    for file in [Path(__file__), FILES / "package-lock.json", *sources]:
        digest.update(b"%s\0%d\0" % (file.name.encode(), file.stat().st_size))
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _remove_old(store: Path) -> None:
    for folder in store.iterdir():
        with suppress(OSError):
            if folder.stat().st_mtime < time.time() - _LONGEST_USE:
                shutil.rmtree(folder)


def _read(folder: Path) -> Bundle:
    outputs = {
        Path(path).name: output
        for path, output in json.loads((folder / "meta.json").read_text("utf-8"))["outputs"].items()
    }
    *scripts, style = (
        next(name for name, output in outputs.items() if output.get("entryPoint") == entry)
        for entry in _ENTRIES
    )

    def imported(name: str) -> Iterator[str]:
        for entry in outputs[name]["imports"]:
            if entry["kind"] == "import-statement" and not entry.get("external"):
                yield Path(entry["path"]).name
                yield from imported(Path(entry["path"]).name)

    files = {name: (folder / f"{name}.gz").read_bytes() for name in (*outputs, DIAGRAM)}
    loaded = {
        entry: (script, *dict.fromkeys(imported(script)))
        for entry, script in zip(_ENTRIES, scripts, strict=False)
    }
    return Bundle(files, loaded, style)
