"""The hostile cases, and the host that they must not touch.

`hostile_cases.jsonl` holds 87 attacks: id, category, role, idea, payload, what is expected, by what
it is told, and where the idea is from. Payloads are our own, or short enough to be ideas; those
marked MIT follow tests of piston, inspect_ai and CyberSecEval. A tool's payload runs in three
forms: as its module verified, within its function verified, and within its function called.
"""

import asyncio
import hashlib
import json
import os
import resource
import secrets
import socket
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from selfeng.core.verdict import Execution, Returned, SandboxJob, Verdict
from selfeng.sandbox import SecureSandbox

FILE = Path(__file__).with_name("hostile_cases.jsonl")
NAME = "tool"
SUITE = (
    f"from {NAME} import {NAME}\ndef test_one(): assert {NAME}(1) == 2\ndef test_another(): "
    f"assert {NAME}(41) == 42\n"
)
HONEST = f"def {NAME}(x): return x + 1\n"
PORTS = (5000, 5001, 8000, 2375)
PWNED = Path("/tmp/pwned")  # where payloads would leave a mark on this machine
ROOT = Path(__file__).parents[2]

CONTROL = """
import os, site
PLACES = (
    "/dev/shm/bean", "/tmp/bean", "/var/tmp/bean", "/run/lock/bean",
    os.getcwd() + "/evil.pth", site.getusersitepackages() + "/evil.pth")
def tool():
    others = [p for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]
    return [len(others), os.listdir(), sorted(set(os.listdir("/tmp")) - {".matplotlib"}), [p for p in PLACES if os.path.exists(p)], 41 + 1]
"""
CLEAN = [2, [], ["files"], [], 42]


@dataclass(frozen=True)
class Case:
    id: str
    category: str
    role: str
    payload: str


CASES = {
    c["id"]: Case(c["id"], c["category"], c["role"], c["payload"])
    for c in map(json.loads, FILE.read_text().splitlines())
}


def of_role(*roles: str) -> list[str]:
    return [case.id for case in CASES.values() if case.role in roles]


@dataclass
class Host:
    """This machine: a secret in the environment, a folder with a file in it, and doors that nobody
    may knock at.
    """

    folder: Path
    canary: str = field(default_factory=lambda: f"canary-{secrets.token_hex(16)}")
    doors: list[socket.socket] = field(default_factory=list)

    def open_doors(self) -> None:
        """Listen wherever a payload may try; what connects waits in the kernel's queue until it is
        counted.
        """
        for family, kind, address in [
            *((socket.AF_INET, socket.SOCK_STREAM, ("0.0.0.0", port)) for port in (0, *PORTS)),
            (socket.AF_INET, socket.SOCK_DGRAM, ("0.0.0.0", 0)),
            (socket.AF_UNIX, socket.SOCK_STREAM, "\0/containerd-shim"),
        ]:
            door = socket.socket(family, kind)
            door.setblocking(False)
            with suppress(OSError):  # something else listens there, which is as good
                door.bind(address)
                if kind == socket.SOCK_STREAM:
                    door.listen()
            self.doors.append(door)

    @property
    def port(self) -> int:
        return int(self.doors[0].getsockname()[1])

    def knocks(self) -> int:
        found = 0
        for door in self.doors:
            with suppress(OSError):
                if door.type == socket.SOCK_STREAM:
                    with door.accept()[0] as knock:
                        found += not _looks_for_servers(knock)
                else:
                    door.recv(1)
                    found += 1
        return found

    def fingerprint(self) -> str:
        """Of everything that a payload names or could find: the planted folder, this repository's
        top level, and the mark.
        """
        found = [(str(p), p.is_file() and p.read_bytes()) for p in sorted(self.folder.rglob("*"))]
        ours = (
            p for p in sorted(ROOT.iterdir()) if not p.name.startswith((".coverage", "__pycache__"))
        )  # which other tests may make
        found += [(p.name, p.is_file() and p.read_bytes()) for p in ours]
        found.append(("pwned", PWNED.exists()))
        return hashlib.sha256(repr(found).encode()).hexdigest()


def _looks_for_servers(knock: socket.socket) -> bool:
    """Whether it is the search for model servers of a program that another test runs meanwhile; no
    payload says this.
    """
    knock.settimeout(0.5)
    with suppress(OSError):
        return knock.recv(100).startswith(b"GET /v1/models")
    return False


@contextmanager
def planted(folder: Path) -> Iterator[Host]:
    """The host with its secret and its doors."""
    host = Host(folder)
    (folder / "deep").mkdir()
    (folder / "deep" / "file").write_text(host.canary)
    os.environ["HOSTILE_API_KEY"] = host.canary
    host.open_doors()
    try:
        yield host
    finally:
        del os.environ["HOSTILE_API_KEY"]
        for door in host.doors:
            door.close()


@dataclass(frozen=True)
class Seen:
    """The outcome of a payload in each of its forms."""

    loaded: Verdict
    """As the module."""
    tested: Verdict
    """Within the function, verified."""
    called: Execution
    """Within the function, called."""
    before: tuple[int, int]
    after: tuple[int, int]
    """Open files and the most memory in KB of this process."""

    @property
    def printed(self) -> str:
        return self.called.stdout

    def everything(self) -> str:
        return "".join(
            outcome.model_dump_json() for outcome in (self.loaded, self.tested, self.called)
        )


def as_module(payload: str) -> str:
    """The payload where it is run when the module is loaded; the function is there, and wrong."""
    return payload if f"def {NAME}(" in payload else f"{payload}\ndef {NAME}(x=0): return 0\n"


def as_function(payload: str) -> str:
    if f"def {NAME}(" in payload:
        return payload
    return f"def {NAME}(x=0):\n{textwrap.indent(payload, '    ')}\n    return 0\n"


async def look(sandbox: SecureSandbox, payload: str, arguments: dict[str, object]) -> Seen:
    """Run all forms of a payload, then see to it that the next job finds nothing of it."""
    before = _own()
    loaded, tested, called = await asyncio.gather(
        sandbox.verify(SandboxJob(NAME, as_module(payload), SUITE), lambda result: None),
        sandbox.verify(SandboxJob(NAME, as_function(payload), SUITE), lambda result: None),
        sandbox.execute(SandboxJob(NAME, as_function(payload)), arguments),
    )
    await clean(sandbox)
    return Seen(loaded, tested, called, before, _own())


async def clean(sandbox: SecureSandbox) -> None:
    """A job that must find nothing of an earlier one."""
    control = await sandbox.execute(SandboxJob(NAME, CONTROL), {})
    assert isinstance(control, Returned), control
    assert json.loads(control.data or "") == CLEAN


def _own() -> tuple[int, int]:
    return len(os.listdir("/proc/self/fd")), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
