"""The hostile cases as a list: each is a test somewhere. And the one that aims at how the engine was started."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from docker.client import DockerClient

from src.core.errors import SandboxUnavailable
from src.sandboxes.limits import ContainerLimits, container_options
from src.sandboxes.self_check import check
from tests.sandbox.backends import IMAGE
from tests.sandbox.hostile import CASES, FILE, ROOT, of_role

FLAGS: dict[str, dict[str, Any]] = {
    "--privileged": {"privileged": True},
    "--pid=host": {"pid_mode": "host"},
    "--network=host": {"network_mode": "host"},
    "--volume=/var/run/docker.sock": {"volumes": {"/var/run/docker.sock": {"bind": "/var/run/docker.sock"}}},
    "--cap-add=SYS_ADMIN": {"cap_add": ["SYS_ADMIN"]},
    "--security-opt=seccomp=unconfined": {"security_opt": ["seccomp=unconfined"]},
}


def test_every_case_is_a_test() -> None:
    """By its id: tools and suites by their role, the others where they are named."""
    tests = [path.read_text() for path in Path(__file__).parents[1].rglob("test_hostile*.py")]
    named = {case for text in tests for case in re.findall(r'"([A-J]\d\d)"', text)}
    assert sorted({*named, *of_role("tool", "tests")}) == sorted(CASES)
    assert len(CASES) == 87


def test_the_cases_are_those_that_were_given() -> None:
    given = ROOT.parent / "shared" / "data" / FILE.name
    if given.exists():
        assert [json.loads(line) for line in given.read_text().splitlines()] == [json.loads(line) for line in FILE.read_text().splitlines()]


@pytest.mark.docker
@pytest.mark.parametrize("case", ["F10"])
@pytest.mark.parametrize("flag", FLAGS)
def test_a_container_that_was_given_more_is_not_used(case: str, flag: str, image: str, engine: DockerClient) -> None:
    options = {**container_options(ContainerLimits()), **FLAGS[flag]}
    container = engine.containers.create(IMAGE, **{name: value for name, value in options.items() if value is not None})
    try:
        with pytest.raises(SandboxUnavailable, match=re.escape(flag)):
            check(container.attrs)
    finally:
        container.remove()
