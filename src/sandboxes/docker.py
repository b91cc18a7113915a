"""The Docker backend: one image, one engine, local or remote."""

from collections.abc import Callable

from src.core.errors import SandboxError
from src.core.verdict import SandboxStatus
from src.sandboxes.backend import SHARED_KERNEL, Mode, unavailable
from src.sandboxes.container import DockerContainer
from src.sandboxes.engine import Engine
from src.sandboxes.image import SandboxImage
from src.sandboxes.limits import ContainerLimits


class DockerBackend:
    """Containers on a Docker engine, the one that DOCKER_HOST or the current context names."""

    name = "docker"

    def __init__(self, image: str, base_image: str | None, limits: ContainerLimits) -> None:
        self._engine = Engine()
        self._image = SandboxImage(self._engine, image, base_image)
        self._limits = limits

    def container(self, mode: Mode, group: str) -> DockerContainer:
        return DockerContainer(self._engine, self._image, mode, self._limits, group)

    def probe(self) -> None:
        self._engine.version()

    def status(self) -> SandboxStatus:
        try:
            version = self._engine.version()
            self._image.id()
        except SandboxError as error:
            return unavailable(self.name, error)
        detail = f"Docker {version}, image {self._image.name}"
        return SandboxStatus(available=True, backend=self.name, detail=detail, not_guaranteed=(SHARED_KERNEL,))

    def is_current(self) -> bool:
        return self._image.is_current()

    def prepare(self, on_line: Callable[[str], None]) -> None:
        self._image.build(on_line)

    def reap(self) -> int:
        return self._engine.reap()

    def close(self) -> None:
        self._engine.close()
