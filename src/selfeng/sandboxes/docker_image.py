"""DockerImage: built from `docker/` and the worker's sources, and identified by their digest."""

import hashlib
import io
import re
import tarfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from docker.errors import ImageNotFound  # type: ignore[import-not-found]

from selfeng.core.errors import SandboxFailed, SandboxUnavailable
from selfeng.core.network import INDEXES, image_arguments, installer_environment, trust, untrusted
from selfeng.core.package_lock import PackageLock
from selfeng.core.places import FILES, SOURCES, worker_files
from selfeng.sandboxes.docker_engine import DockerEngine, translated

DIGEST = "self-engineering-agent.digest"
BASE = "self-engineering-agent.base"
DEFAULT_BASE = "python:3.12-slim"
BUILD = (
    'build it with `python -c "from selfeng.sandbox import SecureSandbox; '
    'SecureSandbox().build_image()"`'
)

_DOCKERFILE = "docker/sandbox.dockerfile"
_PACKAGES = "docker/requirements.txt"
_CERTIFICATES = "docker/certificates.pem"
_SCRATCH = "/opt/scratch"
_SLIM = re.compile(r"(?:^|/)python:3\.(\d+)-slim$")
_OLDEST = 11
"""Minor version of the oldest Python 3 that the worker runs on."""


class DockerImage:
    """One image by name. Blocking."""

    def __init__(self, engine: DockerEngine, name: str, base: str | None) -> None:
        """`base` None: DEFAULT_BASE or, if it can't be pulled, a similar image on the machine."""
        self._engine = engine
        self.name = name
        self.base = base

    def id(self) -> str:
        """The id of the image, if it was built from this checkout's sources.

        Raises:
            SandboxUnavailable: there is no such image, or it was built from other sources.
        """
        if (image := self._find(self.name)) is None:
            raise SandboxUnavailable(f"there is no image {self.name} to run code in", BUILD)
        if image.labels.get(DIGEST) != source_digest():
            raise SandboxUnavailable(
                f"the image {self.name} was not built from the current sources", BUILD
            )
        return str(image.id)

    def is_current(self) -> bool:
        """Whether a build would change nothing: same sources, same base."""
        image = self._find(self.name)
        return (
            image is not None
            and image.labels.get(DIGEST) == source_digest()
            and self.base in (None, image.labels.get(BASE))
        )

    def build(self, on_line: Callable[[str], None]) -> str:
        """Build the image, using the engine's cache of layers; returns its id.

        Raises:
            SandboxUnavailable: no engine answers, or the base image is not available.
            SandboxFailed: a step of the build failed.
        """
        before = self._find(self.name)
        base = self._provide_base(on_line)
        self._run_build(
            on_line,
            f"building the image {self.name} on {base} failed",
            _sources(),
            dockerfile=_DOCKERFILE,
            arguments={"BASE_IMAGE": base},
            labels={DIGEST: source_digest(), BASE: base},
        )
        if (after := self._find(self.name)) is None:
            raise SandboxFailed(f"the engine built no image {self.name}")
        self._forget(before, after)
        return str(after.id)

    def _run_build(
        self,
        on_line: Callable[[str], None],
        problem: str,
        files: Sequence[tuple[str, bytes]],
        *,
        dockerfile: str,
        arguments: Mapping[str, str],
        labels: Mapping[str, str],
    ) -> None:
        """Build from files; the build reaches the network as installers on this machine do.

        Raises: SandboxUnavailable, SandboxFailed: a step failed; `problem` begins the message.
        """
        lines: list[str] = []
        with translated(f"building the image {self.name}"):
            steps = self._engine.client().api.build(
                fileobj=io.BytesIO(_context([*files, *_certificates()])),
                custom_context=True,
                dockerfile=dockerfile,
                tag=self.name,
                buildargs={**image_arguments(), **arguments},
                labels=dict(labels),
                network_mode="host",
                rm=True,
                forcerm=True,
                decode=True,
            )
            for step in steps:
                for line in str(step.get("stream") or step.get("error") or "").splitlines():
                    if line.strip():
                        lines.append(line)
                        on_line(line)
                if "error" in step:
                    log_tail = "\n".join(lines[-15:])
                    remedy = trust() if untrusted(log_tail) else "see the lines above"
                    raise SandboxFailed(f"{problem}:\n{log_tail}", remedy)

    def _find(self, name: str) -> Any:
        with translated(f"looking for the image {name}"):
            try:
                return self._engine.client().images.get(name)
            except ImageNotFound:
                return None

    def _provide_base(self, on_line: Callable[[str], None]) -> str:
        """The name of a base image that is on this machine now."""
        base = self.base or DEFAULT_BASE
        if self._find(base) is not None:
            return base
        on_line(f"pulling {base}")
        try:
            with translated(f"pulling {base}"):
                self._engine.client().images.pull(base)
        except SandboxFailed as error:
            local = None if self.base else self._local_base()
            if local is None:
                raise SandboxUnavailable(
                    f"the base image {base} is not on this machine and can't be pulled: {error}",
                    "connect to its registry, or set BASE_IMAGE to an image with Python 3.11 or "
                    "later that `docker images` lists",
                ) from error
            on_line(f"{base} can't be pulled; building on {local}")
            return local
        return base

    def _local_base(self) -> str | None:
        """The newest slim image of Python on this machine, from any registry."""
        with translated("listing the images"):
            tags = [tag for image in self._engine.client().images.list() for tag in image.tags]
        versions = {
            int(m[1]): tag
            for tag in sorted(tags)
            if (m := _SLIM.search(tag)) and int(m[1]) >= _OLDEST
        }
        return versions[max(versions)] if versions else None

    def _forget(self, before: Any, after: Any) -> None:
        """Remove the image that the new one replaced, unless something still uses it."""
        if before is None or before.id == after.id:
            return
        try:
            with translated("removing the previous image"):
                self._engine.client().images.remove(before.id)
        except SandboxFailed:
            return  # a container runs on it, or it has another name


def source_digest() -> str:
    """A sha256 over names and contents of dockerfile, list of packages and worker's sources."""
    digest = hashlib.sha256()
    for name, content in _sources():
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def _sources() -> list[tuple[str, bytes]]:
    files = [(name, FILES / name) for name in (_DOCKERFILE, _PACKAGES)]
    files += [(f"src/{path.relative_to(SOURCES).as_posix()}", path) for path in worker_files()]
    return [(name, path.read_bytes()) for name, path in files]


def _certificates() -> Iterator[tuple[str, bytes]]:
    """The authorities that pip trusts here, for pip in the image."""
    path = Path(installer_environment().get("PIP_CERT", ""))
    if path.is_file():
        yield _CERTIFICATES, path.read_bytes()


def _context(files: Iterable[tuple[str, bytes]]) -> bytes:
    """The build's context as a tar: the same bytes for the same files, for the engine's cache."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), 0o644
            tar.addfile(entry, io.BytesIO(content))
    return packed.getvalue()


class PackageLayer(DockerImage):
    """The sandbox's image with further packages, wheels only. Blocking.

    It inherits the labels of the image below, so it is outdated whenever that is.
    """

    def __init__(self, engine: DockerEngine, below: DockerImage, lock: PackageLock) -> None:
        super().__init__(
            engine,
            f"{below.name.replace('@', '-').replace(':', '-')}-with-{lock.digest}",
            below.base,
        )
        self._below, self._lock = below, lock

    def build(self, on_line: Callable[[str], None]) -> str:
        """Build the image below, unless it is current, and this one; returns its id. Raises:
        SandboxUnavailable, SandboxFailed; see `DockerImage.build`.
        """
        if not self._below.is_current():
            self._below.build(on_line)
        files = {"Dockerfile": self.dockerfile(), "requirements.txt": self._lock.text}
        self._run_build(
            on_line,
            f"the packages {', '.join(self._lock.requirements)} can't be installed",
            [(name, text.encode()) for name, text in files.items()],
            dockerfile="Dockerfile",
            arguments={},
            labels={},
        )
        return self.id()

    def dockerfile(self) -> str:
        install = (
            "pip install --no-cache-dir --root-user-action=ignore --only-binary :all: --no-deps "
            "--require-hashes"
        )
        arguments = "".join(f"ARG {name}\n" for name in INDEXES)
        return (
            f"FROM {self._below.name}\nUSER 0:0\n{arguments}"
            f"COPY requirements.txt {_CERTIFICATES[:-1]}[m] {_SCRATCH}/\n"
            f"RUN if [ -f {_SCRATCH}/certificates.pem ]; then "
            f"export PIP_CERT={_SCRATCH}/certificates.pem; fi && {install} "
            f"-r {_SCRATCH}/requirements.txt && "
            f"python -c \"import shutil; shutil.rmtree('{_SCRATCH}')\"\nUSER 65534:65534\n"
        )
