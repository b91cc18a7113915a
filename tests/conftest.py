"""Rules for every test: no settings of this machine's owner, and in CI nothing is skipped."""

import os

import pytest

from config import Settings


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    """A key in the environment must never make a test talk to a real model; the base image is the machine's business."""
    for name in set(Settings.model_fields) - {"base_image", "docker_image_name"}:
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"skipped in CI: {report.longrepr}"
    return report
