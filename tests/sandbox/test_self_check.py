"""Additions of an engine to the requested options are found before anything runs in the container,
and named.
"""

import copy
import http.client
import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import docker
import pytest
from docker.client import DockerClient

from selfeng.core.errors import SandboxUnavailable
from selfeng.core.verdict import SandboxJob
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes.limits import ContainerLimits, container_options
from selfeng.sandboxes.self_check import check, unsafe_flags

pytestmark = pytest.mark.docker

SOCKET = "/var/run/docker.sock"
TOOL = "def tool(): return 1"
ADDED: dict[str, tuple[dict[str, Any], str]] = {
    "privileged": ({"privileged": True}, "--privileged"),
    "the host's processes": ({"pid_mode": "host"}, "--pid=host"),
    "the host's network": ({"network_mode": "host"}, "--network=host"),
    "the default network": ({"network_mode": "default"}, "--network=default"),
    "a network": ({"network_mode": "bridge"}, "--network=bridge"),
    "the host's shared memory": ({"ipc_mode": "host"}, "--ipc=host"),
    "the host's names": ({"uts_mode": "host", "hostname": None}, "--uts=host"),
    "the host's users": ({"userns_mode": "host"}, "--userns=host"),
    "the engine's socket": (
        {"volumes": {SOCKET: {"bind": SOCKET, "mode": "rw"}}},
        f"--volume={SOCKET}:{SOCKET}:rw",
    ),
    "a folder": ({"mounts": [docker.types.Mount("/x", "/etc", type="bind")]}, "--volume=/etc:/x"),
    "a capability": ({"cap_add": ["SYS_ADMIN"]}, "--cap-add=SYS_ADMIN"),
    "all system calls": (
        {"security_opt": ["no-new-privileges:true", "seccomp=unconfined"]},
        "--security-opt=seccomp=unconfined",
    ),
    "no profile": ({"security_opt": ["apparmor=unconfined"]}, "--security-opt=apparmor=unconfined"),
    "a device": ({"devices": ["/dev/null:/dev/x:rwm"]}, "--device=/dev/null"),
    "a port": ({"ports": {"80/tcp": 8080}}, "--publish=80/tcp"),
    "root": ({"user": "root"}, "--user=root"),
    "a file system to write to": ({"read_only": False}, "no --read-only"),
    "its capabilities": ({"cap_drop": []}, "no --cap-drop=ALL"),
    "any number of processes": ({"pids_limit": None}, "no --pids-limit"),
    "a group": ({"group_add": ["docker"]}, "--group-add=docker"),
    "another tmpfs": ({"tmpfs": {"/tmp": "", "/run": ""}}, "--tmpfs=/run"),
}


@pytest.fixture
def account(image: str, engine: DockerClient) -> Iterator[Any]:
    """The engine's description of a container with our options and others; it is never started."""
    made = []

    def make(**options: Any) -> dict[str, Any]:
        chosen = {**container_options(ContainerLimits()), **options}
        created = engine.containers.create(
            image, **{k: v for k, v in chosen.items() if v is not None}
        )
        made.append(created)
        return copy.deepcopy(created.attrs)

    yield make
    for container in made:
        container.remove(force=True)


def test_our_options_pass(account) -> None:
    check(account())


@pytest.mark.parametrize(("options", "flag"), ADDED.values(), ids=ADDED.keys())
def test_what_was_added_is_named(account, options: dict[str, Any], flag: str) -> None:
    assert flag in unsafe_flags(
        account(**options)
    )  # engines with SELinux add flags of their own to some


def test_an_engine_that_adds_something_is_not_used(account) -> None:
    with pytest.raises(
        SandboxUnavailable,
        match=r"made the sandbox's container with --privileged, --pid=host, .* nothing is run",
    ) as caught:
        check(account(privileged=True, pid_mode="host"))
    assert "authorization plugin" in caught.value.remedy


class Engine(http.client.HTTPConnection):
    """A connection to the engine's Unix socket."""

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(SOCKET)


class Generous(BaseHTTPRequestHandler):
    """Stands before the engine and makes every container privileged."""

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.partition("?")[0].endswith("/containers/create"):
            wanted = json.loads(body)
            wanted["HostConfig"]["Privileged"] = True
            body = json.dumps(wanted).encode()
        engine = Engine("localhost")
        try:
            engine.request(self.command, self.path, body, {"Content-Type": "application/json"})
            answer = engine.getresponse()
            content = answer.read()
        finally:
            engine.close()
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.headers.get("Content-Type", "application/json"))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_DELETE = _pass_on  # noqa: N815 - the names are the standard library's

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


async def test_nothing_runs_on_an_engine_that_makes_containers_privileged(
    image: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Generous) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        monkeypatch.setenv("DOCKER_HOST", f"tcp://127.0.0.1:{server.server_port}")
        sandbox = SecureSandbox(image=image, timeout=5, backend="docker")
        try:
            with pytest.raises(
                SandboxUnavailable, match="made the sandbox's container with --privileged"
            ):
                await sandbox.execute(SandboxJob("tool", TOOL), {})
        finally:
            await sandbox.aclose()
            server.shutdown()
            thread.join()
