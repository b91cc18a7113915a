"""Rules for every test: no settings of this machine's owner, and in CI nothing is skipped."""

import faulthandler
import gc
import os
import signal

import pytest

from selfeng.core.network import installer_environment
from selfeng.core.settings import Settings
from tests.fork_server import start_few_containers

pytest_plugins = ("tests.account", "tests.databases", "tests.limits", "tests.parts")


def pytest_addoption(parser):
    parser.addoption(
        "--everywhere",
        action="store_true",
        help="run all cases of all tests, those of the sandbox on every backend",
    )


def pytest_configure():
    """A run that is ended from outside prints where each of its processes was, even one that no
    Python code can interrupt.
    """
    faulthandler.register(signal.SIGTERM, file=os.dup(2), chain=True)
    os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    start_few_containers()
    os.environ.update(installer_environment())  # tests install packages, and serve on loopback


def pytest_collection_modifyitems(config, items):
    if not config.getoption("everywhere"):
        config.hook.pytest_deselected(
            items=[item for item in items if item.get_closest_marker("everywhere")]
        )
        items[:] = [item for item in items if not item.get_closest_marker("everywhere")]


def pytest_collection_finish():
    """A session keeps most of what it makes: looking through it again and again took a tenth of
    its processor time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch):
    """A key in the environment must never make a test talk to a real model; the base image is the
    machine's business.
    """
    for name in set(Settings.model_fields) - {"base_image", "docker_image_name"}:
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.skipped and os.environ.get("CI") and not hasattr(report, "wasxfail"):
        report.outcome, report.longrepr = "failed", f"skipped in CI: {report.longrepr}"
    return report
