"""The Docker backend: one image, one engine, local or remote."""

from collections.abc import Callable, Mapping, Sequence

from selfeng.core.errors import SandboxError
from selfeng.core.verdict import SandboxStatus
from selfeng.sandboxes.backend import SHARED_KERNEL, Mode, unavailable
from selfeng.sandboxes.container import DockerContainer
from selfeng.sandboxes.engine import Engine
from selfeng.sandboxes.image import SandboxImage
from selfeng.sandboxes.layer import PackageLayer
from selfeng.sandboxes.limits import ContainerLimits, container_options, has_own_kernel

OWN_KERNEL = "Processes and files are limited in number by the memory that they take, and by nothing else."
"""What gVisor does not guarantee."""


class DockerBackend:
    """Containers on a Docker engine, the one that DOCKER_HOST or the current context names."""

    name = "docker"

    def __init__(
        self,
        image: str,
        base_image: str | None,
        limits: ContainerLimits,
        runtime: str | None = None,
        environment: Mapping[str, str] | None = None,
        *,
        packages: Sequence[str] = (),
    ) -> None:
        """`runtime` None is the engine's default; `environment` as for `Engine`; `packages` beyond those of the image."""
        self._engine = Engine(environment)
        below = SandboxImage(self._engine, image, base_image)
        self._image = PackageLayer(self._engine, below, packages) if packages else below
        self._limits = limits
        self._runtime = runtime

    def container(self, mode: Mode, group: str) -> DockerContainer:
        return DockerContainer(self._engine, self._image, mode, container_options(self._limits, self._runtime), group)

    def probe(self) -> None:
        self._engine.version()

    def status(self) -> SandboxStatus:
        try:
            version = self._engine.version()
            if self._runtime:
                self._engine.need_runtime(self._runtime)
            self._image.id()
        except SandboxError as error:
            return unavailable(self.name, error)
        detail = f"Docker {version}, image {self._image.name}" + (f", runtime {self._runtime}" if self._runtime else "")
        kernel = OWN_KERNEL if has_own_kernel(self._runtime) else SHARED_KERNEL
        return SandboxStatus(available=True, backend=self.name, detail=detail, not_guaranteed=(kernel,))

    def is_current(self) -> bool:
        return self._image.is_current()

    def prepare(self, on_line: Callable[[str], None]) -> None:
        self._image.build(on_line)

    def reap(self) -> int:
        return self._engine.reap()

    def close(self) -> None:
        self._engine.close()
