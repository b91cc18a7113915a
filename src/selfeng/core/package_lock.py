"""Packages that code needs beyond those of the sandbox: exact versions with hashes."""

import email
import hashlib
import io
import re
import tempfile
import tomllib
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

from pydantic import Field

from selfeng.core.errors import RequestError
from selfeng.core.network import InstallFailed, installer_environment, run_installer
from selfeng.core.packages import SANDBOX_LOCK
from selfeng.core.value import Value
from selfeng.core.visible import one_line

_INDEX = "https://pypi.org/simple"
_SECONDS, _END, _LONGEST = 10, 1_000_000, 60
"""Seconds of a request; bytes of a wheel that are read; characters of a licence."""
_OLDEST = "3.11"
"""The oldest Python of a sandbox."""
_PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)==([^\s;\\]+)", re.ASCII | re.MULTILINE)
_REQUIREMENT = re.compile(
    r"([A-Za-z0-9][\w.-]*)(?:\[[\w,. -]+\])?(?: ?[<>=!~]=?=? ?[\w.*+!]+,?)*", re.ASCII
)
_LINES = r"""^(?:[A-Za-z0-9][\w.-]*==[\w.+!-]+(?: ?; ?[\w .,'"<>=!()]*)?(?: *\\?\n? *--hash=sha256:[0-9a-f]+)+\n?)*$"""  # noqa: E501
"""Nothing but versions and hashes: the text of a lock may come from somebody else."""
_COMPILE = (
    "pip",
    "compile",
    "--quiet",
    "--universal",
    "--python-version",
    _OLDEST,
    "--only-binary",
    ":all:",
)


_MEGABYTES = 100_000
"""Bytes from which a size is shown in megabytes."""


class Package(Value):
    """A package of a lock, with what a person reads about it before it is installed."""

    name: str
    version: str
    size: int = 0
    """Bytes of the largest wheel for Linux; 0: not known, as are an empty licence and null."""
    licence: str = ""
    vulnerabilities: tuple[str, ...] | None = None
    modules: tuple[str, ...] = ()
    """The top-level modules that code imports from it."""

    @property
    def key(self) -> str:
        return f"{self.name}=={self.version}"

    def __str__(self) -> str:
        size = (
            f"{self.size / 1e6:.1f} MB" if self.size >= _MEGABYTES else f"{self.size / 1e3:.0f} kB"
        )
        facts = ", ".join(filter(None, (size if self.size else "", self.licence)))
        return f"{self.name} {self.version} ({facts or '?'})"


class PackageLock(Value):
    """Packages with all that they need. The text fits every Python and machine of a sandbox."""

    requirements: tuple[str, ...]
    """The packages as they were asked for, such as `humanize>=4`, sorted."""
    text: Annotated[str, Field(pattern=_LINES)]
    """Lines of a requirements.txt: exact versions of wheels with their hashes, without what the
    sandbox has.
    """
    facts: tuple[Package, ...] = ()
    """The facts about its packages."""

    @property
    def packages(self) -> tuple[Package, ...]:
        facts = {package.key: package for package in self.facts}
        pins = [Package(name=_plain(m[1]), version=m[2]) for m in _PINNED.finditer(self.text)]
        return tuple({pin.key: facts.get(pin.key, pin) for pin in pins}.values())

    @property
    def modules(self) -> dict[str, str]:
        """The package of each module that code may import: of the packages that were asked for."""
        names = set(map(package_name, self.requirements))
        return {
            module: package.name
            for package in self.packages
            if package.name in names
            for module in package.modules or (package.name.replace("-", "_"),)
        }

    @property
    def digest(self) -> str:
        """Names the lock: a sha256 of its lines, shortened."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def versions(self) -> dict[str, str]:
        """The version of each package, by its name."""
        return {_plain(match[1]): match[2] for match in _PINNED.finditer(self.text)}


def lock_packages(requirements: Sequence[str]) -> PackageLock:
    """Choose versions that fit each other and the sandbox's packages. Blocking, for seconds; reads
    the package index.

    Raises:
        RequestError: there are none, or the index can't be reached; the message is the resolver's.
    """
    from uv import find_uv_bin

    names = tuple(sorted(requirements))
    if unusual := [name for name in names if not _REQUIREMENT.fullmatch(name)]:
        raise RequestError(
            f"{unusual[0]!r} is not the name of a package with versions", "write `humanize>=4`"
        )
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "requirements.in"), Path(folder, "pylock.toml")
        source.write_text("\n".join(names), encoding="utf-8")
        paths = ("-c", str(SANDBOX_LOCK), "-o", str(target), str(source))
        try:
            run_installer([find_uv_bin(), *_COMPILE, *paths])
        except InstallFailed as error:
            raise RequestError(
                f"the packages {', '.join(names)} can't be installed:\n{error}",
                error.remedy or "choose others, or other versions",
            ) from error
        locked = tomllib.loads(target.read_text(encoding="utf-8")).get("packages", [])
    present = {_plain(match[1]) for match in _PINNED.finditer(SANDBOX_LOCK.read_text("utf-8"))}
    locked = [package for package in locked if _plain(package["name"]) not in present]
    with ThreadPoolExecutor() as pool:
        facts = tuple(pool.map(_facts, locked))
    return PackageLock(requirements=names, text="".join(map(_lines, locked)), facts=facts)


def _lines(locked: Mapping[str, Any]) -> str:
    """A package of a pylock.toml as lines of a requirements.txt."""
    marker = f" ; {locked['marker']}" if "marker" in locked else ""
    hashes = (f" \\\n    --hash=sha256:{w['hashes']['sha256']}" for w in locked["wheels"])
    return f"{locked['name']}=={locked['version']}{marker}{''.join(hashes)}\n"


def _facts(locked: Mapping[str, Any]) -> Package:
    """The facts about a package from its wheels and the package index, as far as readable."""
    import httpx2

    name, version = _plain(locked["name"]), locked["version"]
    wheels = [w for w in locked["wheels"] if re.search("-any|linux", w.get("url", ""))]
    wheels.sort(key=lambda wheel: wheel.get("size", 0))
    size = wheels[-1].get("size", 0) if wheels else 0
    package = Package(name=name, version=version, size=size)
    variables = installer_environment()
    index = variables.get("UV_DEFAULT_INDEX") or variables.get("UV_INDEX_URL") or _INDEX
    page = f"{index.rstrip('/').removesuffix('/simple')}/pypi/{name}/{version}/json"
    unreadable = (httpx2.HTTPError, httpx2.InvalidURL, OSError, zipfile.BadZipFile, LookupError)
    for wheel in wheels[:1]:
        with suppress(*unreadable, StopIteration):
            package = package.model_copy(update=_inside(wheel["url"]))
    with suppress(*unreadable, ValueError):
        reports = httpx2.get(page, timeout=_SECONDS).raise_for_status().json()["vulnerabilities"]
        ids = tuple(one_line(str(v["id"]))[:_LONGEST] for v in reports if not v.get("withdrawn"))
        package = package.model_copy(update={"vulnerabilities": ids})
    return package


def _inside(url: str) -> dict[str, Any]:
    """The licence and the modules of a wheel, of which only the end is read, where they stand."""
    import httpx2

    if url.startswith("file:"):
        content = Path(url2pathname(urlsplit(url).path)).read_bytes()
        facts: dict[str, Any] = {"size": len(content)}
    else:
        part = {"Range": f"bytes=-{_END}"}
        content = httpx2.get(url, headers=part, timeout=_SECONDS).raise_for_status().content
        facts = {}
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        files = packed.namelist()
        described = next(f for f in files if f.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(packed.read(described))
    licence = metadata["License-Expression"] or metadata["License"] or ""
    classes = (
        c.rpartition(" :: ")[2] for c in metadata.get_all("Classifier", []) if "License" in c
    )
    licence = licence if 0 < len(licence) <= _LONGEST else next(classes, "")
    code = [file for file in files if file.endswith((".py", ".so"))]
    modules = {file.partition("/")[0].partition(".")[0] for file in code}
    return facts | {
        "licence": one_line(licence)[:_LONGEST],
        "modules": tuple(sorted(filter(str.isidentifier, modules))),
    }


def joined(locks: Iterable[PackageLock | None]) -> PackageLock | None:
    """One lock for code that needs all of these, which agree."""
    each = list(dict.fromkeys(filter(None, locks)))
    if len(each) < 2:
        return each[0] if each else None
    parts = [part for lock in each for part in re.split(r"^(?=\w)", lock.text, flags=re.MULTILINE)]
    return PackageLock(
        requirements=tuple(sorted({name for lock in each for name in lock.requirements})),
        text="".join(dict(sorted((part.partition("\\")[0], part) for part in parts)).values()),
        facts=tuple({package.key: package for lock in each for package in lock.facts}.values()),
    )


def package_name(requirement: str) -> str:
    """The name that a requirement such as `Humanize[all]>=4` begins with, in its one form."""
    match = _REQUIREMENT.fullmatch(requirement.strip())
    return _plain(match[1]) if match else requirement


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
