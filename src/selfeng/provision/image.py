"""What the sandbox makes its containers from: an image where a Docker engine answers, else a Python environment."""

from collections.abc import Callable

from selfeng.sandbox import SecureSandbox
from selfeng.settings import Settings


def prepare_image(settings: Settings, report: Callable[[str], None]) -> None:
    """Build it unless it is current.

    Raises:
        SandboxUnavailable: no backend works, or what it needs can't be had.
        SandboxFailed: a step of the build failed.
    """
    make_image(SecureSandbox.from_settings(settings), report)


def make_image(sandbox: SecureSandbox, report: Callable[[str], None]) -> None:
    """The same for a sandbox that is there."""
    if not sandbox.image_is_current():
        report(f"Setting up the sandbox ({sandbox.backend})")
        sandbox.build_image()
