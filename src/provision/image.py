"""What the sandbox makes its containers from: an image where a Docker engine answers, else a Python environment."""

from collections.abc import Callable

from config import Settings
from src.sandbox import SecureSandbox


def prepare_image(settings: Settings, report: Callable[[str], None]) -> None:
    """Build it unless it is current.

    Raises:
        SandboxUnavailable: no backend works, or what it needs can't be had.
        SandboxFailed: a step of the build failed.
    """
    sandbox = SecureSandbox.of(settings)
    if sandbox.image_is_current():
        return
    report(f"Building what the sandbox ({sandbox.backend}) runs code in")
    sandbox.build_image()
