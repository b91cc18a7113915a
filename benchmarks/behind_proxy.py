"""Set-up behind a proxy with an authority of its own: `python -m benchmarks.setup --behind-proxy`.

A clone answers a request after `make run`, and builds the sandbox's image, in namespaces of its
own: nothing but the proxy is reached from there, and the system's store has the proxy's authority
there only. The engine builds the image outside of them, so the hosts that the proxy saw meanwhile
are counted. It needs root on Linux, and a Docker engine.
"""

import fcntl
import os
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path
from uuid import uuid4

from benchmarks.setup import RIGHT, clone, first_answer, started
from selfeng.core.errors import SandboxError
from selfeng.core.places import HOME
from selfeng.sandboxes.docker_engine import DockerEngine
from tests.intercepting_proxy import InterceptingProxy

_STORE, _LOCAL = "/etc/ssl/certs", "/usr/local/share/ca-certificates"
_MISLEADING = re.compile(r"PIP_|UV_|NPM_|NODE_|PROXY|CERT|SSL|_CA_|CURL", re.IGNORECASE)
"""Variables that would lead the clone past the proxy, or make it trust the proxy anyway."""
_UP, _SET_FLAGS = 0x1, 0x8914
_PATIENCE = 1200


def lacks() -> str:
    """Why it can't be tried here; "" if it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "it needs root on Linux, for namespaces"
    if not shutil.which("update-ca-certificates"):
        return "it needs update-ca-certificates: apt install ca-certificates"
    tried = subprocess.run(
        ["unshare", "--mount", "--net", "true"],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    if tried.returncode:
        return f"namespaces can't be made here: {tried.stderr.strip()}"
    try:
        DockerEngine().version()
    except SandboxError as error:
        return f"it needs a Docker engine: {error}"
    return ""


def behind_proxy_right() -> bool:
    """Whether a clone answers rightly and builds its image, and reaches all hosts by the proxy."""
    proxy, image = InterceptingProxy(), f"setup-{uuid4().hex[:12]}"
    with tempfile.TemporaryDirectory(prefix="proxy-", ignore_cleanup_errors=True) as root:
        folder = clone(Path(root, "clone"))
        proxy.authority.cert_pem.write_to_path(f"{root}/authority.pem")
        right = True
        with proxy.running():
            for command in (["page"], ["image", image]):
                proxy.hosts.clear()
                right &= _inside(proxy, Path(root), [*command, str(folder)]) == 0
                sys.stderr.write(f"{command[0]}: {len(proxy.hosts)} hosts behind the proxy\n")
                right &= bool(proxy.hosts) and not proxy.distrusted
    client = DockerEngine().client()
    if client.images.list(image):
        client.images.remove(image, force=True)
    return right


def _inside(proxy: InterceptingProxy, root: Path, command: list[str]) -> int:
    """Run this module in new namespaces, in which the proxy listens as it does outside."""
    ours, theirs = socket.socketpair()
    with ours, theirs, socket.create_server(("127.0.0.1", 0)) as outside:
        port = outside.getsockname()[1]
        address = proxy.serve(outside.dup())
        clean = {name: v for name, v in os.environ.items() if not _MISLEADING.search(name)}
        reached = [str(root), str(port), str(theirs.fileno())]
        process = subprocess.Popen(  # noqa: S603
            [  # noqa: S607
                "unshare",
                "--mount",
                "--net",
                sys.executable,
                "-m",
                __spec__.name,
                *command,
                *reached,
            ],
            cwd=HOME,
            env={**clean, "HTTPS_PROXY": address},
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        _, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
        for descriptor in descriptors:
            proxy.serve(socket.socket(fileno=descriptor))
        return process.wait(_PATIENCE)


def main(command: list[str]) -> int:
    """In the namespaces: `page CLONE` or `image NAME CLONE`, then how to reach the proxy."""
    *what, folder, root, port, descriptor = command
    _listen(int(port), int(descriptor))
    _trust(Path(root))
    if what[0] == "page":
        with started(Path(folder)) as (link, _):
            return 0 if RIGHT in first_answer(link)[0] else 1
    environment = {**os.environ, "SANDBOX": "docker", "DOCKER_IMAGE_NAME": what[1]}
    python = Path(folder, ".venv", "bin", "python")
    build = "from selfeng.sandbox import SecureSandbox; SecureSandbox().build_image()"
    return subprocess.run(  # noqa: S603
        [python, "-c", build], cwd=folder, env=environment, check=False
    ).returncode


def _listen(port: int, descriptor: int) -> None:
    """Give the proxy outside a socket that listens in here."""
    with socket.socket() as any_socket:
        request = struct.pack("16sH14x", b"lo", _UP)
        fcntl.ioctl(any_socket, _SET_FLAGS, request)
    with (
        socket.create_server(("127.0.0.1", port)) as listener,
        socket.socket(fileno=descriptor) as parent,
    ):
        socket.send_fds(parent, [b"1"], [listener.fileno()])


def _trust(root: Path) -> None:
    """Add the proxy's authority to a copy of the system's store, which is seen in here only."""
    for number, folder in enumerate((_STORE, _LOCAL)):
        copy = root / f"{os.getpid()}-{number}"
        shutil.copytree(folder, copy, symlinks=True)
        subprocess.run(["mount", "--bind", str(copy), folder], check=True)  # noqa: S603, S607
    shutil.copy(root / "authority.pem", f"{_LOCAL}/company.crt")
    subprocess.run(["update-ca-certificates"], check=True, capture_output=True)  # noqa: S607


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
