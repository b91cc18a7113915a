"""The backends that the contract suite runs on: how a sandbox gets each, and what can be done to
its containers behind its back.
"""

import os
import select
import signal
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import pytest
from _pytest.mark.structures import ParameterSet
from docker.client import DockerClient
from filelock import FileLock

from selfeng.core.process import this_process
from selfeng.sandbox import SecureSandbox
from selfeng.sandboxes import docker_engine as ownership
from selfeng.sandboxes.bwrap_command import GROUP
from selfeng.sandboxes.control_groups import PREFIX, ControlGroups
from selfeng.sandboxes.docker import DockerBackend
from selfeng.sandboxes.limits import ContainerLimits
from tests.sandbox.private_engine import RUNSC, PrivateEngine

ROOT = Path(__file__).parents[2]
IMAGE = os.environ.get("DOCKER_IMAGE_NAME", "self-eng-sandbox")
FOLDER = ROOT / "data" / "sandbox"
"""Shared by all tests of this checkout: building the Python environment takes a minute."""


class Behind(Protocol):
    """A backend, seen from behind the sandbox. Containers are named by texts. Blocking."""

    name: str
    options: Mapping[str, Any]
    """Arguments for `SecureSandbox`."""
    of_processes: tuple[Mapping[str, Any], Mapping[str, str]]
    """The same for another process, and what its environment needs for that."""

    def containers(self, group: str) -> set[str]:
        """The containers of the sandbox with this id, running or not."""
        ...

    def kill(self, container: str) -> None:
        """End a container; it may be there still."""
        ...

    def hold_up(self, container: str) -> None:
        """Let no process of a container do anything more."""
        ...

    def remove(self, container: str) -> None:
        """End a container and remove it."""
        ...

    def await_end(self, containers: set[str]) -> None:
        """Wait up to five seconds until all have ended; they may be there still."""
        ...

    def left(self) -> list[str]:
        """Everything of this process that is still there."""
        ...

    def close(self) -> None: ...


class DockerBehind:
    """The machine's Docker engine."""

    name = "docker"

    def __init__(self) -> None:
        self.options = {
            "backend": self.name,
            "image": IMAGE,
            "base_image": os.environ.get("BASE_IMAGE") or None,
        }
        self.of_processes = self.options, {}
        self.engine = DockerClient.from_env()

    def containers(self, group: str) -> set[str]:
        return self._labelled(f"{ownership.GROUP}={group}")

    def kill(self, container: str) -> None:
        self.engine.api.kill(container)

    def hold_up(self, container: str) -> None:
        self.engine.api.pause(container)

    def remove(self, container: str) -> None:
        self.engine.api.remove_container(container, force=True)

    def await_end(self, containers: set[str]) -> None:
        for container in containers:
            self.engine.api.wait(container, timeout=5)

    def left(self) -> list[str]:
        return sorted(
            self._labelled(f"{ownership.OWNER}={ownership.labels(lifetime=0)[ownership.OWNER]}")
        )

    def close(self) -> None:
        self.engine.close()

    def _labelled(self, label: str) -> set[str]:
        return {
            container["Id"]
            for container in self.engine.api.containers(all=True, filters={"label": label})
        }


class RunscBehind(DockerBehind):
    """gVisor, as a runtime of an engine of the tests' own."""

    name = "runsc"

    def __init__(self) -> None:
        machine = prepared(DockerBehind())
        assert isinstance(machine, DockerBehind)
        self._private = PrivateEngine(machine.engine.info()["Driver"], {"runsc": RUNSC})
        try:
            self._private.start()
            self._private.load(IMAGE, machine.engine)
        except BaseException:
            self._private.close()
            raise
        finally:
            machine.close()
        self.options = {
            "backend": DockerBackend(
                IMAGE, None, ContainerLimits(), "runsc", self._private.environment
            )
        }
        options = {"backend": "docker", "image": IMAGE, "runtime": "runsc"}
        self.of_processes = options, self._private.environment
        self.engine = self._private.client()

    def close(self) -> None:
        super().close()
        self._private.close()


class BubblewrapBehind:
    """Processes of this machine; a container is the process of bwrap that waits for the one
    inside.
    """

    name = "bubblewrap"

    def __init__(self) -> None:
        self.options = {"backend": self.name, "folder": FOLDER}
        self.of_processes = self.options, {}

    def containers(self, group: str) -> set[str]:
        return {str(pid) for pid in _processes() if group in _argument_after(pid, GROUP)}

    def kill(self, container: str) -> None:
        os.kill(int(container), signal.SIGKILL)

    def hold_up(self, container: str) -> None:
        for pid in _processes():
            if _parent(pid) == int(container):
                os.kill(pid, signal.SIGSTOP)

    remove = kill

    def await_end(self, containers: set[str]) -> None:
        for container in containers:
            with suppress(ProcessLookupError), open(os.pidfd_open(int(container))) as process:
                assert select.select([process], [], [], 5)[0]

    def left(self) -> list[str]:
        processes = [
            f"process {pid}"
            for pid in _processes()
            if _argument_after(pid, GROUP) and _parent(pid) == os.getpid()
        ]
        own = f"{PREFIX}{this_process().replace(':', ',')},"
        return processes + [
            f"group {folder}" for folder in ControlGroups().folders() if folder.name.startswith(own)
        ]

    def close(self) -> None:
        pass


BACKENDS: dict[str, Callable[[], Behind]] = {
    "docker": DockerBehind,
    "bubblewrap": BubblewrapBehind,
    "runsc": RunscBehind,
}
"""The backends of the contract suite, by the ids of its tests; on gVisor, where a container takes a
second to start, with `make test-everywhere` only.
"""
OF_THE_JUDGE = {
    "test_chain",
    "test_execute",
    "test_files",
    "test_forging",
    "test_forging_by_answers",
    "test_forging_by_loading",
    "test_forging_by_names",
    "test_forging_sideways",
    "test_gate",
    "test_hostile_suites",
    "test_indistinguishable",
    "test_joined_suites",
    "test_packages",
    "test_pool",
    "test_reported",
    "test_threads",
    "test_verify",
    "test_workspace",
}
"""The modules about what judge, gate and pool decide, whose code is the same on each backend: they
run on the one whose containers are the cheapest, and on all with `make test-everywhere`.
"""
OTHERWISE_ON_RUNSC = {
    "test_every_limit_holds_from_inside": "it has another /proc; see test_gvisor.py for what holds",
    "test_thousands_of_files": "the number of files is limited by memory alone",
    "[runsc-fork bomb]": "processes are limited by memory alone, and that ends the container",
    "return bytearray(10**9)": "too much memory ends the container, so nobody is left to say in "
    "which test",
    "test_output_of_suite_and_tool_is_kept_in_order": "it reports late that a pipe can be read, so "
    "lines of the two processes may change places",
}
"""Differences of older versions of gVisor, by a part of the test's id."""


def parameters(module: str, everywhere: bool) -> list[ParameterSet]:
    """The backends that the tests of a module run on."""
    if everywhere:
        names = tuple(BACKENDS)
    else:
        names = ("bubblewrap",) if module in OF_THE_JUDGE else ("docker", "bubblewrap")
    return [pytest.param(name, marks=getattr(pytest.mark, name)) for name in names]


def expectation(test: str) -> pytest.MarkDecorator | None:
    """The mark for a test, by its id, that is known to come out otherwise on its backend."""
    reasons = [
        reason for part, reason in OTHERWISE_ON_RUNSC.items() if part in test and "[runsc" in test
    ]
    return pytest.mark.xfail(reason=reasons[0]) if reasons else None


def prepared(behind: Behind) -> Behind:
    """Build what its containers are made from, once for all processes; fails with what to do where
    it does not work.
    """
    sandbox = SecureSandbox(timeout=20, **behind.options)
    with FileLock(Path(tempfile.gettempdir(), f"{IMAGE}-{behind.name}-{os.getuid()}.lock")):
        if not sandbox.image_is_current():
            sandbox.build_image()
    sandbox._backend.close()
    return behind


def _processes() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def _argument_after(pid: int, word: str) -> str:
    """The argument that follows a word on the process's command line; "" if there is none."""
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return ""
    return (
        arguments[arguments.index(word) + 1]
        if word in arguments and "-euc" not in arguments
        else ""
    )


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
