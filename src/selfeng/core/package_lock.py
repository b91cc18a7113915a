"""Packages that code needs beyond those of the sandbox: exact versions with hashes."""

import hashlib
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from selfeng.core.errors import RequestError
from selfeng.core.network import InstallFailed, run_installer
from selfeng.core.packages import SANDBOX_LOCK
from selfeng.core.value import Value

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
    "--generate-hashes",
    "--no-header",
    "--no-annotate",
    "--only-binary",
    ":all:",
)


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
        size = f"{self.size / 1e6:.1f} MB" if self.size else ""
        known = ", ".join(filter(None, (size, self.licence)))
        return f"{self.name} {self.version} ({known or '?'})"


class PackageLock(Value):
    """Packages with all that they need. The text fits every Python and machine of a sandbox."""

    requirements: tuple[str, ...]
    """The packages as they were asked for, such as `humanize>=4`, sorted."""
    text: Annotated[str, Field(pattern=_LINES)]
    """Lines of a requirements.txt: exact versions of wheels with their hashes, without what the
    sandbox has.
    """
    facts: tuple[Package, ...] = ()
    """What is known of its packages."""

    @property
    def packages(self) -> tuple[Package, ...]:
        known = {package.key: package for package in self.facts}
        pins = [Package(name=_plain(m[1]), version=m[2]) for m in _PINNED.finditer(self.text)]
        return tuple({pin.key: known.get(pin.key, pin) for pin in pins}.values())

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
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "requirements.in"), Path(folder, "requirements.txt")
        source.write_text("\n".join(names), encoding="utf-8")
        paths = ("-c", str(SANDBOX_LOCK), "-o", str(target), str(source))
        try:
            run_installer([find_uv_bin(), *_COMPILE, *paths])
        except InstallFailed as error:
            raise RequestError(
                f"the packages {', '.join(names)} can't be installed:\n{error}",
                error.remedy or "choose others, or other versions",
            ) from error
        text = target.read_text(encoding="utf-8")
    present = {_plain(match[1]) for match in _PINNED.finditer(SANDBOX_LOCK.read_text("utf-8"))}
    blocks = re.split(r"^(?=\S)", text, flags=re.MULTILINE)
    pins = ((block, _PINNED.match(block)) for block in blocks)
    return PackageLock(
        requirements=names,
        text="".join(block for block, pin in pins if pin and _plain(pin[1]) not in present),
    )


def package_name(requirement: str) -> str:
    """The name that a requirement such as `Humanize[all]>=4` begins with, in its one form."""
    match = _REQUIREMENT.fullmatch(requirement.strip())
    return _plain(match[1]) if match else requirement


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
