"""Control groups: found in either version, entered by the container, and removed; on the kernel's
own and on a folder like it.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from selfeng.core.process import name_of
from selfeng.sandboxes import control_groups
from selfeng.sandboxes.control_groups import CONTROLLERS, PREFIX, ControlGroup, ControlGroups
from selfeng.sandboxes.limits import ContainerLimits

LIMITS = ContainerLimits()


@pytest.fixture
def real() -> ControlGroups:
    """The kernel's, where this user may have any."""
    groups = ControlGroups()
    if "memory" in groups.missing:
        pytest.skip("this user may not have control groups")
    return groups


def entered(group: ControlGroup, *command: str) -> subprocess.Popen[bytes]:
    """A process in the group."""
    script = "\n".join((*(f"echo 0 > {path}" for path in group.joined), 'exec "$@"'))
    return subprocess.Popen(
        ["/bin/sh", "-ec", script, "sh", *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def test_what_needs_too_much_memory_is_ended_and_counted(real: ControlGroups) -> None:
    group = real.make(LIMITS)
    try:
        assert group.memory_kills() == 0
        greedy = entered(group, sys.executable, "-c", "x = bytearray(400 * 2**20)")
        greedy.communicate()
        assert (greedy.returncode, group.memory_kills()) == (-9, 1)
    finally:
        group.remove()
    assert all(not path.parent.exists() for path in group.joined)


def test_groups_of_dead_servers_are_removed_with_what_runs_in_them(real: ControlGroups) -> None:
    server = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    dead = name_of(server.pid)
    server.communicate()
    own, other = real.make(LIMITS), real.make(LIMITS)
    try:
        places = [path.parent for path in other.joined]
        named = [place.with_name(f"{PREFIX}{dead.replace(':', ',')},1") for place in places]
        for place, name in zip(places, named, strict=True):
            name.mkdir()
            place.rmdir()
        entering = "\n".join(f"echo 0 > {name}/cgroup.procs" for name in named)
        command = ["/bin/sh", "-ec", f"{entering}\necho there\nread line"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as left:
            assert left.stdout
            assert left.stdout.readline() == b"there\n"
            assert real.reap() >= 1  # other tests have killed servers too
            assert left.wait(5) == -9
        assert [name.exists() for name in named] == [False] * len(named)
        assert all(path.exists() for path in own.joined)
    finally:
        own.remove()


@pytest.fixture
def unified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., ControlGroups]:
    """A folder in place of version 2. A group there offers what stands in its file, and nothing can
    be turned on.
    """
    monkeypatch.setattr(control_groups, "_TRIES", 1)  # files in a folder don't go with it

    def make(own: str, offers: dict[str, str]) -> ControlGroups:
        tree = tmp_path / "tree"
        for place in (own, *map(str, Path(own).parents)):
            (tree / place).mkdir(parents=True, exist_ok=True)
            (tree / place / "cgroup.subtree_control").write_text(offers.get(place, ""))
        (tmp_path / "cgroup").write_text(f"0::/{own}\n")
        (tmp_path / "mountinfo").write_text(
            f"41 31 0:38 / {tree} rw,relatime - cgroup2 cgroup2 rw\n"
        )
        return ControlGroups(tmp_path)

    return make


def test_the_nearest_group_that_offers_enough_is_taken(
    unified: Callable[..., ControlGroups], tmp_path: Path
) -> None:
    offers = {
        "user.slice": "cpu io memory pids",
        ".": "cpu memory pids",
        "user.slice/shell.scope": "cpu",
    }
    groups = unified("user.slice/shell.scope", offers)
    assert groups.missing == ()
    [procs] = groups.make(LIMITS).joined
    assert procs.parent.parent == tmp_path / "tree" / "user.slice"
    written = {path.name: path.read_text() for path in procs.parent.iterdir()}
    assert written == {"memory.max": str(256 * 2**20), "pids.max": "64", "cpu.max": "100000 100000"}


def test_the_judge_is_shown_what_was_ended_for_lack_of_memory(
    unified: Callable[..., ControlGroups],
) -> None:
    group = unified("a", {"a": "cpu memory pids"}).make(LIMITS)
    [procs] = group.joined
    assert group.shown == tuple(
        (procs.parent / name, Path("/sys/fs/cgroup", name))
        for name in ("memory.events", "memory.max")
    )
    (procs.parent / "memory.events").write_text(
        "low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 0\n"
    )
    assert group.memory_kills() == 3


@pytest.mark.parametrize(
    ("offered", "missing"),
    [("cpu io memory pids", ()), ("cpu pids", CONTROLLERS), ("", CONTROLLERS)],
)
def test_what_is_not_offered_is_missing(
    unified: Callable[..., ControlGroups], offered: str, missing: tuple[str, ...]
) -> None:
    assert unified("a/b", {"a": offered}).missing == missing


def test_without_any_groups_containers_have_none(tmp_path: Path) -> None:
    groups = ControlGroups(tmp_path)
    group = groups.make(LIMITS)
    assert (groups.missing, group.joined, group.shown, group.memory_kills(), groups.reap()) == (
        CONTROLLERS,
        (),
        (),
        0,
        0,
    )
    group.remove()


def test_a_group_that_could_not_be_made_is_not_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "no-folder").touch()
    ControlGroup({"memory": tmp_path / "no-folder" / "group"}, unified=True).remove()
    assert caplog.records == []
