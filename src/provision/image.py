"""The sandbox image, built where a Docker engine answers."""

from collections.abc import Callable

from config import Settings
from src.sandbox import SecureSandbox


def prepare_image(settings: Settings, report: Callable[[str], None]) -> None:
    """Build the sandbox image unless it is current.

    Raises:
        SandboxUnavailable: no engine answers, or the image can't be built.
    """
    sandbox = SecureSandbox(image=settings.docker_image_name, timeout=settings.docker_timeout, base_image=settings.base_image)
    if sandbox.image_is_current():
        return
    report("Building the sandbox image")
    sandbox.build_image()
