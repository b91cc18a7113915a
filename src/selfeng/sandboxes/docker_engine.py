"""DockerEngine: connects to the engine, explains why it can't, and removes abandoned containers."""

import contextlib
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import requests
from docker.client import DockerClient  # type: ignore[import-not-found]
from docker.constants import DEFAULT_DOCKER_API_VERSION  # type: ignore[import-not-found]
from docker.context.api import ContextAPI  # type: ignore[import-not-found]
from docker.errors import APIError, DockerException, NotFound  # type: ignore[import-not-found]

from selfeng.core.errors import SandboxError, SandboxFailed, SandboxUnavailable
from selfeng.core.process import is_running, this_process
from selfeng.core.system import WSL

SANDBOX = "self-engineering-agent.sandbox"
"""Label: marks every sandbox container."""
OWNER = "self-engineering-agent.owner"
"""Label: the server that made it, see `selfeng.core.process`."""
GROUP = "self-engineering-agent.group"
"""Label: which of the server's sandboxes made it."""
DEADLINE = "self-engineering-agent.deadline"
"""Label: Unix time after which no job can need it."""


def labels(lifetime: float, group: str = "") -> dict[str, str]:
    """Labels for a container that is needed for at most `lifetime` seconds."""
    return {
        SANDBOX: "1",
        GROUP: group,
        OWNER: this_process(),
        DEADLINE: str(int(time.time() + lifetime)),
    }


def abandoned(container_labels: Mapping[str, str]) -> bool:
    """Whether the container with these labels has lost its server, or is past its deadline.

    The deadline decides where the owner can't be checked, for example on another machine that
    shares the engine.
    """
    try:
        late = time.time() > float(container_labels.get(DEADLINE, "inf"))
    except ValueError:
        late = False
    return late or is_running(container_labels.get(OWNER, "")) is False


NO_ENGINE = {
    "darwin": "install Docker Desktop (docker.com) and start it, or set DOCKER_HOST to an engine "
    "that runs elsewhere",
    "win32": f"{WSL}; or let Docker Desktop expose its daemon without TLS (Settings, General), and "
    "set DOCKER_HOST=tcp://localhost:2375",
}.get(
    sys.platform,
    "install Docker and start its engine (Debian, Ubuntu: `apt install docker.io`; others: "
    "docker.com), or set DOCKER_HOST to an engine that runs elsewhere",
)
NOT_ALLOWED = (
    "add the user to the group that may (`sudo usermod -aG docker $USER`, then log in again)"
)
AGAIN = "see that the engine runs and stays up; the next job connects by itself"
_QUICK = 1.5
_PATIENT = 30.0

log = logging.getLogger(__name__)


class DockerEngine:
    """Connects when first needed, and again after an outage. Blocking and thread-safe."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        """`environment` locates the engine by DOCKER_HOST and related variables; None uses this
        process's own.
        """
        self._environment = environment
        self._lock = threading.Lock()
        self._client: Any = None
        self._leftovers: set[str] = set()
        """Containers that could not be removed."""

    def client(self) -> Any:
        """The SDK's client.

        Raises:
            SandboxUnavailable: no engine answers.
        """
        with self._lock:
            if self._client is None:
                self._client = _connect(self._environment, _PATIENT)
            return self._client

    def close(self) -> None:
        """Remove what could not be removed before, if the engine answers now, and disconnect."""
        if self._leftovers:
            with contextlib.suppress(SandboxError):
                self.version()
                self.remove_left()
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def version(self, patience: float = _QUICK) -> str:
        """The engine's version, over a fresh connection; `patience` is the seconds to connect, and
        again to answer.

        Raises:
            SandboxUnavailable: no engine answers in time.
        """
        client = _connect(self._environment, patience, patience)
        try:
            with translated("the engine's version"):
                return str(client.version()["Version"])
        finally:
            client.close()

    def need_runtime(self, name: str) -> None:
        """Check that the engine knows a runtime.

        Raises:
            SandboxUnavailable: it does not; the message lists those that it knows.
        """
        with translated("listing its runtimes"):
            runtimes = sorted(self.client().info().get("Runtimes") or ())
        if name not in runtimes:
            remedy = (
                "set SANDBOX_RUNTIME to one of those or to nothing, or make it known in the "
                "engine's daemon.json and restart the engine"
            )
            raise SandboxUnavailable(
                f"the Docker engine has no runtime {name}; it has {', '.join(runtimes)}", remedy
            )

    def remove(self, container: str) -> None:
        """End a container, given by id or name, and remove it; no error if it is already gone.

        A failed removal is tried again after the next successful one, and when this is closed.

        Raises:
            SandboxUnavailable, SandboxFailed: the engine does not answer, or refuses.
        """
        try:
            self._remove(container)
        except SandboxError:
            self._leftovers.add(container)
            raise
        self.remove_left()

    def remove_later(self, container: str) -> None:
        """Remove a container after the next successful removal, or when this is closed, as the
        engine does not answer.
        """
        self._leftovers.add(container)

    def remove_left(self) -> None:
        """Try again to remove what could not be removed; no error if it can't be still."""
        for container in tuple(self._leftovers):
            try:
                self._remove(container)
            except SandboxFailed:
                continue
            except SandboxUnavailable:
                return
            self._leftovers.discard(container)

    def load(self) -> tuple[int, int]:
        """Its processors, and how many sandbox containers run on it, of all servers.

        Raises: SandboxUnavailable, SandboxFailed.
        """
        with translated("looking at its load"):
            running = self.client().api.containers(filters={"label": SANDBOX})
            return int(self.client().info()["NCPU"]), len(running)

    def _remove(self, container: str) -> None:
        with translated(f"removing container {container[:12]}"):
            try:
                self.client().api.remove_container(container, force=True, v=True)
            except NotFound:
                pass
            except APIError as error:
                if error.status_code != 409:  # 409: it is being removed right now
                    raise

    def reap(self) -> int:
        """Remove the containers of dead servers; returns how many."""
        removed = 0
        with translated("looking for abandoned containers"):
            for container in self.client().api.containers(all=True, filters={"label": SANDBOX}):
                if abandoned(container.get("Labels") or {}):
                    self.remove(container["Id"])
                    removed += 1
        if removed:
            log.info("removed %d abandoned sandbox containers", removed)
        return removed


def _connect(
    environment: Mapping[str, str] | None, timeout: float, patience: float = _QUICK
) -> Any:
    """`timeout` is for later calls; the handshake gets `patience`: a running engine answers at
    once.
    """
    try:
        variables = os.environ if environment is None else environment
        _knock(
            variables.get("DOCKER_HOST")
            or ContextAPI.kwargs_from_context(environment=variables).get("base_url", "")
        )
        with contextlib.closing(
            _client(variables, DEFAULT_DOCKER_API_VERSION, patience)
        ) as stranger:
            spoken = stranger.version(api_version=False)["ApiVersion"]
        return _client(variables, spoken, timeout)
    except (DockerException, requests.RequestException, OSError, ValueError, KeyError) as error:
        raise SandboxUnavailable(
            f"no Docker engine answers: {_reason(error)}", NO_ENGINE
        ) from error


def _client(environment: Mapping[str, str], version: str, timeout: float) -> Any:
    client = DockerClient.from_env(version=version, timeout=timeout, environment=environment)
    # proxies and REQUESTS_CA_BUNDLE are meant for the web, and would override Docker's variables
    client.api.trust_env = False
    return client


def _knock(address: str) -> None:
    """Try the engine's Unix socket, if it uses one: the SDK neither explains a failure plainly nor
    closes what it opened.

    Raises:
        SandboxUnavailable: nothing listens there, or this user may not connect; or it is a pipe of
            Windows, which no event loop can wait on.
    """
    scheme, _, path = address.partition("://")
    if scheme == "npipe":
        raise SandboxUnavailable("native Windows reaches no Docker engine by its pipe", NO_ENGINE)
    if scheme not in ("unix", "http+unix"):
        return
    try:
        with socket.socket(socket.AF_UNIX) as door:
            door.settimeout(_QUICK)
            door.connect(path)
    except PermissionError as error:
        raise SandboxUnavailable(
            f"this user may not use the Docker engine at {path}", f"{NOT_ALLOWED}; or {NO_ENGINE}"
        ) from error
    except OSError as error:
        raise SandboxUnavailable(
            f"no Docker engine answers at {path}: {error.strerror or error}", NO_ENGINE
        ) from error


@contextmanager
def translated(doing: str) -> Iterator[None]:
    """Turn the SDK's exceptions into SandboxFailed and SandboxUnavailable."""
    try:
        yield
    except APIError as error:
        raise SandboxFailed(
            f"the Docker engine refused {doing}: {error.explanation or error}"
        ) from error
    except (requests.ConnectionError, requests.Timeout) as error:
        raise SandboxUnavailable(
            f"no Docker engine answers ({doing}): {_reason(error)}", NO_ENGINE
        ) from error
    except (DockerException, requests.RequestException, OSError) as error:
        raise SandboxFailed(
            f"the Docker engine failed ({doing}): {_reason(error)}",
            "see that it answers (`docker info`) and that the machine is not overloaded, then try "
            "again",
        ) from error


def _reason(error: BaseException) -> str:
    """The innermost cause: the SDK wraps `No such file or directory` in four layers."""
    cause: BaseException = error
    while inner := (cause.__cause__ or cause.__context__):
        cause = inner
    return str(cause) or type(cause).__name__
