"""Systems that this machine is not."""

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.home import ROOT

ON_WINDOWS = """
import importlib, json, os, pkgutil, select, selectors, signal, socket, sys
import selfeng.bootstrap, selfeng.cli.app, selfeng.doors.mcp_server, selfeng.sandboxes.docker
import selfeng.mcp_client.server_connection, web.app
from contextlib import redirect_stdout
from filelock import ReadWriteLock
from io import StringIO
from pathlib import Path

for name in [name for name in sys.modules if name.partition(".")[0] in ("selfeng", "web")]:
    del sys.modules[name]  # other people's modules stay, which have their own ways on Windows
for name in "crypt fcntl grp posix pty pwd readline resource spwd syslog termios tty".split():
    sys.modules[name] = None
LACKING = {
    os: "O_CLOEXEC O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK chown chroot fchmod fchown fork "
    "forkpty fwalk getegid geteuid getgid getgroups getpgid getpgrp getsid getuid killpg "
    "memfd_create mkfifo openpty pidfd_open pipe2 pread pwrite register_at_fork sched_getaffinity "
    "sched_getscheduler setgid setpgid setsid setuid statvfs sysconf uname wait4",
    select: "epoll poll",
    selectors: "EpollSelector PollSelector",
    signal: "ITIMER_PROF ITIMER_REAL SIGALRM SIGCHLD SIGCONT SIGHUP SIGKILL SIGPIPE SIGPROF "
    "SIGQUIT SIGSTOP SIGUSR1 SIGXCPU alarm pidfd_send_signal setitimer",
    socket: "AF_UNIX MSG_DONTWAIT SCM_RIGHTS SOCK_SEQPACKET SO_PEERCRED",
}
for module, names in LACKING.items():
    for name in names.split():
        delattr(module, name)
os.supports_dir_fd = set()
sys.platform = "win32"

from selfeng.cli.app import app

printed = {}
for option in ("--version", "--help"):
    with redirect_stdout(StringIO()) as out:
        app([option], prog_name="selfeng", standalone_mode=False)
    printed[option] = out.getvalue()

import selfeng, web

failed = []
for package in (selfeng, web):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        try:
            module.name.endswith("__main__") or importlib.import_module(module.name)
        except (ImportError, AttributeError):
            failed.append(module.name)

from selfeng.core.errors import AgentError
from selfeng.projects.workspace import Workspace
from selfeng.sandboxes.sandbox_options import SandboxOptions, chosen_backend

def options(backend):
    return SandboxOptions(image="", timeout=1, folder=Path(), backend=backend)

refused = []
for work in (
    lambda: chosen_backend(options("bubblewrap")),
    lambda: chosen_backend(options("auto")).probe(),
    lambda: Workspace(Path()),
):
    try:
        work()
    except AgentError as error:
        refused.append(f"{error.message}: {error.remedy}")
print(json.dumps({"printed": printed, "failed": failed, "refused": refused}))
"""


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What happens in a process that looks like one of Windows."""
    home = str(tmp_path_factory.mktemp("home"))
    ran = subprocess.run(
        [sys.executable, "-c", ON_WINDOWS],
        cwd=ROOT,
        env={"PATH": "", "HOME": home, "DOCKER_HOST": "npipe:////./pipe/docker_engine"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_only_what_runs_in_linux_containers_needs_posix(windows: Any) -> None:
    inside = "selfeng.sandboxes.worker."
    assert [name for name in windows["failed"] if not name.startswith(inside)] == [
        "selfeng.sandboxes.bubblewrap",
        "selfeng.sandboxes.bwrap_container",
    ]


def test_the_command_line_starts_on_windows(windows: Any) -> None:
    assert windows["printed"]["--version"] == "selfeng 0.1.0\n"
    assert "\n  serve " in windows["printed"]["--help"]


def test_native_windows_names_the_way_that_works(windows: Any) -> None:
    wsl = "run it in WSL 2, as on Linux: `wsl --install` in PowerShell"
    assert windows["refused"] == [
        f"SANDBOX=bubblewrap needs Linux: set SANDBOX to docker and start Docker Desktop; or on "
        f"Windows {wsl}",
        f"native Windows reaches no Docker engine by its pipe: {wsl}; or let Docker Desktop expose "
        "its daemon without TLS (Settings, General), and set DOCKER_HOST=tcp://localhost:2375",
        f"projects can't be kept safely on native Windows: {wsl}",
    ]
