"""A Docker engine of the tests' own: one that can be reached over TCP and TLS, killed, and given
other runtimes.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

import trustme
from docker.client import DockerClient

from selfeng.sandboxes.docker_engine import DockerEngine

RUNSC = ("--platform=ptrace", "--network=none")
"""Arguments for gVisor where there is no /dev/kvm; its containers get no network in any case."""

PACKAGES = {"dockerd": "docker.io", "setpriv": "util-linux"}
"""Debian's packages of programs whose names are others."""

_CONTAINERD = """
version = 2
root = "{0}/containerd-root"
state = "{0}/containerd-state"
disabled_plugins = ["io.containerd.grpc.v1.cri"]
[grpc]
  address = "{0}/containerd.sock"
"""


class PrivateEngine:
    """A `dockerd` and a `containerd` in a folder of their own, on a port of loopback; neither
    touches the machine's network.

    Both end with the thread that started them.
    """

    def __init__(self, driver: str, runtimes: Mapping[str, Sequence[str]]) -> None:
        """`driver` is a storage driver that works here, `runtimes` the arguments for programs of
        that name.
        """
        self.folder = Path(tempfile.mkdtemp(prefix="engine-"))
        self.address = f"127.0.0.1:{_free_port()}"
        self._driver = driver
        self._tls = False
        self._containerd: subprocess.Popen[bytes] | None = None
        self._dockerd: subprocess.Popen[bytes] | None = None
        known = {
            name: {"path": shutil.which(name), "runtimeArgs": list(arguments)}
            for name, arguments in runtimes.items()
        }
        (self.folder / "daemon.json").write_text(json.dumps({"runtimes": known}))
        (self.folder / "containerd.toml").write_text(_CONTAINERD.format(self.folder))
        self.stranger = self.folder / "stranger"
        """A folder of certificates that this engine does not know."""
        authority = trustme.CA()
        for folder, issuer in (
            ("server", authority),
            ("client", authority),
            ("stranger", trustme.CA()),
        ):
            _write_certificates(self.folder / folder, issuer)

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a client finds the engine."""
        encrypted = (
            {"DOCKER_TLS_VERIFY": "1", "DOCKER_CERT_PATH": str(self.folder / "client")}
            if self._tls
            else {}
        )
        return {"DOCKER_HOST": f"tcp://{self.address}", **encrypted}

    def client(self) -> DockerClient:
        return DockerEngine(self.environment).client()

    def start(self, tls: bool | None = None) -> None:
        """Start what does not run; `tls` None: as before."""
        self._tls = self._tls if tls is None else tls
        self.start_containerd()
        if self._dockerd is None:
            (self.folder / "dockerd.pid").unlink(missing_ok=True)
            self._dockerd = self._launch("API listen on", *self._command())

    def start_containerd(self) -> None:
        if self._containerd is None:
            config = str(self.folder / "containerd.toml")
            self._containerd = self._launch(
                "containerd successfully booted", "containerd", "--config", config
            )

    def stop(self) -> None:
        """End `dockerd` in an orderly way, which ends its containers."""
        self._dockerd = _ended(self._dockerd, signal.SIGTERM)

    def kill(self) -> None:
        """End `dockerd` at once; its containers don't notice."""
        self._dockerd = _ended(self._dockerd, signal.SIGKILL)

    def kill_containerd(self) -> None:
        self._containerd = _ended(self._containerd, signal.SIGKILL)

    def hold_up(self) -> None:
        """Let `dockerd` answer nothing until `go_on`."""
        if self._dockerd:
            self._dockerd.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        if self._dockerd:
            self._dockerd.send_signal(signal.SIGCONT)

    def containers(self) -> list[str]:
        """The ids of its containers, running or not."""
        with contextlib.closing(self.client()) as client:
            return [container["Id"] for container in client.api.containers(all=True)]

    def shims(self) -> list[int]:
        """The processes that hold this engine's containers."""
        socket_ = str(self.folder / "containerd.sock").encode()
        return [
            int(path.parent.name)
            for path in Path("/proc").glob("[0-9]*/cmdline")
            if socket_ in _read(path) and b"shim" in _read(path)
        ]

    def load(self, image: str, origin: DockerClient) -> None:
        """Bring an image of another engine here."""
        tag = image if ":" in image else f"{image}:latest"
        with contextlib.closing(self.client()) as client:
            client.images.load(origin.images.get(tag).save(named=tag))

    def close(self) -> None:
        """End it and leave nothing of it, not even if it was killed."""
        self.go_on()
        self.start()
        with contextlib.closing(DockerEngine(self.environment)) as engine:
            for container in self.containers():
                engine.remove(container)
        self.kill()
        self.kill_containerd()
        mounted = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for place in reversed([place for place in mounted if place.startswith(f"{self.folder}/")]):
            subprocess.run(["umount", "--lazy", place], check=True)
        shutil.rmtree(self.folder)

    def _command(self) -> list[str]:
        files = {"tlscacert": "ca", "tlscert": "cert", "tlskey": "key"}
        encrypted = [
            "--tlsverify",
            *(f"--{flag}={self.folder}/server/{file}.pem" for flag, file in files.items()),
        ]
        return [
            "dockerd",
            f"--host=tcp://{self.address}",
            *(encrypted if self._tls else ["--tls=false"]),
            f"--config-file={self.folder}/daemon.json",
            f"--data-root={self.folder}/data",
            f"--exec-root={self.folder}/exec",
            f"--pidfile={self.folder}/dockerd.pid",
            f"--containerd={self.folder}/containerd.sock",
            f"--storage-driver={self._driver}",
            *("--iptables=false", "--ip6tables=false", "--bridge=none", "--shutdown-timeout=1"),
        ]

    def _launch(self, ready: str, *command: str) -> subprocess.Popen[bytes]:
        """Start a program that ends with us, and wait until it says that it is ready."""
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *command],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stderr
        said = []
        for line in process.stderr:
            said.append(line.decode())
            if ready in said[-1]:
                threading.Thread(target=_drain, args=(process.stderr,), daemon=True).start()
                return process
        process.stderr.close()
        raise RuntimeError(f"{command[0]} did not start:\n{''.join(said)}")


def lacking_for_engines(*programs: str) -> str:
    """Why no engine can be started beside the machine's own, and what to do; "" if one can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "only root on Linux can start a further Docker engine; run the tests as root"
    lacking = [
        name for name in ("dockerd", "containerd", "setpriv", *programs) if not shutil.which(name)
    ]
    packages = sorted({PACKAGES.get(name, name) for name in lacking})
    return (
        f"there is no {' or '.join(lacking)}; run: sudo apt install {' '.join(packages)}"
        if lacking
        else ""
    )


def _write_certificates(folder: Path, authority: trustme.CA) -> None:
    folder.mkdir()
    issued = authority.issue_cert("127.0.0.1")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    issued.private_key_pem.write_to_path(folder / "key.pem")
    issued.cert_chain_pems[0].write_to_path(folder / "cert.pem")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as door:
        return int(door.getsockname()[1])


def _drain(words: IO[bytes]) -> None:
    """Read to the end, so that who speaks never waits."""
    with words:
        for _ in words:
            pass


def _ended(process: subprocess.Popen[bytes] | None, number: signal.Signals) -> None:
    if process is not None:
        process.send_signal(number)
        process.wait()


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
