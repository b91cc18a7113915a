"""The Docker backend: one image, one engine, local or remote."""

import contextlib
import logging
import secrets
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from docker.errors import APIError, ImageNotFound, NotFound  # type: ignore[import-not-found]
from docker.models.containers import _create_container_args  # type: ignore[import-not-found]
from docker.types import Mount  # type: ignore[import-not-found]

from sandbox_worker.job_folder import HELD, INPUTS
from selfeng.core.errors import SandboxError, SandboxFailed, SandboxUnavailable
from selfeng.core.files import File, LargeContent
from selfeng.core.package_lock import PackageLock
from selfeng.core.verdict import SandboxStatus
from selfeng.sandboxes import self_check
from selfeng.sandboxes.backend import LIFETIME, SHARED_KERNEL, Container, Mode, unavailable
from selfeng.sandboxes.container_stream import DockerStream
from selfeng.sandboxes.docker_engine import AGAIN, DockerEngine, labels, translated
from selfeng.sandboxes.docker_image import BUILD, DockerImage, PackageLayer
from selfeng.sandboxes.job_protocol import handshake
from selfeng.sandboxes.limits import (
    MB,
    ContainerLimits,
    container_options,
    has_own_kernel,
    hidden_of_proc,
    hidden_of_sys,
)

_MARGIN = 90_000.0
"""Seconds that the longest job may take: see `job_clock`, and CALL_MAX_SECONDS."""
_LOOKS = 2.0
"""Seconds that a container gets to end before its exit state is read."""
_SLOW = 5.0
"""Seconds that a busy engine may take to answer."""
_HUNG_UP, _KILLED, _LOST = 0, 128 + 9, 255
"""Exit codes that code inside can't cause: the judge's when its input ends, a kill from outside
(Linux's SIGKILL), unknown to the engine.
"""
_REMOVED = "the container was removed by someone else in the middle of its job"

log = logging.getLogger(__name__)


class DockerContainer(Container):
    def __init__(
        self,
        engine: DockerEngine,
        image: DockerImage,
        mode: Mode,
        options: Mapping[str, Any],
        group: str,
    ) -> None:
        """`options` are those of `limits.container_options`; `group` becomes a label, see
        `docker_engine.labels`.
        """
        super().__init__(mode)
        self._engine = engine
        self._image = image
        self._options = options
        self._group = group
        self.id = ""

    def discard(self) -> None:
        self.hang_up()
        try:
            if self.id:
                self._engine.remove(self.id)
        except SandboxError as error:
            log.warning(
                "could not remove container %s; trying again later: %s",
                self.id[:12],
                error,
            )
        if self._stream is not None:
            self._stream.close()

    def how_it_ended(self) -> str:
        try:
            with translated("looking at a container that ended"):
                state = self._last_state()
                code = int(state.get("ExitCode", _LOST))
                starved = state.get("OOMKilled") or (code == _KILLED and self._starved(state))
        except SandboxUnavailable as error:
            raise SandboxUnavailable(
                f"the Docker engine went away in the middle of the job: {error.message}", AGAIN
            ) from error
        if starved:
            return (
                f"It needed more memory than the {self._options['mem_limit'] // MB} MB that "
                "the sandbox gives."
            )
        log.warning(
            "a sandbox container ended early with exit code %s: %s", code, self.stream.diagnostics()
        )
        if code in (_HUNG_UP, _KILLED, _LOST):
            raise SandboxFailed(
                f"the container was ended from outside in the middle of its job (exit code {code})",
                AGAIN,
            )
        return (
            f"The sandbox was ended from inside before its report was complete (exit code {code})."
        )

    def check(self) -> None:
        try:
            self._engine.version(_SLOW)
        except SandboxError as error:
            raise SandboxUnavailable(
                f"the Docker engine was held up in the middle of the job: {error.message}", AGAIN
            ) from error

    def _last_state(self) -> dict[str, Any]:
        try:
            container = self._engine.client().containers.get(self.id)
            container.wait(timeout=_LOOKS)
            container.reload()
        except NotFound as error:
            raise SandboxFailed(_REMOVED, AGAIN) from error
        state: dict[str, Any] = container.attrs["State"]
        if state.get("Status") in ("removing", "dead"):
            raise SandboxFailed(_REMOVED, AGAIN)
        return state

    def _starved(self, state: dict[str, Any]) -> bool:
        """Whether the engine noticed the lack of memory only after it recorded the end, so that its
        state does not show it.
        """
        end_time = int(
            datetime.fromisoformat(state["FinishedAt"][:19] + "+00:00").timestamp()
        )  # by the engine's clock
        heard = self._engine.client().events(
            since=end_time - 1, until=end_time + 3, filters={"container": self.id, "event": "oom"}
        )
        with contextlib.closing(heard):
            return any(True for _ in heard)

    def _bring_up(self) -> None:
        self_check.check(self._create())
        with translated("running a container"):
            self._attach()
            self._engine.client().api.start(self.id)
            handshake(self.stream, self._mode, self._check_wanted, BUILD)

    def _create(self) -> Mapping[str, Any]:
        """Create the container; returns the engine's description of it."""
        self.edition = self._image.id()
        marks = labels(lifetime=LIFETIME + _MARGIN, group=self._group)
        name = f"sandbox-{secrets.token_hex(8)}"
        with translated("creating a container"):
            client = self._engine.client()
            self.id = name  # the engine may create it even if its reply is lost
            try:
                arguments = _create_container_args(
                    {
                        **self._options,
                        "mounts": [_INPUTS] if self._mode == "execute" else [],
                        "image": self.edition,
                        "name": name,
                        "labels": marks,
                        "version": client.api._version,
                    }
                )
                arguments["host_config"]["MaskedPaths"] = [
                    *hidden_of_proc(),
                    *hidden_of_sys(),
                ]  # the SDK has no argument for it
                self.id = str(client.api.create_container(**arguments)["Id"])
                account: Mapping[str, Any] = client.api.inspect_container(self.id)
            except ImageNotFound as error:
                raise SandboxUnavailable("the sandbox's image was removed", BUILD) from error
            except APIError:
                if runtime := self._options["runtime"]:
                    self._engine.need_runtime(runtime)
                raise
        return account

    def _bring_in(self, contents: Sequence[LargeContent]) -> None:
        """Copy them by a container that is never started, as the root file system of this one is
        read-only.
        """
        name = f"inputs-{secrets.token_hex(8)}"
        with translated("sending files"):
            api = self._engine.client().api
            account = api.inspect_container(self.id)
            volume = next(m["Name"] for m in account["Mounts"] if m["Destination"] == INPUTS)
            mounts = [Mount(INPUTS, volume)]
            host = api.create_host_config(mounts=mounts, network_mode="none")
            marks = labels(lifetime=LIFETIME, group=self._group)
            api.create_container(self.edition, name=name, host_config=host, labels=marks)
            try:
                api.put_archive(name, INPUTS, _archive(contents))
            finally:
                self._engine.remove(name)

    def _attach(self) -> None:
        """Attach before the start, when nothing can be held in a buffer above the socket."""
        raw: Any = self._engine.client().api.attach_socket(
            self.id, params={"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}
        )
        with self._lock:
            self._stream = DockerStream(raw)
        self._check_wanted()


_INPUTS = Mount(INPUTS, None)
"""A volume of the container's own, removed with it. Root's, so that code only reads; the engine
takes no read-only mount of a volume without a name.
"""


def _archive(contents: Sequence[LargeContent]) -> Iterator[bytes]:
    """A tar archive of contents, in pieces; no one can list their folder."""
    folder = tarfile.TarInfo(HELD)
    folder.type, folder.mode = tarfile.DIRTYPE, 0o711
    yield folder.tobuf()
    for content in contents:
        entry = tarfile.TarInfo(f"{HELD}/{content.sha256}")
        entry.size, entry.mode = content.size, 0o444
        yield entry.tobuf()
        yield from File(name=content.sha256, large=content).pieces()
        yield bytes(-content.size % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)


OWN_KERNEL = (
    "Processes and files are limited in number by the memory that they take, and by nothing else."
)
"""The limits that gVisor does not guarantee."""


class DockerBackend:
    """Containers on the Docker engine that DOCKER_HOST or the current context names."""

    name, places = "docker", 1

    def __init__(
        self,
        image: str,
        base_image: str | None,
        limits: ContainerLimits,
        runtime: str | None = None,
        environment: Mapping[str, str] | None = None,
        *,
        lock: PackageLock | None = None,
    ) -> None:
        """`runtime` None is the engine's default; `environment` as for `DockerEngine`; the packages
        of the `lock` are added to those of the image.
        """
        self.engine = DockerEngine(environment)
        below = DockerImage(self.engine, image, base_image)
        self.image = PackageLayer(self.engine, below, lock) if lock else below
        self._runtime = runtime
        self.options = container_options(limits, runtime)

    def container(self, mode: Mode, group: str) -> DockerContainer:
        return DockerContainer(self.engine, self.image, mode, self.options, group)

    def probe(self) -> None:
        self.engine.version()

    def status(self) -> SandboxStatus:
        try:
            version = self.engine.version()
            if self._runtime:
                self.engine.need_runtime(self._runtime)
            self.image.id()
        except SandboxError as error:
            return unavailable(self.name, error)
        detail = f"Docker {version}, image {self.image.name}" + (
            f", runtime {self._runtime}" if self._runtime else ""
        )
        lacking = (
            {"limits": OWN_KERNEL} if has_own_kernel(self._runtime) else {"kernel": SHARED_KERNEL}
        )
        return SandboxStatus(
            available=True, backend=self.name, detail=detail, not_guaranteed=lacking
        )

    def is_current(self) -> bool:
        return self.image.is_current()

    def prepare(self, on_line: Callable[[str], None]) -> None:
        self.image.build(on_line)

    def reap(self) -> int:
        return self.engine.reap()

    def load(self) -> tuple[int, int]:
        """The engine's processors, and how many sandbox containers run on it, of any program.
        Raises: SandboxUnavailable, SandboxFailed.
        """
        return self.engine.load()

    def close(self) -> None:
        self.engine.close()
