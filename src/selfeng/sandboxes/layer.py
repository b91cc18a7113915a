"""A layer of further packages: an image on top of the sandbox's own, for code that needs more than that has."""

import hashlib
import io
from collections.abc import Callable, Sequence

from selfeng.core.errors import SandboxFailed
from selfeng.sandboxes.engine import Engine, translated
from selfeng.sandboxes.image import SandboxImage

_SHOWN = 15


def layer_digest(packages: Sequence[str]) -> str:
    """Names a set of packages, whatever their order."""
    return hashlib.sha256("\n".join(sorted(packages)).encode()).hexdigest()[:16]


class PackageLayer(SandboxImage):
    """The sandbox's image with further packages, wheels only. Blocking.

    It inherits the labels of the image below, so that it is out of date as soon as that is.
    """

    def __init__(self, engine: Engine, below: SandboxImage, packages: Sequence[str]) -> None:
        """`packages` as pip takes them: `requests==2.32.5`."""
        super().__init__(engine, f"{below.name.replace('@', '-').replace(':', '-')}-with-{layer_digest(packages)}", below.base)
        self._below, self._packages = below, tuple(sorted(packages))

    def build(self, on_line: Callable[[str], None]) -> str:
        """Build the image below, unless it is current, and this one; its id. Raises: as for `SandboxImage`."""
        if not self._below.is_current():
            self._below.build(on_line)
        lines: list[str] = []
        with translated(f"building the image {self.name}"):
            source = io.BytesIO(self.dockerfile().encode())
            steps = self._engine.client().api.build(
                fileobj=source, tag=self.name, network_mode="host", rm=True, forcerm=True, decode=True, pull=False
            )
            for step in steps:
                for line in str(step.get("stream") or step.get("error") or "").splitlines():
                    lines.append(line)
                    on_line(line)
                if "error" in step:
                    shown = "\n".join(lines[-_SHOWN:])
                    raise SandboxFailed(f"the packages {', '.join(self._packages)} can't be installed:\n{shown}", "see the lines above")
        return self.id()

    def dockerfile(self) -> str:
        """The source of the image; the packages are plain names with versions, so that they mean nothing else to a shell."""
        install = "pip install --no-cache-dir --root-user-action=ignore --only-binary :all:"
        return f"FROM {self._below.name}\nUSER 0:0\nRUN {install} {' '.join(self._packages)}\nUSER 65534:65534\n"
